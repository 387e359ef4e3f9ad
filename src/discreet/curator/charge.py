"""Charging: which accounts pay how much for questions that were planned together, and who may ask at all.

Parallel composition in the ledger: questions about different people cost the largest price, not the sum.

Claim. Let a column have one value per unit, and let every charge concern either all units or only those with one of
some values of the column, its keys. A unit with key k is touched by the charges to all and by those to k; the answers
to the rest have the same law whether the unit is there or not, however the questions were chosen. So under
add-remove-one the whole loss is at most common + max over k of what k was charged. Where a unit is replaced by another,
two keys are touched: the two largest add up. Several columns are added, and so are versions of the data, and bounds and
defaults that values are moved to, between which a unit may change its key.

>>> spent = {"ward": {"A": 3, "B": 5}, "sex": {"f": 1}}
>>> total(10, spent, places=1), total(10, spent, places=2)
(16, 19)
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from fractions import Fraction
from heapq import nlargest

from discreet.catalog.budget import Budget
from discreet.catalog.catalog import Catalog
from discreet.catalog.names import check_text
from discreet.catalog.table import Table
from discreet.curator.ledger.units import BudgetMeasure, LedgerPrice, Portion, price_in_units
from discreet.errors import InvalidValue
from discreet.privacy.neighbours import Neighbours
from discreet.query.bind.relation import Part, PartitionFilter
from discreet.query.plan.budget_split import get_magnitude, with_magnitude
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.question import PlannedQuestion

__all__ = ["check_analyst", "find_account", "find_table", "largest", "list_caps", "list_plans", "list_prices", "total"]


def total(common: int, apart: Mapping[str, Mapping[str, int]], places: int) -> int:
    """The loss of the worst-off unit: what all were charged, and the largest portions of every column."""
    return common + sum(largest(keys.values(), places) for keys in apart.values())


def largest(portions: Iterable[int], places: int) -> int:
    """The sum of the largest portions, as many as one neighbour can touch."""
    return sum(nlargest(places, portions))


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
    known: Container[str] = (),
) -> dict[str, LedgerPrice]:
    """Per account, what the plans that read its table cost; portions where they concern some people alone.

    ``known`` are the accounts of the ledger: who has one is charged, also while the policy states no cap for them.
    """
    prices: dict[str, LedgerPrice] = {}
    for name in versions:
        table = catalog.table(name)
        reading = [plan for plan in plans if plan.block.rows.privacy and name in plan.block.rows.privacy.tables]
        price = _price(reading, table, versions)
        prices |= dict.fromkeys(_accounts(table, analyst, known), price)
    return prices


def _price(plans: list[AggregationPlan], table: Table, versions: Mapping[str, str]) -> LedgerPrice:
    """What the plans cost. A plan about some people may be charged to them or to everybody: both are never too little.

    Who is replaced by another touches two keys. A plan about several was priced for both at once, and charging it to
    each of them may count it twice; so the cheaper of the two ways is taken.
    """
    if table.neighbours is not Neighbours.REPLACE_ONE:
        return _charged(plans, [plan.block.restriction for plan in plans], table, versions)
    known = [plan.block.restriction for plan in plans]
    single = [only if only is not None and len(only.keys) == 1 else None for only in known]
    return min((_charged(plans, only, table, versions) for only in (known, single)), key=_of_replacing)


def _of_replacing(price: LedgerPrice) -> int:
    apart: dict[str, dict[str, int]] = defaultdict(dict)
    for part, key, loss in price.portions:
        apart[part][key] = loss
    return total(price.loss, apart, places=2)


def _charged(
    plans: list[AggregationPlan], concerned: list[PartitionFilter | None], table: Table, versions: Mapping[str, str]
) -> LedgerPrice:
    measure = BudgetMeasure.PURE if table.budget is None or table.budget.adds_up else BudgetMeasure.CONCENTRATED
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
    in_units = price_in_units(with_magnitude(kind, common), measure, delta) if common or delta else LedgerPrice(0)
    portions = [
        Portion(*where, price_in_units(with_magnitude(kind, loss), measure).loss) for where, loss in apart.items()
    ]
    return LedgerPrice(in_units.loss, in_units.delta, tuple(sorted(portions)))


def _part(part: Part, versions: Mapping[str, str]) -> str:
    """A column and the version of its data: in other data, people may have other keys."""
    table, column, moved = part
    return json.dumps([table, column, versions[table], moved], ensure_ascii=False)


def _accounts(table: Table, analyst: str | None, known: Container[str]) -> list[str]:
    if analyst is None:
        return [find_account(table)]
    own = find_account(table, analyst)
    return [find_account(table), *([own] if own in known or table.analysts.get(analyst) is not None else [])]


def find_account(table: Table, analyst: str | None = None) -> str:
    """The name of a budget; a slash stands between table and analyst alone, so no two budgets share a name."""
    parts = [table.name] if analyst is None else [table.name, analyst]
    return "/".join(part.replace("%", "%25").replace("/", "%2F") for part in parts)


def find_table(account: str) -> str:
    """The name of the table that an account pays for."""
    return account.partition("/")[0].replace("%2F", "/").replace("%25", "%")


def list_caps(table: Table) -> dict[str, Budget]:
    """The accounts of analysts with a cap of their own."""
    return {find_account(table, who): cap for who, cap in table.analysts.items() if cap is not None}
