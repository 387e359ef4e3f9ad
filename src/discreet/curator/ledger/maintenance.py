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
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from discreet.curator.ledger import chain
from discreet.curator.ledger.account_names import find_period
from discreet.curator.ledger.balance import BalanceCheck
from discreet.curator.ledger.chain import ACCOUNTS, RECORDS, Account, Entry, account_of_row, entry_of_row
from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.people import common_amounts, list_portions, open_account
from discreet.curator.ledger.units import MOST_UNITS, Allowance, BudgetMeasure, LedgerPrice, prices_as_record
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
    """What a close, a restore or a mark of the audit trail says, in a line; empty for records of other kinds."""
    if body["kind"] == "close":
        return f"{body['period']} of {body['table']} is closed"
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
            found = {one.name: _all_left(one) for one in accounts}
        else:
            found = {one.name: _price(database, one, totals[one.name]) for one in accounts if one.name in totals}
        prices = {name: price for name, price in found.items() if any(price.amounts())}
        record = {"kind": "restore", **prices_as_record(prices), **note}
        position, _ = chain.append(database, record, chain.head(database))
        name = restore_id(position)
        chain.remember(database, name, hashlib.sha256(name.encode()).digest(), position)
        standing = BalanceCheck([prices])
        standing.load_answers(chain.answers(database, standing.questions()))
        standing.put(prices)
        standing.write(database)
        return position

    return ledger.storage.write(part, sealed=True)


def _open(database: Database, name: str, facts: Mapping[str, Any]) -> None:
    """An account that was opened after the backup: opened anew, its budget would be granted twice."""
    if database.execute("SELECT 1 FROM account_2 WHERE name = ?", (name,)).fetchone() is None:
        caps = (int(facts["cap"]), int(facts["delta_cap"]), int(facts.get("cap_pure", 0)))
        order = None if facts.get("order") is None else Fraction(facts["order"])
        allowance = Allowance(BudgetMeasure(facts["measure"]), *caps, order)
        told = {"restored": True} if find_period(name) is not None else {}
        open_account(database, name, allowance, int(facts["places"]), facts.get("unit"), **told)


def _all_left(account: Account) -> LedgerPrice:
    """What uses an account up: in ε or ρ, in δ, and in ε beside ρ where both are counted."""
    allowance, delta = account.allowance, account.allowance.delta_cap - account.delta_spent
    left, pure = allowance.cap - account.spent, allowance.cap_pure - account.spent_pure
    if allowance.measure is not BudgetMeasure.EITHER:
        return _largest_price(left, delta)
    return _largest_price(left, delta, pure)


def _largest_price(loss: int, delta: int, pure: int | None = None) -> LedgerPrice:
    """Or as much as one charge may be, from an account without a cap: then nobody believes what it says was spent."""
    amounts = [min(max(0, one), MOST_UNITS) for one in (loss, delta, pure or 0)]
    return LedgerPrice(amounts[0], amounts[1], pure=None if pure is None else amounts[2])


def _price(database: Database, account: Account, total: Mapping[str, Any]) -> LedgerPrice:
    """What every unit is charged in an account, and its δ, so that all are at the total; no more than is left."""
    common, common_pure = common_amounts(account, list_portions(database, account.name))
    most = _all_left(account)
    loss, delta = int(total["spent"]) - common, int(total["delta_spent"]) - account.delta_spent
    price = LedgerPrice(max(0, loss), min(max(0, delta), most.delta))
    if most.pure is None or account.impure or total.get("impure", 0):
        return replace(price, loss=min(price.loss, most.loss))
    beside = replace(price, pure=max(0, int(total.get("spent_pure", 0)) - common_pure))
    return beside if account.allowance.holds(common + beside.loss, common_pure + (beside.pure or 0), 0) else most


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
