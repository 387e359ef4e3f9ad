"""How a charged request ends without an answer: it failed, its charge was returned, or it pays for another plan.

A request ends once, and the database sees to it: its row names the record of its end, be that an answer, a failure, a
return or a new plan, and is never changed again. A failure suspends who asked at the tables that were asked about,
until the owner lifts it; the row of a failure names its lift in the same way. A return takes off exactly what its
charge put on, and is refused as soon as somebody else began to work on the same charge, for they may have read rows.

A charge has runs: that of who made it, and one for each record ``rerun``. A run that ended in a living process without
ending the request says so by a record ``stop``; all others that are not running now were killed.

A record ``replan`` ends a request that has no answer, and lets another plan be run for what it was charged, where that
costs no more on any account. The first can never be answered from then on: one charge still pays for one release.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from discreet.curator.ledger import chain
from discreet.curator.ledger.balance import BalanceCheck
from discreet.curator.ledger.chain import KNOWN, RECORDS, AccountKind, Entry, Receipt, entry_of_row, head, read_receipt
from discreet.curator.ledger.units import LedgerPrice, prices_as_record, prices_in
from discreet.errors import InvalidValue
from discreet.storage.database import Database

__all__ = [
    "FAILURES",
    "Begun",
    "Runs",
    "are_touched",
    "covers",
    "failed",
    "failure_id",
    "failures_of",
    "lifted",
    "open_versions",
    "replanned",
    "rerun",
    "rerun_id",
    "returned",
    "runs_of",
    "stopped",
    "versions_in",
]


FAILURES = "failure:", "failure;"
"""Between these lie the ids of all failures: the second ends in the character after the colon."""
_TOLD = f"{RECORDS} JOIN request ON position = charge WHERE id = ? OR (id > ? AND id < ?) ORDER BY position"
_OPEN = f"{RECORDS} JOIN request ON position = charge WHERE id > ? AND id < ? AND answer IS NULL"
_UNLIFTED = f"{RECORDS} JOIN request ON position = charge WHERE id > ? AND id < ? AND answer IS NULL ORDER BY position"


def failure_id(analyst: str | None, position: int) -> str:
    """What the ledger calls a failure: those of one analyst are found together, whatever the name is."""
    return f"{_failures_by(analyst)}:{position}"


def _failures_by(analyst: str | None) -> str:
    return f"failure:{hashlib.sha256(json.dumps(analyst).encode()).hexdigest()}"


def rerun_id(request: str, number: int = 0) -> str:
    """What the ledger calls it that a charge was run again, or a run of it was stopped; the first has no number."""
    return f"rerun:{request}#{number}" if number else f"rerun:{request}"


class Begun(NamedTuple):
    """A run for a charge that neither ended it nor was stopped: it is running now, or it was killed."""

    run: str | None
    """Under which name it is held while it runs; None in records of before there were names."""
    analyst: str | None
    """Who asked."""


class Runs(NamedTuple):
    """What is known of the runs for a charge."""

    begun: tuple[Begun, ...]
    """Those that did not end."""
    records: int
    """How many records tell of runs after the first."""


def are_touched(failed_tables: Collection[str], tables: Collection[str]) -> bool:
    """Whether tables have a name in common; SQL does not regard case."""
    return not {name.casefold() for name in failed_tables}.isdisjoint(name.casefold() for name in tables)


def failures_of(database: Database, analyst: str | None, tables: Collection[str]) -> list[Entry]:
    """The failures that suspend an analyst at one of these tables, from the first on."""
    own = _failures_by(analyst)
    found = [entry_of_row(row) for row in database.execute(_UNLIFTED, (f"{own}:", f"{own};"))]
    return [one for one in found if are_touched(one.body["tables"], tables)]


def failed(database: Database, request: str, analyst: str | None, tables: Collection[str]) -> int | Receipt:
    """The position of the record of a failed run; where the same request was answered meanwhile, that answer."""
    receipt = _charged(database, request)
    if receipt.end == "answer":
        return receipt
    known = failures_of(database, analyst, tables)
    same = [one.position for one in known if one.body["request"] == request]
    if same:
        return same[0]
    record = {"kind": "failure", "request": request, "charge": receipt.charge}
    position = _append(database, record | {"analyst": analyst, "tables": sorted(tables)})
    _remember(database, failure_id(analyst, position), position)
    if receipt.end is None:
        _end(database, request, position)
    return position


def lifted(database: Database, failure: int, by: str | None, because: str) -> int:
    """Write down that the owner lifts what a failure suspended; the position of the lift, the first there was."""
    row = database.execute(f"{RECORDS} WHERE position = ?", (failure,)).fetchone()
    body = {} if row is None else entry_of_row(row).body
    if body.get("kind") != "failure":
        rule = "a lift must name the record of a failure"
        raise InvalidValue(rule, failure, "discreet ledger suspensions lists them")
    request = failure_id(body["analyst"], failure)
    known = read_receipt(request, database.execute(KNOWN, (request,)).fetchone())
    if known.position is not None:
        return known.position
    position = _append(database, {"kind": "lift", "failure": failure, "by": by, "because": because})
    _end(database, request, position)
    return position


def runs_of(database: Database, request: str) -> Runs:
    """The runs for the charge of a request; those for a charge that pays for it in another's stead are counted."""
    charge = _charge_of(database, _charged(database, request)).body
    told = [one.body for one in _sequence(database, request)]
    asked = charge["note"].get("analyst")
    if charge["kind"] == "replan":
        before = list(runs_of(database, charge["of"]).begun)
    else:
        before = [Begun(charge.get("run"), asked)]
    stopped = {one["run"] for one in told if one["kind"] == "stop"}
    again = [Begun(one.get("run"), one.get("analyst", asked)) for one in told if one["kind"] == "rerun"]
    return Runs(tuple(one for one in before + again if one.run is None or one.run not in stopped), len(told))


