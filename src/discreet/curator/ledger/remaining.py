"""What is left of a budget, also in questions: how many more like the last one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from threading import Lock
from typing import Any

from discreet.accounting.odometer import ConcentratedOdometer, bound_of_order
from discreet.catalog.budget import add_up
from discreet.catalog.catalog import Catalog, fold_name
from discreet.catalog.table import Table
from discreet.curator.ledger.account_names import AccountKind, split_name
from discreet.curator.ledger.ledger import Account, Entry, Ledger
from discreet.curator.ledger.units import (
    DELTA_UNITS,
    LOSS_UNITS,
    BudgetMeasure,
    LedgerPrice,
    in_epsilon,
    largest,
    prices_in,
)
from discreet.exact.rational import Number
from discreet.privacy.format import shown
from discreet.privacy.loss import Approximate, Pure, ZeroConcentrated

__all__ = [
    "LastPrices",
    "charged_by",
    "compute_balance",
    "questions_left",
    "questions_left_for_all",
    "state_spent",
    "sum_people",
    "worst_of",
]


def sum_people(catalog: Catalog, accounts: Mapping[str, Account]) -> tuple[str, ...]:
    """What people of several kinds lose together, and which accounts have no policy by now.

    Nobody has said that these are the same people, so each kind has a budget, and whoever is of all kinds loses their
    sum. An account stays when its policy is taken away, and what was spent from it was spent.
    """
    sentences: list[str] = []
    kinds = catalog.tables_by_unit()
    held = {fold_name(table.name) for tables in kinds.values() for table in tables}
    kinds, counted = _over_periods(catalog, kinds)
    sentences += [
        f"What one of the people of {person} loses over all periods is counted without a limit." for person in counted
    ]
    if len(kinds) > 1:
        granted = {domain: _granted(tables, accounts) for domain, tables in kinds.items()}
        epsilon, delta = (sum((one[place] for one in granted.values()), Fraction(0)) for place in (0, 1))
        each = " + ".join(shown(one) for one, _ in granted.values())
        whole = f"ε {each} = {shown(epsilon)}" + (f" and δ {shown(delta)}" if delta else "")
        sentences.append(f"Whoever is among {' and '.join(granted)} at once loses at most {whole}.")
    of_tables = {split_name(one.name)[0] for one in accounts.values() if one.kind is AccountKind.TABLE}
    gone = sorted({name for name in of_tables if fold_name(name) not in held})
    if gone:
        sentences.append(
            f"No policy says whose rows these were: {', '.join(gone)}. What was spent there counts as well."
        )
    return tuple(sentences)


def _over_periods(catalog: Catalog, kinds: Mapping[str, list[Table]]) -> tuple[dict[str, list[Table]], list[str]]:
    """Tables by the people that they are about, over all periods; and the people for whom no policy states a limit."""
    found: dict[str, list[Table]] = {}
    for domain, tables in kinds.items():
        person = catalog.person_domain(tables[0].name) or domain
        capped = [replace(one, budget=one.lifetime or one.budget) for one in tables]
        found.setdefault(person, []).extend(capped if tables[0].unit_per is not None else tables)
    counted = [
        person
        for person, tables in found.items()
        if all(table.unit_per is not None and table.lifetime is None for table in tables)
    ]
    return {person: tables for person, tables in found.items() if person not in counted}, sorted(counted)


def _granted(tables: Sequence[Table], accounts: Mapping[str, Account]) -> tuple[Fraction, Fraction]:
    """The ε and the δ that tables of the same people grant one of them: within their account, or added up."""
    epsilon, delta = add_up(table.budget for table in tables if table.budget is not None)
    known = [accounts[one] for one in accounts if one == _people_of(tables, accounts)]
    caps = [one.allowance.cap_pure or one.allowance.cap for one in known if one.allowance.measure in _IN_EPSILON]
    if not caps:
        return epsilon, delta
    stated = [table.unit_budget or table.budget for table in tables]
    most = max((budget.delta for budget in stated if budget is not None), default=Fraction(0))
    return in_epsilon(caps[0]).epsilon, most


def _people_of(tables: Sequence[Table], accounts: Mapping[str, Account]) -> str | None:
    names = {fold_name(table.name) for table in tables}
    of_tables = [one for one in accounts.values() if one.kind is AccountKind.TABLE]
    found = [one.open_unit for one in of_tables if fold_name(split_name(one.name)[0]) in names]
    return next((unit for unit in found if unit is not None), None)


PricesOf = Callable[[Entry], Mapping[str, LedgerPrice]]
_CHARGE = b'"kind":"charge"'
_IN_EPSILON = (BudgetMeasure.PURE, BudgetMeasure.EITHER)
"""Measures of accounts whose cap is known in ε."""


class LastPrices:
    """Per account, the last price that was charged to it.

    It is looked for from the end of the ledger on, as far back as an account needs that was ever charged, and then read
    as the ledger grows: no record is read twice, and few are read at all.
    """

    def __init__(self, ledger: Ledger, prices_of: PricesOf | None = None) -> None:
        """Of ``ledger``; ``prices_of`` a charge are per account, by default the most that it can take from one."""
        self._ledger = ledger
        self._prices_of = charged_by if prices_of is None else prices_of
        self._found: dict[str, LedgerPrice] = {}
        self._next: int | None = None
        self._lock = Lock()

    def now(self) -> dict[str, LedgerPrice]:
        """The prices; accounts that nobody charged are not listed."""
        with self._lock:
            if self._next is None:
                self._look_back()
            for entry in self._ledger.entries(self._next or 1):
                self._found |= self._read_prices(entry)
                self._next = entry.position + 1
            return dict(self._found)

    def _look_back(self) -> None:
        end = self._ledger.head()[0] + 1
        accounts = self._ledger.accounts().items()
        missing = {name for name, account in accounts if account.spent or account.delta_spent}
        for entry in self._ledger.entries_back(end, _CHARGE) if missing else ():
            self._found |= {name: price for name, price in self._read_prices(entry).items() if name not in self._found}
            missing -= self._found.keys()
            if not missing:
                break
        self._next = end

    def _read_prices(self, entry: Entry) -> dict[str, LedgerPrice]:
        if entry.body["kind"] != "charge":
            return {}
        found = self._prices_of(entry).items()
        return {name: price for name, price in found if price.loss or price.delta or price.portions}


def charged_by(entry: Entry) -> dict[str, LedgerPrice]:
    """Per account, what a charge can take at most: what all people are charged, and the largest portions."""
    return {name: worst_of(price, 1) for name, price in prices_in(entry.body).items()}


def worst_of(price: LedgerPrice, places: int) -> LedgerPrice:
    """The same for the worst-off unit: what all people are charged, and the largest portions of every column."""
    losses: dict[str, list[int]] = {}
    pures: dict[str, list[int]] = {}
    for part, _, loss, pure in price.portions:
        losses.setdefault(part, []).append(loss)
        pures.setdefault(part, []).append(pure or 0)
    common = price.loss + sum(largest(each, places) for each in losses.values())
    beside = None if price.pure is None else price.pure + sum(largest(each, places) for each in pures.values())
    return LedgerPrice(common, price.delta, pure=beside)


def questions_left(account: Account, price: LedgerPrice | None) -> int | None:
    """How many more questions at this price the account can pay; None while nothing was charged."""
    if price is None:
        return None
    allowance, ways = account.allowance, [max(0, account.allowance.cap - account.spent) // max(1, price.loss)]
    if allowance.measure is BudgetMeasure.EITHER and not account.impure and not price.is_impure:
        ways.append(max(0, allowance.cap_pure - account.spent_pure) // max(1, price.pure or 0))
    most = [max(ways)] if price.loss else []
    return min([*most, *([(allowance.delta_cap - account.delta_spent) // price.delta] if price.delta else [])])


def questions_left_for_all(account: Account, people: Account | None, price: LedgerPrice | None) -> int | None:
    """How many more questions at this price both a table and its people can pay."""
    own = questions_left(account, price)
    if own is None or people is None or people.allowance.measure is not account.allowance.measure:
        return own
    theirs = questions_left(people, price)
    return own if theirs is None else min(own, theirs)


def compute_balance(account: Account, price: LedgerPrice | None, people: Account | None = None) -> dict[str, Any]:
    """What was granted to an account, spent and left, and how many more questions at this price that is.

    ``people`` is the account of a table's people, which must pay for them, too.
    """
    return {
        "cap": None if account.allowance.is_counted else account.granted,
        "spent": account.was_spent,
        "left": None if account.allowance.is_counted else account.left,
        "more": None if account.allowance.is_counted else questions_left_for_all(account, people, price),
        **_delta_for_keys(account),
    }


def state_spent(account: Account, delta: Number) -> Pure | Approximate:
    """What was spent from an account, as a promise that holds although nobody fixed beforehand when to look.

    The sum of ε where every release was pure. Else the ε of an odometer at ``delta``: that of zCDP where the sum of ρ
    holds at all orders, and that of the account's own order where pure losses were counted at it. What was spent of δ
    for keys is added.
    """
    events, order = Fraction(account.delta_spent, DELTA_UNITS), account.allowance.order
    if account.allowance.measure is BudgetMeasure.PURE or (order is not None and not account.impure):
        is_pure = account.allowance.measure is BudgetMeasure.PURE
        epsilon = in_epsilon(account.spent if is_pure else account.spent_pure)
        return Approximate(epsilon.epsilon, events) if events else epsilon
    rho = Fraction(account.spent, LOSS_UNITS)
    stated = _read_all_orders(rho, delta) if order is None or order <= 1 else bound_of_order(order, order * rho, delta)
    return Approximate(stated.epsilon, min(stated.delta + events, Fraction(1)))


def _read_all_orders(rho: Fraction, delta: Number) -> Approximate:
    odometer = ConcentratedOdometer(delta)
    odometer.record(ZeroConcentrated(rho))
    return odometer.reading()


def _delta_for_keys(account: Account) -> dict[str, Fraction]:
    cap, spent = account.allowance.delta_cap, account.delta_spent
    if account.allowance.is_counted:
        return {"delta_spent": Fraction(spent, DELTA_UNITS)} if spent else {}
    named = {"delta_cap": cap, "delta_spent": spent, "delta_left": cap - spent}
    return {name: Fraction(units, DELTA_UNITS) for name, units in named.items()} if cap else {}
