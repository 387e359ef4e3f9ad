"""The ledger: what was spent, on what, and what was answered, in an order that nobody can change.

A charge is durable before any row is read, and an answer is durable before anyone sees it. One request id has one
charge and one answer, whoever asks again, at once or after a crash. Entries are appended under one write lock, each
with the hash of the one before it; triggers refuse to change or delete them; accounts carry CHECK (spent <= cap), so
the database itself refuses to overspend. What was spent goes down in one case alone: a charge is returned by a record
of its own, where it is certain that no row was read for it.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import apsw

from discreet.catalog.period import Period
from discreet.curator.ledger import chain, unanswered
from discreet.curator.ledger.account_names import AccountKind, name_in_words, split_name
from discreet.curator.ledger.balance import BalanceCheck, Charge, GivenAnswer, answer_groups, charge_groups, same
from discreet.curator.ledger.chain import (
    ACCOUNTS,
    KNOWN,
    KNOWN_WITHIN,
    RECORDS,
    Account,
    Entry,
    Head,
    Receipt,
    account_of_row,
    answers,
    entry_of_row,
    head,
    key_id,
    publication_id,
    read_receipt,
    remember,
)
from discreet.curator.ledger.closes import ClosedPeriod, NewAccount, close_id, close_period, list_closes
from discreet.curator.ledger.people import join_unit, list_members, open_account, open_unit, sum_allowances
from discreet.curator.ledger.schema import POSTGRES, POSTGRES_UPGRADES, SQLITE, SQLITE_UPGRADES, VERSION
from discreet.curator.ledger.signing import Signer, fingerprint_key
from discreet.curator.ledger.unanswered import FAILURES, Begun
from discreet.curator.ledger.units import Allowance, LedgerPrice, amount, balance
from discreet.curator.ledger.witness import Witness, attestation
from discreet.errors import BudgetExceeded, DiscreetError, InvalidValue, LedgerError
from discreet.storage.database import Database, GroupCommitDatabase, check_version
from discreet.storage.files import alone_in, write_whole
from discreet.storage.postgres import FILE, PostgresStorage, read_server
from discreet.storage.sqlite import SQLiteStorage

__all__ = ["Account", "Entry", "Ledger", "LedgerKey", "Receipt", "has_ledger", "server_storage", "witness_name"]


_WITHIN = (
    "SELECT id, position, body, hash FROM entry JOIN request ON position = charge"
    " WHERE id = ? OR (id > ? AND id < ?) ORDER BY position DESC LIMIT 1"
)
_FIRST_PAGE, _LARGEST_PAGE = 16, 4096
"""How many records are read at a time: nobody holds the file while looking at what was read."""


@dataclass(frozen=True)
class LedgerKey:
    """A key that signs certificates and checkpoints, or did so before."""

    position: int
    """The record since which it is used."""
    public_key: bytes
    """What others need to check its signatures."""

    @property
    def fingerprint(self) -> str:
        """What the key is known by."""
        return fingerprint_key(self.public_key)


class Ledger:
    """A ledger and its witness in a folder. Threads may share one.

    The records are in the file ``ledger.db`` of the folder, or on the PostgreSQL server that its file ``ledger.server``
    names, for curators on several hosts.
    """

    def __init__(self, folder: Path) -> None:
        """Open the ledger; `Ledger.create` starts one."""
        self.folder = folder
        self.path = folder / "ledger.db"
        self._closes: dict[str, tuple[ClosedPeriod, ...]] = {}
        """Closed periods as they were read, which never change."""
        server = read_server(folder)
        self.witness = Witness(folder / witness_name(server))
        if server is None and not self.path.exists() and not self._is_finished():
            remedy = "put it back, or start one with Ledger.create"
            raise LedgerError("there must be a ledger in the folder", str(folder), remedy)
        if server is not None and self.path.exists():
            rule = "a folder must have one ledger"
            raise LedgerError(rule, "<a file and a server>", "remove ledger.server, or the file that was moved there")
        self.storage = _storage(self.path, server)
        self.storage.seal = partial(_attest, self.witness)  # no part of self, so that who lets go of it closes the file
        if server is not None and not self.witness.path.exists():
            self._join()

    @classmethod
    def create(cls, folder: Path) -> Ledger:
        """Start an empty ledger in a file; a folder that holds one, or a part of one, is refused.

        The file gets its name when everything else is durable. Who is interrupted before has started nothing, or all
        but that name, which `_is_finished` gives it.
        """
        path = folder / "ledger.db"
        if has_ledger(folder):
            raise LedgerError("the folder must not hold a ledger yet", str(folder))
        key = Signer(folder).public_key
        with _explained(), alone_in(folder):
            if has_ledger(folder):
                raise LedgerError("the folder must not hold a ledger yet", str(folder))
            start = SQLiteStorage.draft(path, SQLITE, VERSION, _refusal, partial(_start, key))
            write_whole(folder / witness_name(None), attestation(*start))
            SQLiteStorage.finish(path)
        return cls(folder)

    def _is_finished(self) -> bool:
        """Whether there is a ledger now, where all of one was there but its name."""
        if not self.witness.path.exists():
            return False
        with _explained(), alone_in(self.path.parent):
            return self.path.exists() or SQLiteStorage.finish(self.path)

    def _join(self) -> None:
        """A host that comes to a server's ledger has a witness of its own, which remembers from here on."""
        position, digest = self.head()
        if position == 0:
            rule = "there must be a ledger on the server"
            raise LedgerError(rule, "<none>", "put it back, or move one there with discreet ledger move")
        with _explained():
            self.witness.create(position, digest)

    @property
    def database(self) -> apsw.Connection:
        """The connection that writes to the file."""
        assert isinstance(self.storage, SQLiteStorage)  # noqa: S101  a server has no file
        return self.storage.writer

    def close(self) -> None:
        """Let go of the file."""
        self.storage.close()

    # The owner's part.

    def open_account(self, name: str, allowance: Allowance, places: int = 1, unit: str | None = None) -> None:
        """Add an account; its name is taken for good. ``places`` is 2 where neighbours replace one unit by another.

        ``unit`` is the account of a table's people, whether it is opened or not. Accounts for one period are opened by
        its close; a cap for an analyst also later.
        """

        def part(database: Database) -> None:
            _check_closed(database, name)
            open_account(database, name, allowance, places, unit)

        self.storage.write(part)

    def open_table(
        self, name: str, allowance: Allowance, places: int, unit: str, people: Allowance | None = None
    ) -> None:
        """Open the account of a table whose rows belong to the people of ``unit``.

        Their own account is opened with the second table that is theirs, or where ``people`` says what they are granted
        in all; where nobody says it, that is what the first table was granted.
        """

        def part(database: Database) -> None:
            join_unit(database, name, unit)
            members = list_members(database, unit)
            others = [one.allowance for one in members if one.name != name]
            if not _row(database, "SELECT 1 FROM account_2 WHERE name = ?", unit) and (others or people is not None):
                open_unit(database, unit, sum_allowances(others) if people is None else people, places)
            if not any(one.name == name for one in members):
                open_account(database, name, allowance, places, unit)

        self.storage.write(part)

    def close_period(self, table: str, period: Period, root: str, accounts: Mapping[str, NewAccount]) -> int:
        """Write down that a period of a table is closed, and open its accounts; the position of the record.

        Periods close in order. Closed again with the same root, it is the same record, and nothing is done.
        """
        return self.storage.write(
            lambda database: close_period(database, table, period, root, accounts), sealed=True, repeatable=True
        )

    def closes(self, table: str) -> list[ClosedPeriod]:
        """The closed periods of a table, in order."""
        known = self._closes.get(table, ())
        with self.storage.reading() as database:
            later = list_closes(database, table, known[-1].position if known else 0)
        self._closes[table] = (*known, *later)
        return [*known, *later]

    def open_people(self, unit: str, allowance: Allowance, places: int = 1) -> None:
        """Open the account of some people over all periods, unless they have one; it takes over from their tables.

        Where these granted something for good already, that is what people have in all.
        """

        def part(database: Database) -> None:
            members = [one.allowance for one in list_members(database, unit)]
            if not _row(database, "SELECT 1 FROM account_2 WHERE name = ?", unit):
                open_unit(database, unit, sum_allowances(members) if members else allowance, places)

        self.storage.write(part, repeatable=True)

    def join_people(self, tables: Mapping[str, str], places: Mapping[str, int]) -> None:
        """Say for tables of before, by the names of their accounts, whose rows they hold.

        People with several such tables get an account, which is granted what the tables were together: nothing more
        than they were granted before, said in one number.
        """

        def part(database: Database) -> None:
            for table, unit in sorted(tables.items()):
                join_unit(database, table, unit)
            for unit in sorted(set(tables.values())):
                members = list_members(database, unit)
                if len(members) > 1 and not _row(database, "SELECT 1 FROM account_2 WHERE name = ?", unit):
                    open_unit(database, unit, sum_allowances([one.allowance for one in members]), places[unit])

        self.storage.write(part, sealed=True, repeatable=True)

    def change_cap(self, name: str, allowance: Allowance, by: str | None = None) -> None:
        """Give an account another cap, not below what was spent: any to an analyst's, a lower one to that of people.

        A table's budget is granted for good.
        """

        def part(database: Database) -> None:
            account = _found(database, name)
            _check_new_cap(account, allowance)
            if account.allowance == allowance:
                return
            order = None if allowance.order is None else str(allowance.order)
            values = (allowance.cap, allowance.delta_cap, allowance.cap_pure, order, name)
            changed = "UPDATE account_2 SET cap = ?, delta_cap = ?, cap_pure = ?, alpha = ? WHERE name = ?"
            database.execute(changed, values)
            record = {"kind": "cap", "name": name, "cap": allowance.cap, "delta_cap": allowance.delta_cap, "by": by}
            _append(database, record | ({"cap_pure": allowance.cap_pure, "order": order} if order else {}))

        self.storage.write(part, sealed=True, repeatable=True)

    def record_analyst(self, table: str, analyst: str, *, may_ask: bool, by: str | None = None) -> None:
        """Write down that somebody may ask about a table from now on, or may not any more."""
        record = {"kind": "analyst", "table": table, "analyst": analyst, "may_ask": may_ask, "by": by}
        self.storage.write(lambda database: _append(database, record), sealed=True)

    def record_repair(self, what: str, lines: Collection[int], by: str | None = None) -> int:
        """Write down that lines of a file were mended; the position of the record."""
        record = {"kind": "repair", "what": what, "lines": sorted(lines), "by": by}
        return self.storage.write(lambda database: _append(database, record), sealed=True)

    def record_key(self, public_key: bytes, by: str | None = None) -> int:
        """Write down that this key signs from now on; the position of the record, the first one where there was one."""
        request = key_id(fingerprint_key(public_key))
        digest = hashlib.sha256(request.encode()).digest()

        def part(database: Database) -> int:
            known = _known(database, request, digest)
            if known is not None:
                return known.charge
            position = _append(database, {"kind": "key", **_key_in_words(public_key), "by": by})
            remember(database, request, digest, position)
            return position

        return self.storage.write(part, sealed=True, repeatable=True)

    def signing_keys(self) -> list[LedgerKey]:
        """The keys that signed, from the first on: the last one signs now, and those before are retired."""
        later = f"{RECORDS} JOIN request ON position = charge WHERE id > ? AND id < ? ORDER BY position"
        with self.storage.reading() as database:
            rows = database.execute(f"{RECORDS} WHERE position = 1").fetchall()
            rows += database.execute(later, ("key:", "key;")).fetchall()
        found = [entry_of_row(row) for row in rows]
        return [
            LedgerKey(one.position, bytes.fromhex(one.body["public_key"])) for one in found if "public_key" in one.body
        ]

    def publish(self, name: str, sha256: str, approved_by: str, statement: Mapping[str, Any]) -> Entry:
        """Write down what was published without differential privacy; the same bytes under the same name once."""
        request = publication_id(name, sha256)
        digest = hashlib.sha256(request.encode()).digest()
        record: dict[str, Any] = {
            "kind": "publication",
            "request": request,
            "body": digest.hex(),
            "name": name,
            "sha256": sha256,
        }
        record |= {"loss": "infinite", "approved_by": approved_by, "statement": dict(statement)}

        def part(database: Database) -> int:
            known = _known(database, request, digest)
            if known is not None:
                return known.charge
            position = _append(database, record)
            remember(database, request, digest, position)
            return position

        entry = self.entry(self.storage.write(part, sealed=True, repeatable=True))
        assert entry is not None  # noqa: S101  it was appended above, by us or before us
        return entry

    def publications(self) -> list[Entry]:
        """What was published without differential privacy, from the first on."""
        start, end = "publication:", "publication;"  # the character after the colon
        query = f"{RECORDS} JOIN request ON position = charge WHERE id > ? AND id < ? ORDER BY position"
        with self.storage.reading() as database:
            return [entry_of_row(row) for row in database.execute(query, (start, end))]

    def failures(self) -> list[tuple[Entry, Entry | None]]:
        """Every failure, from the first on, and its lift; None for one that still suspends."""
        query = f"{RECORDS} JOIN request ON position = charge WHERE id > ? AND id < ? ORDER BY position"
        lifts = f"{RECORDS} JOIN request ON position = answer WHERE id > ? AND id < ?"
        with self.storage.reading() as database:
            found = [[entry_of_row(row) for row in database.execute(each, FAILURES)] for each in (query, lifts)]
        lifted = {lift.body["failure"]: lift for lift in found[1]}
        return [(failure, lifted.get(failure.position)) for failure in found[0]]

    def lift(self, failure: int, because: str, by: str | None = None) -> int:
        """Lift what a failure suspended; the position of the lift, which is the first one where there was one."""
        return self.storage.write(
            lambda database: unanswered.lifted(database, failure, by, because), sealed=True, repeatable=True
        )

    def accounts(self, names: Collection[str] | None = None) -> dict[str, Account]:
        """Every account by name, or those of these names that there are."""
        if names is not None and not names:
            return {}
        which = "" if names is None else f" WHERE name IN ({', '.join('?' for _ in names)})"
        with self.storage.reading() as database:
            rows = database.execute(f"{ACCOUNTS}{which}", tuple(names or ()))
            return {row[0]: account_of_row(row) for row in rows}

    def affords(self, *charges: Mapping[str, LedgerPrice]) -> bool:
        """Whether charges would fit together now; they may not any more when they come.

        What has no account cannot be paid.
        """
        try:
            self.check_affordable(charges)
        except (BudgetExceeded, InvalidValue):
            return False
        return True

    def check_affordable(self, charges: Sequence[Mapping[str, LedgerPrice]]) -> None:
        """Refuse charges that would not fit together now, as `charge` would; nothing is charged."""
        standing = BalanceCheck(list(charges))
        with self.storage.reading() as database:
            standing.load_answers(answers(database, standing.questions()))
        for prices in charges:
            standing.take(prices)

    # The asker's part.

    def charge(
        self,
        request: str,
        body: bytes,
        prices: Mapping[str, LedgerPrice],
        note: Mapping[str, Any],
        run: str | None = None,
    ) -> Receipt:
        """Charge all accounts or none, durably; a request that was charged before is not charged again.

        ``run`` is the name under which the caller is `present` while they work on it.
        """
        return self.charge_together([Charge.of(request, body, prices, note, run)])[0]

    def charge_together(self, charges: Sequence[Charge]) -> list[Receipt]:
        """Charge several requests in one durable transaction, all or none, each as `charge` does.

        A request that was charged before is not charged again. Where one cannot be charged, none is.
        """
        return self.storage.write_together(charge_groups, tuple(charges), repeatable=True)

    def settle(self, request: str, answer: bytes) -> Receipt:
        """Store the answer to a charged request and return what is stored: the first answer stored is the only one."""
        return self.settle_together({request: answer})[0]

    def settle_together(self, answers: Mapping[str, bytes]) -> list[Receipt]:
        """Store the answers to several charged requests in one durable transaction; what is stored of each, in order.

        Where one was never charged, nothing is stored. One that has ended keeps its end, as in `settle`.
        """
        given = tuple(GivenAnswer.of(request, answer) for request, answer in answers.items())
        return self.storage.write_together(answer_groups, given, sealed=True, repeatable=True)

    def fail(self, request: str, analyst: str | None, tables: Collection[str]) -> int | Receipt:
        """The record that the run of a charged request failed, which suspends the analyst at these tables.

        Where somebody else's run of the same request was answered meanwhile, that answer is returned instead.
        """
        return self.storage.write(
            lambda database: unanswered.failed(database, request, analyst, tables), sealed=True, repeatable=True
        )

    @contextmanager
    def present(self, run: str) -> Iterator[None]:
        """While a block works under this name, everybody can see that it is not over."""
        with self._faults():
            self.storage.presence.hold(run)
        try:
            yield
        finally:
            self.storage.presence.release(run)

    def killed_runs(self, request: str) -> tuple[list[Begun], int]:
        """The runs of a charge that ended with their process and not by themselves; and how much is told of runs."""
        with self.storage.reading() as database:
            runs = unanswered.runs_of(database, request)
        with self._faults():
            there = self.storage.presence.held({one.run for one in runs.begun if one.run is not None})
        return [one for one in runs.begun if one.run not in there], runs.records

    def rerun(
        self, request: str, run: str | None = None, analyst: str | None = None, known: int | None = None
    ) -> Receipt | None:
        """Write down that somebody works on a charge that another made, so that it is never returned.

        None where more is told about its runs than was ``known`` to the caller, who looks again.
        """
        return self.storage.write(
            lambda database: unanswered.rerun(database, request, run, analyst, known), repeatable=True
        )

    def stop(self, request: str, run: str) -> None:
        """Write down that a run is over without an end of the request, so that it is not taken for a killed one."""
        self.storage.write(lambda database: unanswered.stopped(database, request, run), repeatable=True)

    def replan(
        self,
        request: str,
        attempts: Callable[[], Iterable[str]],
        plan: str,
        costs: Mapping[str, LedgerPrice],
        note: Any,
    ) -> str | None:
        """Let another plan be run for what an open request was charged; see `ends.replanned`."""
        return self.storage.write(
            lambda database: unanswered.replanned(database, request, attempts(), plan.encode(), dict(costs), note),
            sealed=True,
            repeatable=True,
        )

    def open_versions(self) -> set[str]:
        """The versions of data that charges without an end were made for."""
        with self.storage.reading() as database:
            return unanswered.open_versions(database)

    def known(self, request: str) -> Receipt | None:
        """What is known about a request, whatever its body."""
        with self.storage.reading() as database:
            row = _row(database, KNOWN, request)
        return None if row is None else read_receipt(request, row)

    def known_within(self, after: str, before: str) -> list[Receipt]:
        """What is known about the requests whose ids lie strictly between two others, in the order of their charges."""
        with self.storage.reading() as database:
            rows = database.execute(KNOWN_WITHIN, (after, before)).fetchall()
        return [read_receipt(request, row) for request, *row in rows]

    def last_within(self, first: str, after: str, before: str) -> tuple[str, Entry] | None:
        """Of a request, and those whose ids lie strictly between two others, the one recorded last, and its record."""
        with self.storage.reading() as database:
            row = _row(database, _WITHIN, first, after, before)
        return None if row is None else (row[0], entry_of_row(row[1:]))

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """What goes wrong outside a transaction, in the words of one that failed."""
        try:
            yield
        except Exception as fault:
            raise self.storage.explained(fault) from None

    def give_back(self, request: str) -> bool:
        """Return a charge by a compensating record; for who made it and is certain that no row was read for it."""
        return self.storage.write(lambda database: unanswered.returned(database, request), sealed=True, repeatable=True)

    def suspended_by(self, analyst: str | None, tables: Collection[str]) -> Entry | None:
        """The first failure that suspends an analyst at one of these tables; None where they may ask."""
        with self.storage.reading() as database:
            found = unanswered.failures_of(database, analyst, tables)
        return found[0] if found else None

    def look_up(self, request: str, body: bytes) -> Receipt | None:
        """What is known about a request with this body; another body under the same id is refused."""
        with self.storage.reading() as database:
            return _known(database, request, hashlib.sha256(body).digest())

    # The auditor's part.

    def entry(self, position: int) -> Entry | None:
        """The record at a position; None where there is none."""
        with self.storage.reading() as database:
            row = _row(database, f"{RECORDS} WHERE position = ?", position)
        return None if row is None else entry_of_row(row)

    def entries(self, start: int = 1) -> Iterator[Entry]:
        """The records from position ``start`` on."""
        size = _FIRST_PAGE
        while True:
            with self.storage.reading() as database:
                rows = database.execute(f"{RECORDS} WHERE position >= ? ORDER BY position LIMIT {size}", (start,))
                page: list[Any] = rows.fetchall()
            for row in page:
                yield entry_of_row(row)
            if len(page) < size:
                return
            start, size = page[-1][0] + 1, min(8 * size, _LARGEST_PAGE)

    def entries_back(self, before: int | None = None, holding: bytes = b"") -> Iterator[Entry]:
        """The records before a position, newest first; or those of them alone whose text holds some bytes.

        What does not hold them is not read as JSON, which is most of the work.
        """
        size, end = _FIRST_PAGE, 2**62 if before is None else before
        while True:
            with self.storage.reading() as database:
                rows = database.execute(f"{RECORDS} WHERE position < ? ORDER BY position DESC LIMIT {size}", (end,))
                page: list[Any] = rows.fetchall()
            for row in page:
                if holding in bytes(row[1]):
                    yield entry_of_row(row)
            if len(page) < size:
                return
            end, size = page[-1][0], min(8 * size, _LARGEST_PAGE)

    def ends(self, charges: Sequence[int]) -> dict[int, Entry]:
        """By the positions of charges, the records that ended them: answers, failures, returns, other plans."""
        if not charges:
            return {}
        marks = ", ".join("?" * len(charges))
        with self.storage.reading() as database:
            rows = database.execute(
                "SELECT charge, position, body, hash FROM request JOIN entry ON position = answer"  # noqa: S608
                f" WHERE charge IN ({marks})",
                list(charges),
            )
            return {charge: entry_of_row(row) for charge, *row in rows.fetchall()}

    def head(self) -> tuple[int, bytes]:
        """Position and hash of the last record."""
        with self.storage.reading() as database:
            return head(database)