def _sequence(database: Database, request: str) -> list[Entry]:
    """The records of runs after the first, in their order."""
    first = rerun_id(request)
    found = database.execute(_TOLD, (first, f"{first}#", f"{first}$"))  # the second character follows the first
    return [entry_of_row(row) for row in found]


def rerun(
    database: Database, request: str, run: str | None, analyst: str | None, known: int | None = None
) -> Receipt | None:
    """Write down, before they read rows, that somebody works on a charge which they did not make themselves.

    None where more is told about its runs by now than was ``known`` to who decided to run it again.
    """
    receipt = _charged(database, request)
    told = _sequence(database, request)
    begun = [one.body.get("run") for one in (_charge_of(database, receipt), *told)]
    if receipt.end is not None or (run is not None and run in begun):
        return receipt
    if known is not None and known != len(told):
        return None
    record = {"kind": "rerun", "request": request, "charge": receipt.charge, "run": run, "analyst": analyst}
    _remember(database, rerun_id(request, len(told)), _append(database, record))
    return receipt


def stopped(database: Database, request: str, run: str) -> None:
    """Write down that a run is over, in a living process, and that the request has not ended by it."""
    receipt, told = _charged(database, request), _sequence(database, request)
    is_known = any((one.body["kind"], one.body.get("run")) == ("stop", run) for one in told)
    if receipt.end is None and not is_known:
        record = {"kind": "stop", "request": request, "charge": receipt.charge, "run": run}
        _remember(database, rerun_id(request, len(told)), _append(database, record))


def replanned(
    database: Database, request: str, attempts: Iterable[str], plan: bytes, costs: dict[str, LedgerPrice], note: Any
) -> str | None:
    """End an open request, and let the first of ``attempts`` at another plan that has not ended be paid by its charge.

    Returns which that is; None where the request has ended by now.
    """
    receipt = _charged(database, request)
    if receipt.end is not None:
        return None
    charge = _charge_of(database, receipt).body
    if not covers(prices_in(charge), costs):
        raise InvalidValue("another plan must cost no more than what was charged", request)
    found, is_new = _open_one(database, attempts)
    record = {"kind": "replan", "of": request, "charge": receipt.charge, "request": found, "note": note}
    record |= {name: charge[name] for name in ("prices", "portions") if name in charge}
    told = prices_as_record(costs)
    record |= {"costs": told["prices"], "apart": told.get("portions", {})}
    digest = hashlib.sha256(plan).digest()
    position = _append(database, record | ({"body": digest.hex()} if is_new else {}))
    if is_new:
        chain.remember(database, found, digest, position)
    _end(database, request, position)
    return found


