"""Closes: the periods of a table that grows, which close one after the other, each with accounts of its own.

A close is one record. It says the period, the root of the files of all closed periods, and the accounts that it opens;
no number of rows, and no hash of rows without a salt. Periods of a table close in order and without gaps, each once.

An account of a period is opened by the close of that period alone, so that a period's budget is granted once. There are
two exceptions: a cap for an analyst may be added to a period that is closed, since it lies within the table's; and what
was opened after a backup and lost with it is opened again by the restore, with what was spent from it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from discreet.catalog.period import Period
from discreet.curator.ledger import chain
from discreet.curator.ledger.account_names import AccountKind, split_name
from discreet.curator.ledger.chain import RECORDS, entry_of_row, head
from discreet.curator.ledger.people import allowance_facts, insert_account
from discreet.curator.ledger.units import Allowance
from discreet.errors import InvalidValue, LedgerError
from discreet.storage.database import Database

__all__ = [
    "ClosedPeriod",
    "NewAccount",
    "close_id",
    "close_period",
    "follows",
    "is_of_period",
    "last_close",
    "list_closes",
]


_PAGE = 256
"""Records that are read with one statement."""


@dataclass(frozen=True)
class NewAccount:
    """An account that a close opens."""

    allowance: Allowance
    """What may be spent."""
    places: int = 1
    """2 where neighbours replace one unit by another."""
    unit: str | None = None
    """The account of its people, which must be open, or opened by the same close; who charges one charges both."""


@dataclass(frozen=True)
class ClosedPeriod:
    """A period that is closed, as the ledger has it."""

    name: str
    """As people call it."""
    start: datetime
    """When it began, on the clock of the time column."""
    end: datetime
    """When the next one began."""
    root: str
    """The root of the files of all periods that were closed then."""
    position: int
    """The record that says so."""


def close_id(table: str, period: str) -> str:
    """What the ledger calls the close of a period, so that it is recorded once."""
    return f"{_all_of(table)}{period}"


def _all_of(table: str) -> str:
    """How the names of all closes of a table begin; its length keeps it apart from every other table."""
    return f"close:{len(table)}:{table}:"


def list_closes(database: Database, table: str, behind: int = 0) -> list[ClosedPeriod]:
    """The closed periods of a table in order, or those alone whose records stand behind a position."""
    return _read(database, [position for position in _positions(database, table) if position > behind])


def last_close(database: Database, table: str, before: int | None = None) -> ClosedPeriod | None:
    """The last period of a table that was closed, of all or before a position."""
    found = [position for position in _positions(database, table) if before is None or position < before]
    return _read(database, found[-1:])[0] if found else None


def _positions(database: Database, table: str) -> list[int]:
    """In order. Found by the names of the requests alone, so that no database looks through all records."""
    first = _all_of(table)
    values = (first, f"{first[:-1]};")  # the character after the colon
    return sorted(row[0] for row in database.execute("SELECT charge FROM request WHERE id > ? AND id < ?", values))


def _read(database: Database, positions: Sequence[int]) -> list[ClosedPeriod]:
    pages = [positions[start : start + _PAGE] for start in range(0, len(positions), _PAGE)]
    found = [(f"{RECORDS} WHERE position IN ({', '.join('?' * len(page))})", tuple(page)) for page in pages]
    entries = [entry_of_row(row) for rows in chain.answers(database, found) for row in rows]
    return sorted((_closed(one.position, one.body) for one in entries), key=lambda one: one.position)


def _closed(position: int, body: Mapping[str, Any]) -> ClosedPeriod:
    start, end = (datetime.fromisoformat(body[name]) for name in ("from", "until"))
    return ClosedPeriod(body["period"], start, end, body["root"], position)


def follows(period: Period, last: Period | ClosedPeriod | None) -> bool:
    """Whether a period may close after the last one that did."""
    return period.start < period.end and (last is None or period.start == last.end)


def is_of_period(account: str, table: str, period: str) -> bool:
    """Whether the close of a table's period may open an account: of the table, its analysts, or people, for it."""
    whose, _, when = split_name(account)
    return when == period and whose in ("", table)


def close_period(database: Database, table: str, period: Period, root: str, accounts: Mapping[str, NewAccount]) -> int:
    """Write down that a period is closed, and open its accounts; the position of the record.

    Said again with the same root it is the record that is there.
    """
    known = _known(database, table, period, root)
    if known is not None:
        return known
    last = last_close(database, table)
    if not follows(period, last):
        due = "<none>" if last is None else last.end.date().isoformat()
        rule = f"periods of {table} close in order, and the next one begins on {due}"
        raise LedgerError(rule, f"{period.name}, from {period.start.date()}", "close the periods before it first")
    new = _new(database, table, period, accounts)
    told = [{"name": name, **_facts(one)} for name, one in sorted(new.items())]
    record = {"kind": "close", "table": table, "period": period.name, "root": root, "accounts": told}
    record |= {"from": period.start.isoformat(), "until": period.end.isoformat()}
    for facts in told:
        insert_account(database, facts)
    position, _ = chain.append(database, record, head(database))
    name = close_id(table, period.name)
    chain.remember(database, name, hashlib.sha256(name.encode()).digest(), position)
    return position


def _known(database: Database, table: str, period: Period, root: str) -> int | None:
    row = database.execute(
        f"{RECORDS} JOIN request ON position = charge WHERE id = ?", (close_id(table, period.name),)
    ).fetchone()
    if row is None:
        return None
    held = _closed(row[0], entry_of_row(row).body)
    if (held.start, held.end, held.root) != (period.start, period.end, root):
        rule = f"{period.name} of {table} was closed with other files, and stays as it was closed"
        raise LedgerError(rule, root, "put back the store that was closed")
    return held.position


def _facts(account: NewAccount) -> dict[str, Any]:
    facts = allowance_facts(account.allowance) | {"places": account.places}
    return facts if account.unit is None else facts | {"unit": account.unit}


def _new(database: Database, table: str, period: Period, accounts: Mapping[str, NewAccount]) -> dict[str, NewAccount]:
    """Those that are not there yet, if all of them may be opened."""
    there = _there(database, {*accounts, *(one.unit for one in accounts.values() if one.unit is not None)})
    for name, one in accounts.items():
        if not is_of_period(name, table, period.name):
            raise InvalidValue(f"the close of {period.name} of {table} opens accounts for it alone", name)
        if one.unit is not None and one.unit not in there and one.unit not in accounts:
            raise InvalidValue("the account of people must be opened before that of their table", one.unit)
        if one.unit is not None and AccountKind.of(one.unit) is not AccountKind.UNIT:
            raise InvalidValue("the unit of an account is an account of people", one.unit)
    return {name: one for name, one in accounts.items() if name not in there}


def _there(database: Database, names: Iterable[str]) -> set[str]:
    return {name for name in names if database.execute("SELECT 1 FROM account_2 WHERE name = ?", (name,)).fetchone()}