def has_ledger(folder: Path) -> bool:
    """Whether a folder holds a ledger, or a part of one."""
    return any((folder / name).exists() for name in ("ledger.db", "ledger.witness", FILE))


def witness_name(server: str | None) -> str:
    """The file of a witness; each host that shares a server has one, because their writes must not mix."""
    return "ledger.witness" if server is None else f"ledger.witness.{platform.node() or 'host'}"


# Where it is kept ---------------------------------------------------------------------------------------------------


def _storage(path: Path, server: str | None) -> GroupCommitDatabase:
    if server is not None:
        return server_storage(server)
    storage = SQLiteStorage(path, _refusal)
    try:
        check_version("the ledger", storage.version, VERSION)
        storage.upgrade(SQLITE_UPGRADES)
    except DiscreetError:
        storage.close()
        raise
    return storage


def server_storage(server: str) -> PostgresStorage:
    """The ledger's tables on a server; they are made where there are none."""
    return PostgresStorage(server, "discreet_ledger", POSTGRES, VERSION, _refusal, POSTGRES_UPGRADES)


def _refusal(what: str) -> LedgerError:
    remedy = "nothing was released; check the disk or the server, then ask again with the same request id"
    return LedgerError("the ledger must be writable and sound", f"<{what}>", remedy)


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        raise _refusal(type(fault).__name__) from fault