def _open_one(database: Database, attempts: Iterable[str]) -> tuple[str, bool]:
    """The first attempt that has not ended, and whether nobody made it before."""
    for one in attempts:
        row = database.execute(KNOWN, (one,)).fetchone()
        if row is None or read_receipt(one, row).end in (None, "answer"):
            return one, row is None
    raise AssertionError("attempts have no end")


def covers(charged: Mapping[str, LedgerPrice], costs: Mapping[str, LedgerPrice]) -> bool:
    """Whether a charge pays for what costs so much, on every account.

    A portion is of the people with one key in one version of the data, and the next version may give them other keys:
    so portions pay for nothing but the same portions, and portions of another version count as if they were
    everybody's. An account of an analyst that the charge does not name was opened since, and has its own cap only; so
    was one of people, which took over with its opening what their tables were charged before.
    """
    return all(
        _pays(charged[name], cost) if name in charged else _is_younger(name, charged) for name, cost in costs.items()
    )


def _is_younger(name: str, charged: Mapping[str, LedgerPrice]) -> bool:
    """Whether an account that a charge does not name was opened since."""
    kind = AccountKind.of(name)
    return kind is AccountKind.UNIT or (kind is AccountKind.ANALYST and name.partition("/")[0] in charged)


def _pays(charged: LedgerPrice, cost: LedgerPrice) -> bool:
    paid = {(portion.part, portion.key): portion.loss for portion in charged.portions}
    left = sum(portion.loss for portion in cost.portions if portion.loss > paid.get((portion.part, portion.key), 0))
    return cost.loss + left <= charged.loss and cost.delta <= charged.delta and _pays_pure(charged, cost)


def _pays_pure(charged: LedgerPrice, cost: LedgerPrice) -> bool:
    """Where a pure release was charged in ε beside ρ, only a pure one can be run for it, at no more in ε."""
    if charged.pure is None:
        return True
    paid = {(portion.part, portion.key): portion.pure or 0 for portion in charged.portions}
    other = [one for one in cost.portions if (one.pure or 0) > paid.get((one.part, one.key), 0)]
    return not cost.is_impure and (cost.pure or 0) + sum(one.pure or 0 for one in other) <= charged.pure


def open_versions(database: Database) -> set[str]:
    """The versions of the data that charges without an end were made for."""
    rows = database.execute(_OPEN, ("plan:", "plan;"))
    return {version for row in rows for version in versions_in(entry_of_row(row).body["note"]).values()}


def versions_in(note: Mapping[str, Any]) -> dict[str, str]:
    """Per table, the version that a question was planned for; public tables among them."""
    return {**note.get("versions", {}), **note.get("public", {})}


def returned(database: Database, request: str) -> bool:
    """Return a charge whose maker knows that no row was read; whether it was returned.

    It is not where it has ended, or where others may have read rows for it.
    """
    receipt = _charged(database, request)
    others = database.execute("SELECT 1 FROM request WHERE id = ?", (rerun_id(request),)).fetchone()
    if receipt.end is not None or others is not None:
        return receipt.end == "return"
    charge = _charge_of(database, receipt)
    if charge.body["kind"] != "charge":
        return False  # it was another's charge, and rows may have been read for that
    prices = prices_in(charge.body)
    standing = BalanceCheck([prices])
    standing.load_answers(chain.answers(database, standing.questions()))
    record = {"kind": "return", "request": request, "charge": receipt.charge, "prices": charge.body["prices"]}
    record |= {"portions": charge.body["portions"]} if "portions" in charge.body else {}
    position = _append(database, record)
    standing.give_back(database, prices)
    _end(database, request, position)
    return True


def _charged(database: Database, request: str) -> Receipt:
    row = database.execute(KNOWN, (request,)).fetchone()
    if row is None:
        raise InvalidValue("a request must be charged before it ends", request)
    return read_receipt(request, row)


def _charge_of(database: Database, receipt: Receipt) -> Entry:
    return entry_of_row(database.execute(f"{RECORDS} WHERE position = ?", (receipt.charge,)).fetchone())


def _append(database: Database, record: dict[str, Any]) -> int:
    position, _ = chain.append(database, record, head(database))
    return position


def _remember(database: Database, request: str, position: int) -> None:
    chain.remember(database, request, hashlib.sha256(request.encode()).digest(), position)


def _end(database: Database, request: str, position: int) -> None:
    database.execute("UPDATE request SET answer = ? WHERE id = ?", (position, request))
