"""Charging: which accounts pay how much for questions that were planned together, and who may ask at all.

Parallel composition in the ledger: questions about different people cost the largest price, not the sum.

Claim. Let a column have one value per unit, and let every charge concern either all units or only those with one of
some values of the column, its keys. A unit with key k is touched by the charges to all and by those to k; the answers
to the rest have the same law whether the unit is there or not, however the questions were chosen. So under
add-remove-one the whole loss is at most common + max over k of what k was charged. Where a unit is replaced by another,
two keys are touched: the two largest add up. Several columns are added, and so are versions of the data, and bounds and
defaults that values are moved to, between which a unit may change its key.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.catalog.budget import Budget
from discreet.catalog.catalog import Catalog
from discreet.catalog.names import check_text
from discreet.catalog.table import Table
from discreet.curator.ledger.account_names import find_period, join_name, split_name
from discreet.curator.ledger.chain import Account
from discreet.curator.ledger.units import Allowance, LedgerPrice, Portion, price_for_periods, price_in_units, total
from discreet.errors import InvalidValue
from discreet.privacy.neighbours import Neighbours
from discreet.query.bind.relation import Part, PartitionFilter
from discreet.query.plan.budget_split import get_magnitude, with_magnitude
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.question import PlannedQuestion

__all__ = [
    "Versions",
    "check_analyst",
    "find_account",
    "find_period",
    "find_table",
    "find_unit_account",
    "list_budget_periods",
    "list_caps",
    "list_plans",
    "list_prices",
]


@dataclass(frozen=True)
class Versions:
    """Which data some questions are about."""

    tables: Mapping[str, str]
    """Per protected table, the version that is read; of one that grows, that of all periods that are read."""
    periods: Mapping[tuple[str, str], str]
    """Per table that grows and period that is read, its version."""

    def at(self, period: str | None) -> Mapping[str, str]:
        """The versions of tables in one period; for good, where none is named."""
        return {**self.tables, **{table: version for (table, name), version in self.periods.items() if name == period}}


def list_plans(questions: Iterable[PlannedQuestion]) -> list[AggregationPlan]:
    """What is measured for these questions, each once."""
    return list({id(plan): plan for question in questions for plan in question.plans}.values())


def check_analyst(questions: Sequence[PlannedQuestion], catalog: Catalog, analyst: str | None) -> None:
    """Refuse an analyst whom a table's policy does not name."""
    if analyst is not None:
        check_text(analyst, "who asks")
    for name in sorted(frozenset[str]().union(*(question.tables for question in questions))):
        if analyst is not None and analyst not in catalog.table(name).analysts:
            raise InvalidValue(f"{name}: who asks must be named in the policy", analyst)


def list_prices(
    plans: Sequence[AggregationPlan],
    catalog: Catalog,
    analyst: str | None,
    versions: Versions,
    known: Mapping[str, Account],
) -> dict[str, LedgerPrice]:
    """Per account, what the plans cost that it pays for; portions where they concern some people alone.

    The account of a table pays for the plans that read it, and so does that of the analyst; the account of people pays
    for all plans about them, each once. Where a unit is in one period, each of these is the account of a period, and
    pays for the plans that read it. ``known`` are the accounts of the ledger: who has one is charged, also while the
    policy states no cap for them.
    """
    prices: dict[str, LedgerPrice] = {}
    for name in versions.tables:
        table = catalog.table(name)
        for period in list_budget_periods(plans, table):
            reading = [plan for plan in plans if _reads(plan, name, period)]
            at = versions.at(period)
            for account in _accounts(table, analyst, known, period):
                prices[account] = _price(reading, table, at, _allowance(account, table, known))
    for name in versions.tables:
        prices |= _prices_of_people(name, plans, catalog, versions, known)
    return prices


def list_budget_periods(plans: Iterable[AggregationPlan], table: Table) -> list[str | None]:
    """The periods of a table that plans are charged to, each by itself; None where it has one budget for good."""
    if not table.is_by_period:
        return [None]
    return [*sorted({period for plan in plans for name, period in _periods(plan) if name == table.name})]


def _prices_of_people(
    name: str, plans: Sequence[AggregationPlan], catalog: Catalog, versions: Versions, known: Mapping[str, Account]
) -> dict[str, LedgerPrice]:
    """What the people of a table are charged: for good, in each period that is read, and over all of them."""
    table, domain, person = catalog.table(name), catalog.unit_domain(name), catalog.person_domain(name)
    if domain is None or person is None:
        return {}
    same = [other for other in versions.tables if catalog.unit_domain(other) == domain]
    about = [plan for plan in plans if not _tables(plan).isdisjoint(same)]
    prices: dict[str, LedgerPrice] = {}
    for period in list_budget_periods(plans, table):
        account = find_unit_account(domain, period)
        if account in known:
            reading = [plan for plan in about if any(_reads(plan, other, period) for other in same)]
            prices[account] = _price(reading, catalog.table(same[0]), versions.at(period), known[account].allowance)
    lifetime = find_unit_account(person)
    if table.unit_per is not None and lifetime in known:
        prices[lifetime] = _price_over_periods(about, known[lifetime].allowance)
    return prices


