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
from dataclasses import replace
from fractions import Fraction

from discreet.catalog.budget import Budget
from discreet.catalog.catalog import Catalog
from discreet.catalog.names import check_text
from discreet.catalog.table import Table
from discreet.curator.ledger.account_names import AccountKind, find_period, join_name, split_name
from discreet.curator.ledger.chain import Account
from discreet.curator.ledger.units import Allowance, LedgerPrice, Portion, price_in_units, total
from discreet.errors import InvalidValue
from discreet.privacy.neighbours import Neighbours
from discreet.query.bind.relation import Part, PartitionFilter
from discreet.query.plan.budget_split import get_magnitude, with_magnitude
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.question import PlannedQuestion

__all__ = [
    "check_analyst",
    "find_account",
    "find_period",
    "find_table",
    "find_unit_account",
    "list_caps",
    "list_plans",
    "list_prices",
]


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
    versions: Mapping[str, str],
    known: Mapping[str, Account],
) -> dict[str, LedgerPrice]:
    """Per account, what the plans cost that it pays for; portions where they concern some people alone.

    The account of a table pays for the plans that read it, and so does that of the analyst; the account of people pays
    for all plans about them, each once. ``known`` are the accounts of the ledger: who has one is charged, also while
    the policy states no cap for them.
    """
    prices: dict[str, LedgerPrice] = {}
    for name in versions:
        table = catalog.table(name)
        reading = [plan for plan in plans if name in _tables(plan)]
        for account in _accounts(table, analyst, known):
            prices[account] = _price(reading, table, versions, _allowance(account, table, known))
    for account in sorted(one for one in known if AccountKind.of(one) is AccountKind.UNIT):
        tables = [name for name in versions if _unit(name, catalog) == account]
        about = [plan for plan in plans if not _tables(plan).isdisjoint(tables)]
        prices[account] = _price(about, catalog.table(tables[0]), versions, known[account].allowance)
    return prices


def _tables(plan: AggregationPlan) -> frozenset[str]:
    """The protected tables that a plan reads."""
    privacy = plan.block.rows.privacy
    return frozenset(() if privacy is None else privacy.tables)


def _unit(table: str, catalog: Catalog) -> str | None:
    domain = catalog.unit_domain(table)
    return None if domain is None else find_unit_account(domain)


def _allowance(account: str, table: Table, known: Mapping[str, Account]) -> Allowance:
    if account in known:
        return known[account].allowance
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


def _accounts(table: Table, analyst: str | None, known: Mapping[str, Account]) -> list[str]:
    if analyst is None:
        return [find_account(table)]
    own = find_account(table, analyst)
    return [find_account(table), *([own] if own in known or table.analysts.get(analyst) is not None else [])]


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
