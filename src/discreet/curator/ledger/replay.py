"""Replaying records: what they say, one page after the other, held against everything that is stored beside them.

A page of records is read with the rows of the requests that they begin and end, so that memory does not grow with the
ledger. What is kept meanwhile is the accounts, their portions, and one byte for each record.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from fractions import Fraction
from typing import Any

from discreet.catalog.period import Period
from discreet.curator.ledger.account_names import AccountKind, split_name
from discreet.curator.ledger.chain import (
    GENESIS,
    RECORDS,
    Account,
    Head,
    index_key,
    key_id,
    link,
    publication_id,
)
from discreet.curator.ledger.closes import close_id, follows, is_of_period, last_close
from discreet.curator.ledger.maintenance import mark_id, restore_id
from discreet.curator.ledger.people import take_over
from discreet.curator.ledger.signing import fingerprint_key
from discreet.curator.ledger.unanswered import covers, failure_id, rerun_id
from discreet.curator.ledger.units import Allowance, BudgetMeasure, prices_as_record, prices_in, total
from discreet.storage.database import Database

__all__ = ["Accounts", "Replay", "stored_accounts"]


Accounts = Mapping[str, list[Any]]
"""Per account: its measure, cap, cap of δ, places, what was spent, and what was spent of δ; then, if not of before
both sums were counted, the cap in ε, the order, what was spent in ε, how many charges were impure, and its people."""
Record = Mapping[str, Any]

_MOVING = ("charge", "return", "restore", "join")
"""Kinds of records that move portions; the opening of an account of people does so, too."""
PAGE = 2048
"""Records that are looked at together."""
_NOTHING, _CHARGE, _FAILURE, _OVER = range(4)
"""What a record began: nothing that can end, a charge, a suspension; or what it began has ended."""
_BEGUN = "SELECT charge, id, body_hash, answer, bytes IS NULL FROM request WHERE charge > ? AND charge <= ?"
_ENDED = "SELECT answer, id, charge, bytes FROM request WHERE answer > ? AND answer <= ?"
_STORED = (
    "SELECT name, measure, cap, delta_cap, places, spent, delta_spent, cap_pure, alpha, spent_pure, impure, unit"
    " FROM account_2"
)
_MEASURE, _CAP, _DELTA_CAP, _PLACES, _SPENT, _DELTA_SPENT, _CAP_PURE, _ORDER, _SPENT_PURE, _IMPURE, _UNIT = range(11)
"""Where an account has what."""
_BEFORE_BOTH = [0, None, 0, 0, None]
"""What follows the amounts of an account from before both sums were counted."""


def stored_accounts(database: Database) -> dict[str, list[Any]]:
    """The accounts as they are stored."""
    return {name: list(rest) for name, *rest in database.execute(_STORED)}


Apart = dict[str, dict[str, dict[str, int]]]
"""Per account, part and key, what was charged."""


def _nothing_apart() -> Apart:
    return defaultdict(lambda: defaultdict(lambda: defaultdict(int)))


class Replay:
    """Accounts and requests as the records alone describe them."""

    def __init__(self, database: Database, start: Head = (0, GENESIS), accounts: Accounts | None = None) -> None:
        """From the first record on; or behind ``start``, where the ``accounts`` were as they are given."""
        self._database = database
        self._start = start[0]
        self.position, self.head = start
        self.problems: list[str] = []
        self._accounts = {
            name: [*known, *_BEFORE_BOTH] if len(known) == _CAP_PURE else list(known)
            for name, known in (accounts or {}).items()
        }
        self._apart, self._apart_pure = _nothing_apart(), _nothing_apart()
        self._state = bytearray()
        """One byte for each record behind the start."""
        self._counts = Counter[str]()
        self._closed: dict[str, Period] = {}
        """Per table, the last period that closed."""
        self._begun: dict[int, tuple[Any, ...]] = {}
        self._ended: dict[int, tuple[Any, ...]] = {}
        kinds: dict[str, Callable[[int, Record], None]] = dict.fromkeys(("analyst", "repair"), _moves_nothing)
        kinds |= {
            "close": self._close_of_period,
            "start": self._begin,
            "key": self._key,
            "account": self._account,
            "cap": self._cap,
            "join": self._join,
        }
        kinds |= {"charge": self._charge, "answer": self._answer, "publication": self._publication}
        kinds |= {"failure": self._failure, "lift": self._lift, "rerun": self._rerun, "return": self._return}
        kinds |= {"stop": self._rerun, "replan": self._replan, "trail": self._trail, "restore": self._restore}
        self._kinds = kinds

    def run(self, between: Callable[[], object] | None = None) -> None:
        """Replay up to the last record; ``between`` is called after every page."""
        if self._start:
            self._recall()
        while self._page():
            if between is not None:
                between()

    # Pages --------------------------------------------------------------------------------------------------------

    def _page(self) -> bool:
        page = self._records(self.position)
        if not page:
            return False
        last = page[-1][0]
        self._state.extend(bytes(last - self._start - len(self._state)))
        self._begun = {row[0]: row[1:] for row in self._database.execute(_BEGUN, (self.position, last))}
        self._ended = {row[0]: row[1:] for row in self._database.execute(_ENDED, (self.position, last))}
        for position, body, digest in page:
            self._follow(position, bytes(body), digest)
        self._strangers()
        return True

    def _records(self, behind: int) -> list[Any]:
        return self._database.execute(
            f"{RECORDS} WHERE position > ? ORDER BY position LIMIT {PAGE}", (behind,)
        ).fetchall()

    def _follow(self, position: int, body: bytes, digest: bytes) -> None:
        if position != self.position + 1:
            self.problems.append(f"record {self.position + 1} is missing")
        if link(self.head, body) != digest:
            self.problems.append(f"record {position} does not follow from the one before it")
        self.position, self.head = position, digest
        record = json.loads(body)
        read = self._kinds.get(record["kind"])
        if read is None:
            self.problems.append(f"record {position} is of a kind that this version does not know")
        else:
            read(position, record)

    def _strangers(self) -> None:
        """Requests of which no record of this page says that it began or ended them."""
        for rows in (self._begun, self._ended):
            self.problems += [_other(row[0]) for row in rows.values()]

    # Records that move accounts -----------------------------------------------------------------------------------

    def _account(self, position: int, record: Record) -> None:
        if not self._may_open(record, position):
            self.problems.append(f"record {position} opens an account for a period that did not close")
        self._open(record)
        for taken in record.get("takes_over", ()):
            self._check_taken(position, record["name"], taken["table"], taken)
            self._move(taken, 1)

    def _may_open(self, record: Record, position: int) -> bool:
        """Whether it is for good, an analyst's for a period that is closed, or opened again by a restore."""
        table, _, period = split_name(record["name"])
        if period is None or record.get("restored"):
            return True
        row = self._database.execute("SELECT charge FROM request WHERE id = ?", (close_id(table, period),)).fetchone()
        return AccountKind.of(record["name"]) is AccountKind.ANALYST and row is not None and row[0] < position

    def _open(self, record: Record) -> None:
        known = [record[name] for name in ("measure", "cap", "delta_cap", "places")]
        more = [record.get("cap_pure", 0), record.get("order"), 0, 0, record.get("unit")]
        self._accounts[record["name"]] = [*known, 0, 0, *more]

    def _close_of_period(self, position: int, record: Record) -> None:
        """A period closes right behind the one before, and the record opens accounts for it that are new."""
        table, period = record["table"], record["period"]
        start, end = (datetime.fromisoformat(record[name]) for name in ("from", "until"))
        closed = Period(period, start, end)
        if not follows(closed, self._last_closed(table)):
            self.problems.append(f"record {position} closes {period} of {table} out of order")
        for opened in record["accounts"]:
            if not is_of_period(opened["name"], table, period) or opened["name"] in self._accounts:
                self.problems.append(f"record {position} opens an account that is not for {period} of {table} alone")
            self._open(opened)
        for opened in record["accounts"]:
            if opened.get("unit", opened["name"]) not in self._accounts:
                self.problems.append(f"record {position} opens an account before that of its people")
        self._closed[table] = closed
        self._remembers(position, close_id(table, period))

    def _last_closed(self, table: str) -> Period | None:
        """The last period that closed, of those that were replayed, or from before the start."""
        if table not in self._closed and self._start:
            last = last_close(self._database, table, self._start + 1)
            return None if last is None else Period(last.name, last.start, last.end)
        return self._closed.get(table)

    def _join(self, position: int, record: Record) -> None:
        """A table from before joins the other tables of its people, who are charged what it was charged."""
        table, unit = record["table"], record["unit"]
        if self._accounts[table][_UNIT] is not None:
            self.problems.append(f"record {position} gives the rows of {table} to other people")
        self._accounts[table][_UNIT] = unit
        if (unit in self._accounts) is not (unit in record["prices"]):
            self.problems.append(f"record {position} does not say what the people of {table} were charged")
        if unit in self._accounts:
            self._check_taken(position, unit, table, record)
        self._move(record, 1)

    def _check_taken(self, position: int, unit: str, table: str, record: Record) -> None:
        """Whether people were charged what their table was; behind a start, its portions are not known."""
        if self._start or self._accounts[table][_UNIT] != unit:
            if not self._start:
                self.problems.append(f"record {position} takes over from a table of other people")
            return
        due = take_over(self._known(table), self._portions(table), self._known(unit).allowance)
        if prices_as_record({unit: due}) != {name: record[name] for name in ("prices", "portions") if name in record}:
            self.problems.append(f"record {position} does not charge people what their table was charged")

    def _known(self, name: str) -> Account:
        measure, cap, delta_cap, places, _, delta, cap_pure, order, _, impure, unit = self._accounts[name]
        alpha = None if order is None else Fraction(order)
        allowance = Allowance(BudgetMeasure(measure), cap, delta_cap, cap_pure, alpha)
        return Account(name, allowance, self._spent(name), delta, places, self._spent_pure(name), impure, unit)

    def _portions(self, name: str) -> list[tuple[str, str, int, int]]:
        pures = self._apart_pure.get(name, {})
        return sorted(
            (part, key, loss, pures.get(part, {}).get(key, 0))
            for part, keys in self._apart.get(name, {}).items()
            for key, loss in keys.items()
        )

    def _cap(self, position: int, record: Record) -> None:
        name = record["name"]
        account = self._accounts[name]
        before = list(account)
        account[_CAP], account[_DELTA_CAP] = record["cap"], record["delta_cap"]
        account[_CAP_PURE] = record.get("cap_pure", 0)
        if record.get("order", before[_ORDER]) != before[_ORDER]:
            account[_ORDER] = record["order"]
        if self._may_not(name, before):
            self.problems.append(f"record {position} changes a cap that it must not")

    def _may_not(self, name: str, before: list[Any]) -> bool:
        """Whether a cap is below what was spent, of a table, or raised for people; or pure losses count otherwise."""
        now = self._known(name)
        is_spent = not now.allowance.holds(now.spent, now.spent_pure, now.impure)
        is_reordered = self._accounts[name][_ORDER] != before[_ORDER] and now.spent > 0
        caps = (_CAP, _DELTA_CAP, _CAP_PURE)
        is_raised = now.kind is AccountKind.UNIT and any(self._accounts[name][one] > before[one] for one in caps)
        is_low = is_spent or now.delta_spent > now.allowance.delta_cap
        return is_low or is_reordered or is_raised or now.kind is AccountKind.TABLE

    def _move(self, record: Record, sign: int) -> None:
        """Put prices and portions on their accounts, or take them off."""
        for name, price in prices_in(record).items():
            account = self._accounts[name]
            account[_SPENT] += sign * price.loss
            account[_DELTA_SPENT] += sign * price.delta
            account[_SPENT_PURE] += sign * (price.pure or 0)
            account[_IMPURE] += sign * (account[_MEASURE] == BudgetMeasure.EITHER.value and price.is_impure)
        for name, part, key, loss, pure in _portions_in(record):
            self._apart[name][part][key] += sign * loss
            self._apart_pure[name][part][key] += sign * pure

    def _spent(self, name: str) -> int:
        account = self._accounts[name]
        return total(account[_SPENT], self._apart.get(name, {}), account[_PLACES])

    def _spent_pure(self, name: str) -> int:
        account = self._accounts[name]
        return total(account[_SPENT_PURE], self._apart_pure.get(name, {}), account[_PLACES])

    # Records that begin or end a request --------------------------------------------------------------------------

    def _begins(self, position: int, request: str, body: str) -> None:
        """The row of a request must name this record as its beginning."""
        row = self._begun.pop(position, None)
        if row is None:
            self.problems.append(f"request {request} is missing")
            return
        self._counts["begun"] += 1
        name, digest, end, is_unanswered = row
        is_right = is_unanswered if end is None else end > position
        if index_key(name) != index_key(request) or digest.hex() != body or not is_right:
            self.problems.append(_other(name))

    def _ends(self, position: int, record: Record, what: str) -> None:
        """The row of a charged request that was open must name this record as its end."""
        if self._is_open(record["charge"], position, _CHARGE):
            self._close(position, record["charge"], record["request"], record.get("answer"))
        else:
            self._ended.pop(position, None)
            self.problems.append(f"record {position} {what} a charge that is not there or has ended")

    def _close(self, position: int, began: int, request: str, answer: str | None = None) -> None:
        if began > self._start:
            self._state[began - self._start - 1] = _OVER
        row = self._ended.pop(position, None)
        self._counts["ended"] += row is not None
        if row is None or (index_key(row[0]), row[1], _digest(row[2])) != (index_key(request), began, answer):
            self.problems.append(_other(request))

    def _opens(self, position: int, what: int) -> None:
        self._state[position - self._start - 1] = what

    def _is_open(self, began: Any, now: int, what: int) -> bool:
        """Whether a record began this, and none that was replayed ended it.

        Where it began before the start, its row, which names one end alone, says the rest.
        """
        if type(began) is not int or not 0 < began < now:
            return False
        if began > self._start:
            return self._state[began - self._start - 1] == what
        record = self._record(began)
        if what == _FAILURE:
            return record.get("kind") == "failure"
        return record.get("kind") == "charge" or (record.get("kind") == "replan" and "body" in record)

    def _charge(self, position: int, record: Record) -> None:
        self._move(record, 1)
        self._opens(position, _CHARGE)
        self._begins(position, record["request"], record["body"])

    def _answer(self, position: int, record: Record) -> None:
        self._ends(position, record, "answers")
        self._counts["answered"] += 1

    def _failure(self, position: int, record: Record) -> None:
        if self._end_of(record["charge"], position) not in ("failure", "replan"):
            self._ends(position, record, "fails")  # others may fail on one charge at once: the first one ends it
        self._opens(position, _FAILURE)
        self._remembers(position, failure_id(record["analyst"], position))

    def _lift(self, position: int, record: Record) -> None:
        failure = record["failure"]
        if self._is_open(failure, position, _FAILURE):
            self._close(position, failure, failure_id(self._record(failure)["analyst"], failure))
        else:
            self._ended.pop(position, None)
            self.problems.append(f"record {position} lifts a suspension that is not there")

    def _rerun(self, position: int, record: Record) -> None:
        """A run for a charge, begun again or stopped."""
        charge, request = record["charge"], record["request"]
        is_open = self._is_open(charge, position, _CHARGE) and self._end_of(charge, position) is None
        if not is_open or self._record(charge)["request"] != request:
            self.problems.append(f"record {position} runs a charge again that is not there or has ended")
        self._remembers(position, rerun_id(request, self._reruns(request, position)))

    def _reruns(self, request: str, now: int) -> int:
        """How many records told before of runs after the first."""
        first = rerun_id(request)
        query = "SELECT COUNT(*) FROM request WHERE charge < ? AND (id IN (?, ?) OR (id > ? AND id < ?))"
        values = (now, first, index_key(first), f"{first}#", f"{first}$")  # the second character follows the first
        return int(self._database.execute(query, values).fetchone()[0])

    def _replan(self, position: int, record: Record) -> None:
        """Another plan in the place of a charge without an answer, which costs no more."""
        self._ends(position, {"request": record["of"], "charge": record["charge"]}, "replans")
        charged = self._record(record["charge"])
        if any(record.get(name) != charged.get(name) for name in ("prices", "portions")):
            self.problems.append(f"record {position} replans for other prices than were charged")
        if not covers(prices_in(record), prices_in({"prices": record["costs"], "portions": record["apart"]})):
            self.problems.append(f"record {position} replans for what costs more than was charged")
        if "body" in record:
            self._opens(position, _CHARGE)
            self._begins(position, record["request"], record["body"])

    def _return(self, position: int, record: Record) -> None:
        self._ends(position, record, "returns")
        charged = self._record(record["charge"])
        if any(record.get(name) != charged.get(name) for name in ("prices", "portions")):
            self.problems.append(f"record {position} returns other prices than were charged")
        if charged.get("kind") != "charge" or self._reruns(record["request"], position):
            self.problems.append(f"record {position} returns a charge for which others may have read rows")
        self._move(record, -1)

    def _trail(self, position: int, record: Record) -> None:
        self._remembers(position, mark_id(record["head"]))

    def _restore(self, position: int, record: Record) -> None:
        """What was spent after a backup counts as spent, though its records are lost."""
        if any(amount < 0 for amounts in record["prices"].values() for amount in amounts):
            self.problems.append(f"record {position} gives something back")
        else:
            self._move(record, 1)
        self._remembers(position, restore_id(position))

    def _remembers(self, position: int, request: str) -> None:
        self._begins(position, request, hashlib.sha256(request.encode()).hexdigest())

    def _publication(self, position: int, record: Record) -> None:
        is_one = record["request"] == publication_id(record["name"], record["sha256"])
        if record["loss"] != "infinite" or not record["approved_by"] or not is_one:
            self.problems.append(f"record {position} is not a publication as they are recorded")
        self._begins(position, record["request"], record["body"])

    # Records of keys ----------------------------------------------------------------------------------------------

    def _begin(self, position: int, record: Record) -> None:
        if position != 1:
            self.problems.append(f"record {position} starts a ledger that was started before")
        if "public_key" in record:
            self._check_key(position, record)

    def _key(self, position: int, record: Record) -> None:
        self._check_key(position, record)
        self._remembers(position, key_id(record["fingerprint"]))

    def _check_key(self, position: int, record: Record) -> None:
        if fingerprint_key(bytes.fromhex(record["public_key"])) != record["fingerprint"]:
            self.problems.append(f"record {position} names a key by another fingerprint")

    # Looking up ---------------------------------------------------------------------------------------------------

    def _record(self, position: int) -> dict[str, Any]:
        """The record at a position; an empty one where there is none."""
        row = self._database.execute(f"{RECORDS} WHERE position = ?", (position,)).fetchone()
        return {} if row is None else dict(json.loads(row[1]))

    def _kind(self, position: int) -> str | None:
        return self._record(position).get("kind")

    def _end_of(self, began: int, now: int) -> str | None:
        """The kind of the record that ended a request before; None while it was open."""
        row = self._database.execute("SELECT answer FROM request WHERE charge = ?", (began,)).fetchone()
        is_before = row is not None and row[0] is not None and row[0] < now
        return self._kind(row[0]) if is_before else None

    # Behind a start -----------------------------------------------------------------------------------------------

    def _recall(self) -> None:
        """Portions as they were at the start: those of today without what the records behind the start moved.

        What was spent then holds the largest of each part in it; for parts that were moved since, they are taken out
        again, so that they can be replayed. Other parts are not looked at.
        """
        moved: dict[tuple[str, str], tuple[Counter[str], Counter[str]]] = defaultdict(lambda: (Counter(), Counter()))
        for record in self._moves():
            sign = -1 if record["kind"] == "return" else 1
            for name, part, key, loss, pure in _portions_in(record):
                moved[name, part][0][key] += sign * loss
                moved[name, part][1][key] += sign * pure
        for (name, part), (losses, pures) in moved.items():
            self._recall_part(name, part, losses, pures)

    def _moves(self) -> Iterator[Record]:
        """The records behind the start that moved portions; only what names them is read."""
        behind = self._start
        while page := self._records(behind):
            named = (json.loads(body) for _, body, _ in page if b'"portions":' in body)
            for record in named:
                yield from (record for kind in _MOVING if record["kind"] == kind)
                yield from record.get("takes_over", ()) if record["kind"] == "account" else ()
            behind = page[-1][0]

    def _recall_part(self, name: str, part: str, losses: Mapping[str, int], pures: Mapping[str, int]) -> None:
        query = "SELECT key, spent, spent_pure FROM portion_2 WHERE account = ? AND part IN (?, ?)"
        apart, apart_pure = self._apart[name][part], self._apart_pure[name][part]
        for key, spent, spent_pure in self._database.execute(query, (name, part, index_key(part))):
            apart[index_key(key)] += spent
            apart_pure[index_key(key)] += spent_pure
        for key, loss in losses.items():
            apart[key] -= loss
            apart_pure[key] -= pures[key]
        if any(loss < 0 for each in (apart, apart_pure) for loss in each.values()):
            self.problems.append("the portions are not what the records say")
        if name in self._accounts:
            account = self._accounts[name]
            account[_SPENT] -= total(0, {part: apart}, account[_PLACES])
            account[_SPENT_PURE] -= total(0, {part: apart_pure}, account[_PLACES])

    # What is stored beside the records ----------------------------------------------------------------------------

    def differences(self) -> list[str]:
        """Where what is stored beside the records is not what they say."""
        found = self._account_differences() + self._beyond()
        return found if self._start else found + self._portion_differences() + self._count_differences()

    def accounts(self) -> dict[str, list[Any]]:
        """The accounts as the records describe them."""
        found = {}
        for name, known in self._accounts.items():
            found[name] = list(known)
            found[name][_SPENT], found[name][_SPENT_PURE] = self._spent(name), self._spent_pure(name)
        return found

    def _account_differences(self) -> list[str]:
        stored, replayed = stored_accounts(self._database), self.accounts()
        names = sorted(stored.keys() | replayed.keys())
        return [
            f"account {name} is not what the records say" for name in names if stored.get(name) != replayed.get(name)
        ]

    def _beyond(self) -> list[str]:
        """Whether requests name records that are not there yet."""
        query = "SELECT MAX({0}) FROM request"
        last = [self._database.execute(query.format(name)).fetchone()[0] for name in ("charge", "answer")]
        return ["there are requests behind the last record"] if max(one or 0 for one in last) > self.position else []

    def _portion_differences(self) -> list[str]:
        rows: dict[tuple[str, str, str], tuple[int, int]] = {}
        query = "SELECT account, part, key, spent, spent_pure FROM portion_2"
        for name, part, key, spent, pure in self._database.execute(query):
            place = (name, index_key(part), index_key(key))
            before = rows.get(place, (0, 0))
            rows[place] = before[0] + spent, before[1] + pure
        apart = {
            (name, part, key): (loss, pure) for name in self._apart for part, key, loss, pure in self._portions(name)
        }
        return [] if rows == apart else ["the portions are not what the records say"]

    def _count_differences(self) -> list[str]:
        """Whether there are rows of requests that no record led to."""
        query = "SELECT COUNT(*), COUNT(answer), COUNT(bytes) FROM request"
        stored = tuple(self._database.execute(query).fetchone())
        replayed = tuple(self._counts[name] for name in ("begun", "ended", "answered"))
        return [] if stored == replayed else ["there are other requests than the records say"]


def _moves_nothing(position: int, record: Record) -> None:
    """Records that are there to be read."""


def _portions_in(record: Record) -> Iterator[tuple[str, str, str, int, int]]:
    for name, portions in record.get("portions", {}).items():
        for part, key, loss, *pure in portions:
            yield name, index_key(part), index_key(key), loss, next(iter(pure), None) or 0


def _digest(answer: bytes | None) -> str | None:
    return None if answer is None else hashlib.sha256(answer).hexdigest()


def _other(request: str) -> str:
    return f"request {index_key(request)} is not what the records say"
