"""A question: SQL that was split, priced and planned, and has not looked at a private row.

Its price, its shape, its errors and its refusals follow from the text, the policy, the price and public tables alone.
Questions that are planned together share what they measure alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.catalog.catalog import Catalog
from discreet.engines.parameters import bind_parameter
from discreet.query.aggregates.aggregate import Aggregate, PrivateAggregation
from discreet.query.bind.multiplicity import CountAlike, count_of_nothing
from discreet.query.bind.relation import FindEnds
from discreet.query.bind.split import SplitQuery, split
from discreet.query.expressions.expression import Statement
from discreet.query.plan.budget_split import Price, block_shares, with_magnitude
from discreet.query.plan.fingerprint import compute_fingerprint
from discreet.query.plan.public_groups import ListRows
from discreet.query.plan.sensitivity import AggregationPlan, UnpricedPlan, plan_block, plan_without_price
from discreet.query.refusal import refuse
from discreet.query.run.contribution_bounds import write_statements

__all__ = ["ExpectedError", "PlannedQuestion", "list_tables", "prepare", "prepare_all"]


@dataclass(frozen=True)
class ExpectedError:
    """How far a column may be off, known beforehand."""

    column: str
    """What the aggregate is."""
    within: float | None
    """Half the width of its interval; None where it depends on the answer."""


@dataclass(frozen=True)
class PlannedQuestion:
    """A planned query."""

    split: SplitQuery
    plans: tuple[AggregationPlan, ...]
    """For each block of the query, the plan that measures it; questions planned together may share one."""
    price: Price | None
    """What everything that was planned together costs; None when it touches public tables alone."""

    @property
    def tables(self) -> frozenset[str]:
        """The protected tables it reads."""
        return list_tables(self.split)

    @property
    def delta(self) -> Fraction:
        """The probability that a key of one person alone is shown."""
        return sum((plan.delta for plan in self.plans), Fraction(0))

    def errors(self, confidence: float = 0.95) -> list[ExpectedError]:
        """The expected error of every aggregate, before any row is read."""
        pairs = zip(self.split.blocks, self.plans, strict=True)
        return [
            ExpectedError(aggregate.name, _within(plan, aggregate, confidence))
            for block, plan in pairs
            for aggregate in block.aggregates
        ]

    def fingerprint(self, versions: Mapping[str, str]) -> str:
        """Equal for questions that measure the same on the same data at the same price, however they are spelled."""
        return compute_fingerprint(self.plans, versions)


def list_tables(parts: SplitQuery) -> frozenset[str]:
    """The protected tables that a query reads."""
    privacies = [block.rows.privacy for block in parts.blocks]
    return frozenset(table for privacy in privacies if privacy is not None for table in privacy.tables)


def prepare(
    text: str,
    catalog: Catalog,
    price: Price | None,
    dialect: str = "duckdb",
    *,
    delta: Fraction = Fraction(0),
    public_values: ListRows | None = None,
    count_alike: CountAlike = count_of_nothing,
    find_ends: FindEnds | None = None,
) -> PlannedQuestion:
    """Split a query and plan its blocks for ``price``; ``delta`` is there for keys that are not public."""
    query = split(text, catalog, dialect, count_alike=count_alike, find_ends=find_ends)
    (question,) = prepare_all([query], price, delta=delta, public_values=public_values)
    return question


def prepare_all(
    queries: Sequence[SplitQuery],
    price: Price | None,
    *,
    delta: Fraction = Fraction(0),
    public_values: ListRows | None = None,
) -> list[PlannedQuestion]:
    """Plan queries together for one price: blocks over the same rows and groups are measured once."""
    blocks = [block for query in queries for block in query.blocks]
    if not blocks:
        return [PlannedQuestion(query, (), None) for query in queries]
    if price is None:
        raise refuse(queries[0].above, "a question about a protected table needs a price", "pass epsilon=")
    _check_units(queries, blocks)
    homes, together = _merged(blocks)
    plans = _planned([plan_without_price(block, price, public_values) for block in together], price, delta)
    for plan in plans:
        write_statements(plan)  # what is too large, or too much work, is refused where it is written
    places = iter(homes)
    return [PlannedQuestion(query, tuple(plans[next(places)] for _ in query.blocks), price) for query in queries]


def _check_units(queries: Sequence[SplitQuery], blocks: list[PrivateAggregation]) -> None:
    kinds = {(block.rows.privacy.unit, block.rows.privacy.neighbours) for block in blocks if block.rows.privacy}
    if len(kinds) > 1:
        rule = f"one question asks about one kind of person, not {' and '.join(sorted(unit for unit, _ in kinds))}"
        raise refuse(queries[0].above, rule, "ask one question about each")


def _merged(blocks: list[PrivateAggregation]) -> tuple[list[int], list[PrivateAggregation]]:
    """Blocks over the same rows and groups become one with all their aggregates; and which became which."""
    found: dict[str, int] = {}
    homes: list[int] = []
    together: list[PrivateAggregation] = []
    for block in blocks:
        same = _rows_and_keys(block)
        if same not in found:
            found[same] = len(together)
            together.append(PrivateAggregation(len(together) + 1, block.rows, block.keys, block.places, top=block.top))
        homes.append(found[same])
        for aggregate in block.aggregates:
            together[found[same]].ask(aggregate)
    return homes, together


def _rows_and_keys(block: PrivateAggregation) -> str:
    statement = Statement()
    keys = [key.write(statement) for key in block.keys]
    text = block.rows.write(statement)
    asked = [block.top, *block.aggregates] if block.top else []  # a selection measures nothing for others
    return repr((keys, text, [bind_parameter(value) for value in statement.parameters], asked))


def _planned(drafts: list[UnpricedPlan], price: Price, delta: Fraction) -> list[AggregationPlan]:
    """Divide the price between the blocks, and the δ evenly between those whose keys are not public."""
    unknown = sum(draft.listing is None for draft in drafts)
    each = delta / unknown if unknown else Fraction(0)
    shares = block_shares([draft.block for draft in drafts], [draft.importances for draft in drafts], price)
    return [plan_block(draft, with_magnitude(price, share), each) for draft, share in zip(drafts, shares, strict=True)]


def _within(plan: AggregationPlan, aggregate: Aggregate, confidence: float) -> float | None:
    found = plan.form_of(aggregate)
    return None if found is None else found[1].reach(plan.parts[found[0]].noise, confidence)