def _attest(witness: Witness, database: Database) -> None:
    """Before anybody hears of what was written, the witness remembers the last record."""
    witness.attest(*head(database))


# How it is kept: these work on the connection of whoever reads or writes ---------------------------------------------


def _row(database: Database, query: str, *values: Any) -> tuple[Any, ...] | None:
    found: tuple[Any, ...] | None = database.execute(query, values).fetchone()
    return found


def _start(public_key: bytes, database: Database) -> Head:
    return chain.append(database, {"kind": "start", "version": VERSION, **_key_in_words(public_key)}, head(database))


def _append(database: Database, record: dict[str, Any]) -> int:
    position, _ = chain.append(database, record, head(database))
    return position


def _key_in_words(public_key: bytes) -> dict[str, str]:
    return {"public_key": public_key.hex(), "fingerprint": fingerprint_key(public_key)}


def _found(database: Database, name: str) -> Account:
    row = _row(database, f"{ACCOUNTS} WHERE name = ?", name)
    if row is None:
        raise InvalidValue("a charge must name an existing account", name)
    return account_of_row(row)


def _check_closed(database: Database, name: str) -> None:
    """An account for one period is opened by its close, but for the cap of an analyst when the period is closed."""
    table, _, period = split_name(name)
    if period is None:
        return
    is_closed = _row(database, "SELECT 1 FROM request WHERE id = ?", close_id(table, period)) is not None
    if AccountKind.of(name) is not AccountKind.ANALYST or not is_closed:
        raise InvalidValue("an account for one period is opened when the period closes", name, "close the period")


