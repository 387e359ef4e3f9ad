"""A question: SQL that was split, priced and planned, and has not looked at a private row.

Its price, its shape, its errors and its refusals follow from the text, the policy, the price and public tables alone.
Questions that are planned together share what they measure alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.catalog.catalog import Catalog
from discreet.query.aggregates.aggregate import Aggregate
from discreet.query.bind.multiplicity import CountAlike, count_of_nothing
from discreet.query.bind.relation import FindEnds
from discreet.query.bind.split import SplitQuery
from discreet.query.expressions.public_values import ListRows
from discreet.query.parse.clock import AsOf
from discreet.query.parse.places import refuse
from discreet.query.passes import PLANNING, QuestionDraft, split, walk
from discreet.query.plan.budget_split import Price
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.run.fingerprint import compute_fingerprint

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
    pieces: tuple[PlannedQuestion, ...] = ()
    """Where it is asked once for each period that it reads (`divide.py`), these questions, in order."""

    @property
    def asked(self) -> tuple[PlannedQuestion, ...]:
        """What is charged by itself: the questions of its periods, or the question."""
        return self.pieces or (self,)

    @property
    def period(self) -> str:
        """The one period that a question reads, where it is a piece of another."""
        (found,) = {name for plan in self.plans for name in plan.periods}
        return found

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
    as_of: AsOf | None = None,
) -> PlannedQuestion:
    """Split a query and plan its blocks for ``price``; ``delta`` is there for keys that are not public."""
    query = split(text, catalog, dialect, count_alike=count_alike, find_ends=find_ends, as_of=as_of)
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
    if not any(query.blocks for query in queries):
        return [PlannedQuestion(query, (), None) for query in queries]
    if price is None:
        raise refuse(queries[0].above, "a question about a protected table needs a price", "pass epsilon=")
    draft = walk(QuestionDraft(queries=queries, price=price, delta=delta, public_values=public_values), PLANNING)
    homes = iter(draft.homes)
    return [PlannedQuestion(query, tuple(draft.plans[next(homes)] for _ in query.blocks), price) for query in queries]


def _within(plan: AggregationPlan, aggregate: Aggregate, confidence: float) -> float | None:
    found = plan.form_of(aggregate)
    return None if found is None else found[1].reach(plan.parts[found[0]].noise, confidence)
