"""A standing series, as its readers see it: every figure that was released, with its error bar, and what comes next.

Reading is free: everything is computed from what the ledger keeps, and no row is read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from discreet.catalog.period import Period
from discreet.curator.answers.cell import Interval, with_ends
from discreet.curator.answers.plot import extra
from discreet.curator.ledger.units import amount, as_json
from discreet.curator.series.certify import certify_step
from discreet.curator.series.plan import SeriesPlan
from discreet.curator.series.records import BegunSeries, SeriesStep, StepOutcome, is_stopped, list_steps, record_stop
from discreet.curator.series.release import read_at_limit, read_released
from discreet.curator.series.steps import find_plan
from discreet.errors import InvalidValue
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.query.answer.answer import compute_answer
from discreet.query.divide import join_measured
from discreet.query.expressions.public_values import arrow_type
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.run.measure import Groups, Measured

if TYPE_CHECKING:
    from discreet.curator.curator import Curator

__all__ = ["StandingSeries", "may_read"]


@dataclass(frozen=True)
class StandingSeries:
    """A question that is answered for every period when it closes; it shows what was released when it is looked at."""

    curator: Curator = field(repr=False)
    """Who answers it."""
    begun: BegunSeries = field(repr=False)
    """What the ledger knows of it."""
    confidence: float = 0.95
    """How often an error bar covers the truth, at least."""
    analyst: str | None = None
    """Who looks at it; None for the owner."""

    @property
    def id(self) -> str:
        """What it is called."""
        return self.begun.terms.id

    @property
    def sql(self) -> str:
        """The question."""
        return self.begun.terms.sql

    @property
    def price(self) -> Pure | ZeroConcentrated:
        """What it costs: once where units are people, else for each period."""
        return self.begun.terms.price

    @property
    def is_stopped(self) -> bool:
        """Whether it was ended before time."""
        return is_stopped(self.curator.ledger, self.begun.terms)

    @property
    def next(self) -> Period | None:
        """The period that is released next, once it closes; None where the series is over."""
        done = {one.period for one in self._steps()}
        coming = [one for one in self.begun.terms.periods if one.name not in done]
        return None if self.is_stopped or not coming else coming[0]

    @property
    def periods(self) -> Mapping[str, str]:
        """What became of each period so far, in words."""
        return {one.period: one.outcome.value for one in self._steps()}

    @property
    def table(self) -> pa.Table:
        """All figures that were released."""
        return self._shown()[0]

    @property
    def error(self) -> dict[str, list[Interval | None]]:
        """Per column that is an aggregate, an error bar per row."""
        return self._shown()[1]

    @property
    def at_limit(self) -> pa.Table:
        """Per period, about how many people reached the number of their rows that count; later ones do not."""
        plan = self._plan()
        released = [one for one in self._released() if plan.at_limit is not None]
        reach = 0.0 if plan.at_limit is None else float(plan.at_limit.law.error(self.confidence))
        people = [read_at_limit(one.receipt.answer or b"") for one in released]
        columns = {
            "period": pa.array([one.period for one in released], pa.string()),
            "people": pa.array([max(one, 0) for one in people], pa.int64()),
            "people_low": pa.array([max(one - reach, 0.0) for one in people], pa.float64()),
            "people_high": pa.array([max(one + reach, 0.0) for one in people], pa.float64()),
        }
        return pa.table(columns)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is clamped, weighted or left out, in plain words."""
        notes, people = self._plan().notes(self.confidence), sum(self.at_limit["people"].to_pylist())
        late = f"About {people:,} people reached the limit; what comes later of them is not counted."
        return (*notes, late) if self.begun.terms.is_once else notes

    @property
    def certificates(self) -> dict[str, dict[str, Any]]:
        """Per period that was released, its certificate."""
        plan, begun = self._plan(), self.begun
        times = {one.name: one for one in begun.terms.periods}
        found = {}
        for one in self._released():
            measured = read_released(one.receipt.answer or b"", plan.over([times[one.period]]))
            found[one.period] = certify_step(self.curator, begun, plan, one, measured)
        return found

    def to_arrow(self, *, intervals: bool = False) -> pa.Table:
        """All figures; ``intervals`` adds the ends of error bars, as columns x_low and x_high."""
        table, error = self._shown()
        return with_ends(table, error) if intervals else table

    def to_pandas(self, *, intervals: bool = False) -> Any:
        """All figures as a pandas DataFrame; ``intervals`` adds the columns x_low and x_high."""
        extra("pandas", "frames")
        return self.to_arrow(intervals=intervals).to_pandas()

    def stop(self, *, by: str | None = None) -> None:
        """End the series now, for its owner or who subscribed; ``by`` whom. Nothing is refunded."""
        if self.analyst is not None and self.analyst != self.begun.terms.analyst:
            raise InvalidValue("a series is stopped by its owner, or by who subscribed", self.analyst)
        record_stop(self.curator.ledger, self.begun.terms, by or self.analyst)

    def to_dict(self) -> dict[str, Any]:
        """What there is to say about it, for programs, without its figures."""
        terms, coming = self.begun.terms, self.next
        return {
            "id": self.id,
            "sql": self.sql,
            "table": terms.table,
            "price": as_json(self.price),
            "paid": "once" if terms.is_once else "for each period",
            "charge": self.begun.charge,
            "first": terms.periods[0].name,
            "last": terms.periods[-1].name,
            "periods": dict(self.periods),
            "next": None if coming is None else coming.name,
            "stopped": self.is_stopped,
            "rows_per_unit": terms.policy.rows_per_unit,
            "readers": list(terms.readers),
            "analyst": terms.analyst,
        }

    def __str__(self) -> str:
        terms, coming = self.begun.terms, self.next
        when = "once" if terms.is_once else "for each period"
        state = "stopped" if self.is_stopped else "over" if coming is None else f"next: {coming.name}"
        done = f"{len(self._released())} of {len(terms.periods)} periods"
        return f"{self.id}  {amount(self.price)} {when}  {done}  {state}  {self.sql}"

    # What was released.

    def _steps(self) -> list[SeriesStep]:
        return list_steps(self.curator.ledger, self.begun)

    def _released(self) -> list[SeriesStep]:
        return [one for one in self._steps() if one.outcome is StepOutcome.RELEASED]

    def _plan(self) -> SeriesPlan:
        return find_plan(self.curator, self.begun.terms)

    def _shown(self) -> tuple[pa.Table, dict[str, list[Interval | None]]]:
        plan, released = self._plan(), self._released()
        measured = _read_all(plan, released) if released else _nothing(plan.plan)
        return compute_answer(plan.question.split, [measured], {}, self.confidence, raw=False)


def _read_all(plan: SeriesPlan, released: list[SeriesStep]) -> Measured:
    """What was released, as one answer."""
    times = {one.name: one for one in plan.terms.periods}
    periods = [times[one.period] for one in released]
    whole = replace(plan.question, plans=(plan.over(periods),))
    pairs = zip(released, periods, strict=True)
    return join_measured(whole, [[read_released(one.receipt.answer or b"", plan.over([at]))] for one, at in pairs])[0]


def _nothing(plan: AggregationPlan) -> Measured:
    """An answer before there is one: columns without rows."""
    none = np.empty(0, np.int64)
    keys = [pa.array([], arrow_type(key)) for key in plan.block.keys]
    sums = [[none] * priced.part.size for priced in plan.parts]
    return Measured(plan, Groups(plan.block.keys, keys, none), sums, [none] * len(plan.choices))


def may_read(begun: BegunSeries, analyst: str | None, named: Collection[str]) -> bool:
    """Whether somebody may see a series: its owner, who subscribed, and its readers while the policy names them."""
    terms = begun.terms
    return analyst is None or (analyst in (*terms.readers, terms.analyst) and analyst in named)
