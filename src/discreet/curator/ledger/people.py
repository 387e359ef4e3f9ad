"""Accounts of people: one for everything about them, over all tables that are theirs.

While one table alone is about some people, its own account is theirs: every question about them reads it. The account
of the people is opened when a second table comes, or when the owner states a budget for them. It takes over what the
tables were charged until then, and from then on every question is charged to it once, whichever of the tables it reads.

Claim (accounts with parts). Let every charge be to all units of a kind, or to those with some keys of a column that is
constant per unit, and let a plan that is charged to keys read no row of other units. Then everything that was released
about any of the tables costs a unit at most: what all were charged, plus for each such column the largest of what one
key was charged (the two largest where a unit is replaced). Proof. A unit has one key of each column, so the charges
that touch it are those to all and those to its keys; for the others both worlds hand over the same rows. Losses add up
over releases that are chosen with all others in view (`docs/explanation/composition.md`).

Taking over counts never too little: a question about two tables was charged to both, and counts twice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from discreet.curator.ledger import chain
from discreet.curator.ledger.balance import BalanceCheck
from discreet.curator.ledger.chain import ACCOUNTS, Account, account_of_row, head
from discreet.curator.ledger.units import (
    LOSS_UNITS,
    Allowance,
    BudgetMeasure,
    LedgerPrice,
    Portion,
    in_epsilon,
    largest,
    price_in_units,
    prices_as_record,
)
from discreet.errors import InvalidValue
from discreet.storage.database import Database

__all__ = [
    "allowance_facts",
    "common_amounts",
    "insert_account",
    "join_unit",
    "list_members",
    "list_portions",
    "open_account",
    "open_unit",
    "sum_allowances",
    "take_over",
]


_INSERT = (
    "INSERT INTO account_2 (name, measure, cap, delta_cap, cap_pure, alpha, places, unit)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
PortionRows = Sequence[tuple[str, str, int, int]]
"""Part, key, and what was charged to it in ε or ρ, and in ε beside it."""


def open_account(
    database: Database, name: str, allowance: Allowance, places: int, unit: str | None = None, **told: Any
) -> None:
    """Add an account, and the record of it, which may be ``told`` more; its name is taken for good."""
    if database.execute("SELECT 1 FROM account_2 WHERE name = ?", (name,)).fetchone():
        raise InvalidValue("an account's name must be new", name)
    facts = allowance_facts(allowance) | {"places": places} | ({} if unit is None else {"unit": unit})
    insert_account(database, {"name": name, **facts})
    chain.append(database, {"kind": "account", "name": name, **facts, **told}, head(database))


def insert_account(database: Database, facts: Mapping[str, Any]) -> None:
    """Add the row of an account of which a record tells these facts."""
    names = ("name", "measure", "cap", "delta_cap", "cap_pure", "order", "places", "unit")
    values = [facts.get(name) for name in names]
    database.execute(_INSERT, (*values[:4], values[4] or 0, *values[5:]))


def allowance_facts(allowance: Allowance) -> dict[str, Any]:
    """An allowance as records have it."""
    facts: dict[str, Any] = {"measure": allowance.measure.value, "cap": allowance.cap, "delta_cap": allowance.delta_cap}
    if allowance.order is not None:
        facts |= {"cap_pure": allowance.cap_pure, "order": str(allowance.order)}
    return facts


def open_unit(database: Database, name: str, allowance: Allowance, places: int) -> None:
    """Open the account of some people, which takes over what their tables were charged so far."""
    members = list_members(database, name)
    taken = {one.name: take_over(one, list_portions(database, one.name), allowance) for one in members}
    told = [{"table": table, **prices_as_record({name: price})} for table, price in taken.items()]
    open_account(database, name, allowance, places, takes_over=told)
    _charge(database, name, list(taken.values()))


def join_unit(database: Database, table: str, unit: str) -> None:
    """Say whose rows a table from before holds; what was charged for them is their people's from now on."""
    account = _account(database, table)
    if account is None or account.unit == unit:
        return
    if account.unit is not None:
        rule = f"{table}: whose rows they are must stay as it was, {account.unit[1:]}"
        raise InvalidValue(rule, unit[1:], "use another table name")
    people = _account(database, unit)
    prices = {} if people is None else {unit: take_over(account, list_portions(database, table), people.allowance)}
    chain.append(database, {"kind": "join", "table": table, "unit": unit, **prices_as_record(prices)}, head(database))
    database.execute("UPDATE account_2 SET unit = ? WHERE name = ?", (unit, table))
    _charge(database, unit, list(prices.values()))


