"""Charging: which accounts pay how much for questions that were planned together, and who may ask at all."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from fractions import Fraction

from discreet.catalog.budget import Budget
from discreet.catalog.catalog import Catalog
from discreet.catalog.names import checked_text
from discreet.catalog.table import Table
from discreet.curator.allowance import Measure, Portion, Price, price_in_units
from discreet.curator.spending import total
from discreet.errors import InvalidValue
from discreet.privacy.neighbours import Neighbours
from discreet.query.plan import BlockPlan
from discreet.query.question import Question
from discreet.query.restriction import Part, Restriction
from discreet.query.shares import amount_of, of_amount

__all__ = ["account_of", "caps_of", "check_analyst", "plans_of", "prices_of", "table_of"]


def plans_of(questions: Iterable[Question]) -> list[BlockPlan]:
    """What is measured for these questions, each once."""
    return list({id(plan): plan for question in questions for plan in question.plans}.values())


def check_analyst(questions: Sequence[Question], catalog: Catalog, analyst: str | None) -> None:
    """Refuse an analyst whom a table's policy does not name."""
    if analyst is not None:
        checked_text(analyst, "who asks")
    for name in sorted(frozenset[str]().union(*(question.tables for question in questions))):
        if analyst is not None and analyst not in catalog.table(name).analysts:
            raise InvalidValue(f"{name}: who asks must be named in the policy", analyst)


def prices_of(
    plans: Sequence[BlockPlan],
    catalog: Catalog,
    analyst: str | None,
    versions: Mapping[str, str],
    known: Container[str] = (),
) -> dict[str, Price]:
    """Per account, what the plans that read its table cost; portions where they concern some people alone.

    ``known`` are the accounts of the ledger: who has one is charged, also while the policy states no cap for them.
    """
    prices: dict[str, Price] = {}
    for name in versions:
        table = catalog.table(name)
        reading = [plan for plan in plans if plan.block.rows.privacy and name in plan.block.rows.privacy.tables]
        price = _price(reading, table, versions)
        prices |= dict.fromkeys(_accounts(table, analyst, known), price)
    return prices


def _price(plans: list[BlockPlan], table: Table, versions: Mapping[str, str]) -> Price:
    """What the plans cost. A plan about some people may be charged to them or to everybody: both are never too little.

    Who is replaced by another touches two keys. A plan about several was priced for both at once, and charging it to
    each of them may count it twice; so the cheaper of the two ways is taken.
    """
    if table.neighbours is not Neighbours.REPLACE_ONE:
        return _charged(plans, [plan.block.restriction for plan in plans], table, versions)
    known = [plan.block.restriction for plan in plans]
    single = [only if only is not None and len(only.keys) == 1 else None for only in known]
    return min((_charged(plans, only, table, versions) for only in (known, single)), key=_of_replacing)


def _of_replacing(price: Price) -> int:
    apart: dict[str, dict[str, int]] = defaultdict(dict)
    for part, key, loss in price.portions:
        apart[part][key] = loss
    return total(price.loss, apart, places=2)


def _charged(
    plans: list[BlockPlan], concerned: list[Restriction | None], table: Table, versions: Mapping[str, str]
) -> Price:
    measure = Measure.PURE if table.budget is None or table.budget.adds_up else Measure.CONCENTRATED
    # Added up exactly and rounded up once, so that the parts of a question cost what the whole does.
    common = Fraction(0)
    apart: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for plan, only in zip(plans, concerned, strict=True):
        if only is None:
            common += amount_of(plan.loss)
        else:
            for key in only.keys:
                apart[_part(only.part, versions), key] += amount_of(plan.loss)
    kind, delta = plans[0].loss, sum((plan.delta for plan in plans), Fraction(0))
    in_units = price_in_units(of_amount(kind, common), measure, delta) if common or delta else Price(0)
    portions = [Portion(*where, price_in_units(of_amount(kind, loss), measure).loss) for where, loss in apart.items()]
    return Price(in_units.loss, in_units.delta, tuple(sorted(portions)))


def _part(part: Part, versions: Mapping[str, str]) -> str:
    """A column and the version of its data: in other data, people may have other keys."""
    table, column, moved = part
    return json.dumps([table, column, versions[table], moved], ensure_ascii=False)


def _accounts(table: Table, analyst: str | None, known: Container[str]) -> list[str]:
    if analyst is None:
        return [account_of(table)]
    own = account_of(table, analyst)
    return [account_of(table), *([own] if own in known or table.analysts.get(analyst) is not None else [])]


def account_of(table: Table, analyst: str | None = None) -> str:
    """The name of a budget; a slash stands between table and analyst alone, so no two budgets share a name."""
    parts = [table.name] if analyst is None else [table.name, analyst]
    return "/".join(part.replace("%", "%25").replace("/", "%2F") for part in parts)


def table_of(account: str) -> str:
    """The name of the table that an account pays for."""
    return account.partition("/")[0].replace("%2F", "/").replace("%25", "%")


def caps_of(table: Table) -> dict[str, Budget]:
    """The accounts of analysts with a cap of their own."""
    return {account_of(table, who): cap for who, cap in table.analysts.items() if cap is not None}
