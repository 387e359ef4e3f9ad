"""Telling: which tables there are, what is public about them, and what was spent on them.

An analyst sees the tables whose policies name them, and public ones; their own spending, and what is left for all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.catalog.table import Table
from discreet.curator.allowance import DELTA_UNITS, Allowance, Price
from discreet.curator.charging import account_of
from discreet.curator.ledger import Account
from discreet.curator.remaining import questions_left
from discreet.curator.spending import total
from discreet.errors import NotFound
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.service.house import House
from discreet.service.records import Charged, at_worst, charges_to, last_prices_of
from discreet.service.role import EVERYBODY, READERS
from discreet.service.visitor import Visitor

__all__ = ["Balance", "Spent", "budget", "spending", "table", "tables"]


@dataclass(frozen=True)
class Balance:
    """What one account was granted, what was taken from it and what is left."""

    account: str
    """Its name in the ledger."""
    table: str
    """The table that it pays for."""
    analyst: str | None
    """Whose cap it is; None for what all may spend together."""
    cap: Pure | ZeroConcentrated
    """What was granted."""
    spent: Pure | ZeroConcentrated
    """What was taken."""
    left: Pure | ZeroConcentrated
    """What is left."""
    more: int | None
    """How many more questions like the last one; None while there was none, or where it was another's."""
    delta_cap: Fraction | None
    """The δ for groups that nobody listed; None where none was set aside."""
    delta_spent: Fraction | None
    """What was taken of it."""
    delta_left: Fraction | None
    """What is left of it."""


@dataclass(frozen=True)
class Spent:
    """One question, and what it took from a table's budget."""

    position: int
    """Where it stands in the ledger."""
    time: str
    """When, in universal time."""
    analyst: str | None
    """Who asked; None for the owner."""
    step: Pure | ZeroConcentrated
    """By how much it raised the loss of the worst-off person."""
    total: Pure | ZeroConcentrated
    """That loss after it, of all questions that the visitor may see."""


def tables(house: House, visitor: Visitor) -> list[Table]:
    """The tables that the visitor may know of, by name; an analyst's hold no other analysts."""
    visitor.must_be(EVERYBODY)
    seen = (_seen_by(visitor, one) for one in house.curator.catalog)
    return sorted((one for one in seen if one is not None), key=lambda one: one.name)


def table(house: House, visitor: Visitor, name: str) -> Table:
    """One of these tables; any other does not exist for the visitor."""
    visitor.must_be(EVERYBODY)
    known = house.curator.catalog.find(name)
    seen = None if known is None else _seen_by(visitor, known)
    if seen is None:
        raise NotFound("there must be such a table, and its policy must name you", name)
    return seen


def _seen_by(visitor: Visitor, known: Table) -> Table | None:
    if visitor.role in READERS:
        return known
    own = {visitor.name: known.analysts[visitor.name]} if visitor.name in known.analysts else {}
    return replace(known, analysts=own) if own or known.public else None


def budget(house: House, visitor: Visitor) -> list[Balance]:
    """What is left: of every table for all together, and of the caps that the visitor may see."""
    accounts = house.curator.ledger.accounts()
    whose = {name: who for name, who in _accounts(tables(house, visitor)) if name in accounts}
    last = last_prices_of(house.curator.ledger)
    told = {name: last.get(name) for name, (_, who) in whose.items() if _may_know_prices(visitor, who)}
    return [_balance(accounts[name], *who, told.get(name)) for name, who in whose.items()]


def _accounts(known: list[Table]) -> Iterator[tuple[str, tuple[str, str | None]]]:
    for one in known:
        for analyst in (None, *sorted(one.analysts)):
            yield account_of(one, analyst), (one.name, analyst)


def _may_know_prices(visitor: Visitor, analyst: str | None) -> bool:
    """Whether the visitor may know the last price of such an account: what another paid is another's."""
    return visitor.role in READERS or analyst == visitor.name


def _balance(account: Account, table: str, analyst: str | None, price: Price | None) -> Balance:
    allowance = account.allowance
    last = None if price is None else Price(at_worst(price, account.places), price.delta)
    return Balance(
        account=account.name,
        table=table,
        analyst=analyst,
        cap=allowance.loss(allowance.cap),
        spent=allowance.loss(account.spent),
        left=allowance.loss(account.left),
        more=questions_left(account, last),
        delta_cap=_delta(account, allowance.delta_cap),
        delta_spent=_delta(account, account.delta_spent),
        delta_left=_delta(account, allowance.delta_cap - account.delta_spent),
    )


def _delta(account: Account, units: int) -> Fraction | None:
    return Fraction(units, DELTA_UNITS) if account.allowance.delta_cap else None


def spending(house: House, visitor: Visitor, name: str) -> list[Spent]:
    """What was charged to a table, question by question, oldest first; an analyst sees their own questions alone."""
    known = table(house, visitor, name)
    account = house.curator.ledger.accounts().get(account_of(known))
    if account is None:
        return []
    seen = charges_to(house.curator.ledger, account.name)
    own = [one for one in seen if visitor.role in READERS or one.analyst == visitor.name]
    return list(_replayed(own, account))


def _replayed(charges: list[Charged], account: Account) -> Iterator[Spent]:
    """The loss of the worst-off person after each of these charges, as the ledger itself adds them up."""
    common, before = 0, 0
    apart: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    allowance: Allowance = account.allowance
    for record in charges:
        price = record.price
        common += price.loss
        for part, key, loss in price.portions:
            apart[part][key] += loss
        after = total(common, apart, account.places)
        if after > before or price.loss or price.portions:
            step, reached = allowance.loss(after - before), allowance.loss(after)
            yield Spent(record.position, record.time, record.analyst, step, reached)
        before = after