def _check_new_cap(account: Account, allowance: Allowance) -> None:
    if account.kind is AccountKind.TABLE:
        raise InvalidValue("a table's budget stays as it was granted", account.name, "change the caps of analysts")
    is_reordered = bool(account.spent) and allowance.order != account.allowance.order
    if allowance.measure is not account.allowance.measure or is_reordered:
        kind = account.allowance.measure.value
        raise InvalidValue(f"the cap of {account.name} must stay {kind}", allowance.measure.value)
    is_more = allowance.cap > account.allowance.cap or allowance.delta_cap > account.allowance.delta_cap
    if account.kind is AccountKind.UNIT and (is_more or allowance.cap_pure > account.allowance.cap_pure):
        rule = f"what was granted for the people of {name_in_words(account.name)[1:]} is never raised"
        raise InvalidValue(rule, f"<{balance(allowance.granted)}>", "name less")
    if not allowance.holds(account.spent, account.spent_pure, account.impure) or (
        allowance.delta_cap < account.delta_spent
    ):
        spent, wanted = amount(account.was_spent), balance(allowance.granted)
        rule = f"the cap of {account.name} must not be below what was spent, {spent}"
        raise InvalidValue(rule, f"<{wanted}>", "nothing is refunded; or let them ask no more")


def _known(database: Database, request: str, digest: bytes) -> Receipt | None:
    row = _row(database, KNOWN, request)
    return None if row is None else same(request, digest, row)
