"""Restores in the ledger: a ledger that came back from a backup says so, and pays for what was lost.

Whatever was answered after the backup was seen by somebody, though its charge is gone. So a restore charges it again:
as much as a signed head knows, or all that is left. The record names the backup, how far the lost ledger had come, and
what is charged to which account.

Claim. After `record_restore` with the totals of a head, no unit's loss is above what the accounts say, if nothing was
charged after the head. Let T be what an account had spent at the head: no unit had lost more. The restored account
charges c to all units and apart to some. T - c more is charged to all, so that every unit is at T or above. Where
that passes the cap, the account is used up, and nothing is asked any more.

Marks of the audit trail in the ledger: how far the trail of a service had come, and with which hash.

The ledger has a witness and may have heads off the host; the database of a service has neither. So the ledger remembers
it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.curator.charge import largest
from discreet.curator.ledger import chain
from discreet.curator.ledger.chain import ACCOUNTS, RECORDS, Account, Entry, account_of_row, entry_of_row
from discreet.curator.ledger.ledger import Ledger
from discreet.storage.database import Database

__all__ = [
    "Mark",
    "Restored",
    "last_mark",
    "mark_id",
    "record_mark",
    "record_restore",
    "restore_id",
    "restores_in",
    "upkeep_words",
]


_ALL = ("restore:", "restore;")  # the character after the colon
_INSERT = (
    "INSERT INTO account (name, measure, cap, delta_cap, places) VALUES (?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING"
)


@dataclass(frozen=True)
class Restored:
    """A restore that is on record."""

    record: int
    """Where the ledger says so."""
    time: str
    """When."""
    backup: int
    """The last record of the backup."""
    lost: int | None
    """The last record that is known to be lost and paid for; None where all that was left was used up."""

    def admits(self, position: int, made: str) -> bool:
        """Whether it paid for a record at this position, of a head that was made then."""
        return position > self.backup and made <= self.time and (self.lost is None or position <= self.lost)


def restore_id(position: int) -> str:
    """What the ledger calls the restore at a position."""
    return f"restore:{position}"


def restores_in(ledger: Ledger) -> list[Restored]:
    """Every restore that a ledger tells of, from the first on."""
    query = f"{RECORDS} JOIN request ON position = charge WHERE id > ? AND id < ? ORDER BY charge"
    with ledger.storage.reading() as database:
        return [_restored(entry_of_row(row)) for row in database.execute(query, _ALL)]


def _restored(entry: Entry) -> Restored:
    body = entry.body
    return Restored(entry.position, body["time"], body["backup"]["position"], body["lost"])


def upkeep_words(body: Mapping[str, Any]) -> str:
    """What a restore or a mark of the audit trail says, in a line; empty for records of other kinds."""
    if body["kind"] == "trail":
        return f"the audit trail has {body['position']} events, head {body['head'][:16]}…"
    if body["kind"] != "restore":
        return ""
    charged = ", ".join(sorted(body["prices"]))
    paid = f"; charged for what was lost: {charged}" if charged else "; nothing was lost"
    return f"restored from a backup that ended at record {body['backup']['position']}{paid}"


def record_restore(
    ledger: Ledger, backup: tuple[int, bytes], lost: int | None, totals: Mapping[str, Mapping[str, Any]], because: str
) -> int:
    """Write down that the ledger came back from a backup, and charge what was lost; the position of the record.

    ``totals`` are the accounts as a signed head knows them; with ``lost`` as None all that is left of every account is
    used up, also of those.
    """
    note = {"backup": {"position": backup[0], "head": backup[1].hex()}, "lost": lost, "because": because}

    def part(database: Database) -> int:
        for name, facts in sorted(totals.items()):
            _open(database, name, facts)
        accounts = [account_of_row(row) for row in database.execute(ACCOUNTS).fetchall()]
        if lost is None:
            prices = {one.name: [one.left, one.allowance.delta_cap - one.delta_spent] for one in accounts}
        else:
            prices = {one.name: _price(database, one, totals[one.name]) for one in accounts if one.name in totals}
        prices = {name: price for name, price in prices.items() if any(price)}
        position, _ = chain.append(database, {"kind": "restore", "prices": prices, **note}, chain.head(database))
        name = restore_id(position)
        chain.remember(database, name, hashlib.sha256(name.encode()).digest(), position)
        for account, (loss, delta) in sorted(prices.items()):
            charged = "UPDATE account SET spent = spent + ?, delta_spent = delta_spent + ? WHERE name = ?"
            database.execute(charged, (loss, delta, account))
        return position

    return ledger.storage.write(part, sealed=True)


def _open(database: Database, name: str, facts: Mapping[str, Any]) -> None:
    """An account that was opened after the backup: opened anew, its budget would be granted twice."""
    if database.execute("SELECT 1 FROM account WHERE name = ?", (name,)).fetchone() is None:
        record = {field: facts[field] for field in ("measure", "cap", "delta_cap", "places")}
        database.execute(_INSERT, (name, *(record[field] for field in ("measure", "cap", "delta_cap", "places"))))
        chain.append(database, {"kind": "account", "name": name, **record}, chain.head(database))


def _price(database: Database, account: Account, total: Mapping[str, Any]) -> list[int]:
    """What every unit is charged in an account, and its δ, so that all are at the total; no more than is left."""
    delta_left = account.allowance.delta_cap - account.delta_spent
    apart: dict[str, list[int]] = {}
    for part, spent in database.execute("SELECT part, spent FROM portion WHERE account = ?", (account.name,)):
        apart.setdefault(part, []).append(spent)
    common = account.spent - sum(largest(portions, account.places) for portions in apart.values())
    loss, delta = int(total["spent"]) - common, int(total["delta_spent"]) - account.delta_spent
    return [min(max(0, loss), account.left), min(max(0, delta), delta_left)]


_LAST = f"{RECORDS} JOIN request ON position = charge WHERE id > ? AND id < ? ORDER BY charge DESC LIMIT 1"
_ALL_MARKS = ("trail:", "trail;")  # the character after the colon


@dataclass(frozen=True)
class Mark:
    """What the ledger saw of a trail."""

    record: int
    """Where the ledger says so."""
    position: int
    """How many events there were."""
    head: bytes
    """The hash of the last one."""


def mark_id(head: str) -> str:
    """What the ledger calls a mark, so that it is recorded once."""
    return f"trail:{head}"


def last_mark(ledger: Ledger) -> Mark | None:
    """The latest mark; None where there is none."""
    with ledger.storage.reading() as database:
        return _last(database)


def _last(database: Database) -> Mark | None:
    row = database.execute(_LAST, _ALL_MARKS).fetchone()
    if row is None:
        return None
    entry = entry_of_row(row)
    return Mark(entry.position, entry.body["position"], bytes.fromhex(entry.body["head"]))


def record_mark(ledger: Ledger, position: int, head: bytes, *, afresh: bool = False) -> None:
    """Write down how far a trail has come, unless the ledger knows of as much; ``afresh``: also after it was cut."""
    name = mark_id(head.hex())
    record = {"kind": "trail", "position": position, "head": head.hex()}

    def part(database: Database) -> None:
        last = _last(database)
        if last is not None and (last.head == head or (last.position >= position and not afresh)):
            return
        place, _ = chain.append(database, record, chain.head(database))
        chain.remember(database, name, hashlib.sha256(name.encode()).digest(), place)

    ledger.storage.write(part, sealed=True, repeatable=True)