def sum_allowances(allowances: Sequence[Allowance]) -> Allowance:
    """What tables granted to their people: what the only one did, or all together, where no cap was said for all."""
    if len(allowances) == 1:
        return allowances[0]
    delta = sum(one.delta_cap for one in allowances)
    if all(one.measure is BudgetMeasure.PURE for one in allowances):
        return Allowance(BudgetMeasure.PURE, sum(one.cap for one in allowances), delta)
    return Allowance(BudgetMeasure.CONCENTRATED, sum(map(_cap_in_rho, allowances)), delta)


def _cap_in_rho(allowance: Allowance) -> int:
    return _square(allowance.cap) if allowance.measure is BudgetMeasure.PURE else allowance.cap


def take_over(account: Account, portions: PortionRows, people: Allowance) -> LedgerPrice:
    """What a table's account was charged, as a price for the account of its people.

    Amounts of one kind stay as they are, with the portions. What was pure alone is one loss e for everybody: e²/2 in ρ,
    or e/α where both sums are counted. Divergences of one order α count at another one β at most max(1, α/β) times as
    much, for a pure loss is min(e²/2, e/α) at one and min(e²/2, e/β) at the other.
    """
    kinds = (account.allowance.measure, people.measure)
    if kinds[0] is not kinds[1] and kinds[0] is BudgetMeasure.PURE:
        return _one_loss(account.spent, account.delta_spent, people)
    if kinds == (BudgetMeasure.EITHER, BudgetMeasure.CONCENTRATED) and not account.impure:
        return _one_loss(account.spent_pure, account.delta_spent, people)
    if kinds[0] is not kinds[1] and kinds != (BudgetMeasure.CONCENTRATED, BudgetMeasure.EITHER):
        rule = f"what was spent on {account.name} must be of the kind that its people's budget counts"
        raise InvalidValue(rule, kinds[0].value, f"state a {kinds[0].value} budget for them, or use another unit name")
    return _as_it_was(account, portions, people)


def _one_loss(epsilon: int, delta: int, people: Allowance) -> LedgerPrice:
    price = price_in_units(in_epsilon(epsilon), people.measure, order=people.order)
    return replace(price, delta=delta)


def _as_it_was(account: Account, rows: PortionRows, people: Allowance) -> LedgerPrice:
    orders = account.allowance.order, people.order
    factor = max(Fraction(1), orders[0] / orders[1]) if orders[0] and orders[1] else Fraction(1)
    is_pure = bool(orders[0] and orders[1]) and not account.impure
    portions = tuple(
        Portion(part, key, math.ceil(spent * factor), pure if is_pure else None) for part, key, spent, pure in rows
    )
    common, common_pure = common_amounts(account, rows)
    loss = math.ceil(common * factor)
    return LedgerPrice(loss, account.delta_spent, portions, common_pure if is_pure else None)


def common_amounts(account: Account, rows: PortionRows) -> tuple[int, int]:
    """What everybody was charged: all that was spent, without the largest portions."""
    apart: dict[str, tuple[list[int], list[int]]] = {}
    for part, _, spent, pure in rows:
        losses, pures = apart.setdefault(part, ([], []))
        losses.append(spent)
        pures.append(pure)
    loss = sum(largest(losses, account.places) for losses, _ in apart.values())
    pure = sum(largest(pures, account.places) for _, pures in apart.values())
    return account.spent - loss, account.spent_pure - pure


def _square(epsilon: int) -> int:
    """The ρ of a pure loss, ε²/2, in whole units."""
    return math.ceil(Fraction(epsilon * epsilon, 2 * LOSS_UNITS))


def list_members(database: Database, unit: str) -> list[Account]:
    """The accounts of the tables of some people."""
    rows = database.execute(f"{ACCOUNTS} WHERE unit = ?", (unit,)).fetchall()
    return sorted(map(account_of_row, rows), key=lambda one: one.name)


def list_portions(database: Database, name: str) -> PortionRows:
    """What the people with some keys were charged in an account."""
    query = "SELECT part, key, spent, spent_pure FROM portion_2 WHERE account = ? ORDER BY part, key"
    return list(database.execute(query, (name,)).fetchall())


def _account(database: Database, name: str) -> Account | None:
    row = database.execute(f"{ACCOUNTS} WHERE name = ?", (name,)).fetchone()
    return None if row is None else account_of_row(row)


def _charge(database: Database, name: str, prices: Sequence[LedgerPrice]) -> None:
    """Put on an account what it takes over; the record of it is written before."""
    standing = BalanceCheck([{name: price} for price in prices])
    standing.load_answers(chain.answers(database, standing.questions()))
    for price in prices:
        standing.take({name: price})
    standing.write(database)
