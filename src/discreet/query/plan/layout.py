"""The layout of a block: which aggregates are read from which part, and how much each part matters.

Aggregates of one column under one condition share a tally. COUNT(*) is read from a tally that is there anyway: where
that tally leaves rows out, it counts the rest as well. A sum that nothing goes with stays a plain sum.

A part's importance is the sum of the variances of what is read from it, each in units of what one row can contribute,
when the noise on its integers has variance one. `shares` divides the price by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.query.aggregates.aggregate import Aggregate, SummedAggregate
from discreet.query.aggregates.statistics import Moments, PlainSum, RowStatistic, Statistic
from discreet.query.expressions.expression import Expression
from discreet.query.plan.disjoint import find_disjoint_families

__all__ = ["StatisticGroup", "share_statistics"]


_Families = dict[tuple[Expression | None, Expression | None], list[SummedAggregate]]


@dataclass(frozen=True)
class StatisticGroup:
    """A part and what is read from it."""

    part: Statistic
    aggregates: tuple[SummedAggregate, ...]

    @property
    def importance(self) -> Fraction:
        """The sum of the variances of what is read from it, at noise of variance one."""
        return sum((aggregate.importance(self.part) for aggregate in self.aggregates), Fraction(0))


def share_statistics(aggregates: Sequence[Aggregate]) -> list[StatisticGroup]:
    """The parts that answer these aggregates; choices, which are not sums, are left to others."""
    families: _Families = {}
    apart: list[StatisticGroup] = []
    for aggregate in aggregates:
        if not isinstance(aggregate, SummedAggregate):
            continue
        part = aggregate.statistic
        if isinstance(part, RowStatistic):
            families.setdefault((part.argument, part.condition), []).append(aggregate)
        else:
            apart.append(StatisticGroup(part, (aggregate,)))
    _share_counts(families)
    laid = [_family(argument, condition, found) for (argument, condition), found in families.items()]
    return _share_all_rows(laid) + apart


def _share_counts(families: _Families) -> None:
    """A count of rows is the count of a column that is never missing, under the same condition."""
    for condition in [condition for argument, condition in families if argument is None]:
        full = [key for key in families if key[1] == condition and key[0] is not None and not key[0].nullable]
        if full:
            families[full[0]] += families.pop((None, condition))


def _family(argument: Expression | None, condition: Expression | None, found: list[SummedAggregate]) -> StatisticGroup:
    """One part for aggregates of the same values and rows: the one that all want, or moments that serve all."""
    wanted = {aggregate.statistic for aggregate in found}
    degree = max(part.degree for part in wanted)
    part = Moments(argument, condition, degree) if len(wanted) > 1 else wanted.pop()
    return StatisticGroup(part, tuple(found))


def _share_all_rows(laid: list[StatisticGroup]) -> list[StatisticGroup]:
    """Read COUNT(*) from the smallest part beside it, which then counts the rows it leaves out as well.

    Parts of which a row counts in one at most stay as they are, because together they cost no more than one.
    """
    everything = next((each for each in laid if each.part == Moments(None, None, 0)), None)
    others = [each for each in laid if each is not everything]
    alone = [others[family[0]] for family in find_disjoint_families([each.part for each in others]) if len(family) == 1]
    if everything is None or not alone:
        return laid
    chosen = min(alone, key=lambda each: each.part.size)
    part = chosen.part
    if isinstance(part, PlainSum):
        part = Moments(part.argument, part.condition, 1)
    if isinstance(part, Moments) and part.leaves_out:
        part = replace(part, rest=True)
    shared = StatisticGroup(part, (*chosen.aggregates, *everything.aggregates))
    return [shared if each is chosen else each for each in others]