def _price_over_periods(plans: list[AggregationPlan], allowance: Allowance) -> LedgerPrice:
    """What plans cost a person who is in all the periods that each of them reads."""
    found = [
        price_for_periods(
            plan.loss,
            max(1, len({period for _, period in _periods(plan)})),
            allowance.measure,
            plan.delta,
            allowance.order,
            is_divided=False,
        )
        for plan in plans
    ]
    pure = None if any(one.pure is None for one in found) else sum(one.pure or 0 for one in found)
    return LedgerPrice(sum(one.loss for one in found), sum(one.delta for one in found), pure=pure)


def _reads(plan: AggregationPlan, table: str, period: str | None) -> bool:
    return table in _tables(plan) if period is None else (table, period) in _periods(plan)


def _periods(plan: AggregationPlan) -> frozenset[tuple[str, str]]:
    """The periods that a plan reads of tables that grow."""
    privacy = plan.block.rows.privacy
    return frozenset() if privacy is None else privacy.periods


def _tables(plan: AggregationPlan) -> frozenset[str]:
    """The protected tables that a plan reads."""
    privacy = plan.block.rows.privacy
    return frozenset(() if privacy is None else privacy.tables)


def _allowance(account: str, table: Table, known: Mapping[str, Account]) -> Allowance:
    if account in known:
        return known[account].allowance
    if find_period(account) is not None:
        rule = f"{table.name}: who asks must have had a budget when {find_period(account)} closed"
        raise InvalidValue(rule, account, "ask about later periods")
    budget = list_caps(table).get(account, table.budget)
    if budget is None:
        raise AssertionError("a protected table has a budget")
    return Allowance.of(budget.loss, budget.delta_for_keys)


def _price(
    plans: list[AggregationPlan], table: Table, versions: Mapping[str, str], allowance: Allowance
) -> LedgerPrice:
    """What the plans cost. A plan about some people may be charged to them or to everybody: both are never too little.

    Who is replaced by another touches two keys. A plan about several was priced for both at once, and charging it to
    each of them may count it twice; so the cheaper of the two ways is taken.
    """
    known = [plan.block.restriction for plan in plans]
    if table.neighbours is not Neighbours.REPLACE_ONE:
        return _charged(plans, known, versions, allowance)
    single = [only if only is not None and len(only.keys) == 1 else None for only in known]
    return min((_charged(plans, only, versions, allowance) for only in (known, single)), key=_of_replacing)


def _of_replacing(price: LedgerPrice) -> int:
    apart: dict[str, dict[str, int]] = defaultdict(dict)
    for part, key, loss, _ in price.portions:
        apart[part][key] = loss
    return total(price.loss, apart, places=2)


def _charged(
    plans: list[AggregationPlan],
    concerned: list[PartitionFilter | None],
    versions: Mapping[str, str],
    allowance: Allowance,
) -> LedgerPrice:
    # Added up exactly and rounded up once, so that the parts of a question cost what the whole does.
    common = Fraction(0)
    apart: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for plan, only in zip(plans, concerned, strict=True):
        if only is None:
            common += get_magnitude(plan.loss)
        else:
            for key in only.keys:
                apart[_part(only.part, versions), key] += get_magnitude(plan.loss)
    kind, delta = plans[0].loss, sum((plan.delta for plan in plans), Fraction(0))
    measure, order = allowance.measure, allowance.order
    found = price_in_units(with_magnitude(kind, common), measure, delta, order)
    portions = []
    for where, loss in apart.items():
        one = price_in_units(with_magnitude(kind, loss), measure, order=order)
        portions.append(Portion(*where, one.loss, one.pure))
    return replace(found, portions=tuple(sorted(portions)))


def _part(part: Part, versions: Mapping[str, str]) -> str:
    """A column and the version of its data: in other data, people may have other keys."""
    table, column, moved = part
    return json.dumps([table, column, versions[table], moved], ensure_ascii=False)


def _accounts(table: Table, analyst: str | None, known: Mapping[str, Account], period: str | None) -> list[str]:
    whole = find_account(table, None, period)
    if analyst is None:
        return [whole]
    own = find_account(table, analyst, period)
    return [whole, *([own] if own in known or table.analysts.get(analyst) is not None else [])]


def find_account(table: Table, analyst: str | None = None, period: str | None = None) -> str:
    """The name of the budget of a table, or of an analyst there, for good or for one period."""
    return join_name(table.name, analyst, period)


def find_unit_account(domain: str, period: str | None = None) -> str:
    """The name of the budget of people, by what they are called, for good or for one period."""
    return join_name("", domain, period)


def find_table(account: str) -> str:
    """The name of the table that an account pays for; empty for that of people."""
    return split_name(account)[0]


def list_caps(table: Table) -> dict[str, Budget]:
    """The accounts of analysts with a cap of their own."""
    return {find_account(table, who): cap for who, cap in table.analysts.items() if cap is not None}
