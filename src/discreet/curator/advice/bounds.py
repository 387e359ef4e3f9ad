"""Bounds for a column, found by one paid histogram over round bins.

A bin counts where its noisy count is beyond its error. The error is taken at a confidence of 1 - 5 %/bins, so that with
probability 95 % no empty bin of all of them counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.catalog.column import Column, Value, write_literal
from discreet.catalog.policy.write import scalar
from discreet.curator.advice.histogram import (
    AS_TAKEN_IN,
    HistogramBins,
    bins_for,
    drop_bounds,
    find_protected_table,
    is_unit_column,
    the_column,
)
from discreet.curator.answers.answer import Answer
from discreet.engines.parameters import quote
from discreet.errors import InvalidValue
from discreet.exact.rational import Number

if TYPE_CHECKING:
    from discreet.curator.curator import Curator

__all__ = ["SuggestedBounds", "find_range", "suggest_bounds", "together"]


_CONFIDENCE = Fraction(95, 100)
_TAIL = Fraction(1, 200)
"""The share of the values that may lie outside on each side."""
_NEAR = 10
"""How many times smaller an end must be than the other to be near zero."""


@dataclass(frozen=True)
class SuggestedBounds:
    """Round bounds that hold about 99 % of the values that can be told from noise. It unpacks as lower and upper."""

    column: Column
    """The column as the policy has it now."""
    lower: Value | None
    """The lower bound; None where nothing could be told from noise."""
    upper: Value | None
    """The upper bound; None where nothing could be told from noise."""
    share: float
    """How much of what could be seen lies between them, about."""
    least: float
    """How many rows a bin must hold to be told from noise; fewer may lie outside, unseen."""
    goes_on: bool
    """Whether there are values beyond the last place that was looked at, so that a bound is only where that was."""
    answer: Answer
    """The paid answer: rows per bin."""

    def __iter__(self) -> Iterator[Value | None]:
        return iter((self.lower, self.upper))

    @property
    def policy(self) -> str:
        """What to write into the policy; nothing where nothing was found."""
        if self.lower is None or self.upper is None:
            return ""
        ends = f"lower: {_stated(self.lower)}, upper: {_stated(self.upper)}"
        return f"{scalar(self.column.name)}: {{type: {self.column.type.value}, {ends}}}"

    def __str__(self) -> str:
        if not self.policy:
            return (
                f"{self.column.name}: no bin can be told from noise; it takes about {self.least:,.0f} rows. "
                "Spend more, or state bounds from common knowledge."
            )
        beyond = " Values go on beyond the last place that was looked at." * self.goes_on
        before = self.column.bounds
        now = (
            "" if before is None else f" The policy says {write_literal(before[0])} to {write_literal(before[1])} now."
        )
        return (
            f"{self.policy}\n"
            f"About {self.share:.1%} of the values seen lie between these bounds. "
            f"Fewer than about {self.least:,.0f} rows in one place are not told from noise.{beyond}{now}"
        )


def _stated(value: Value) -> str:
    return f'"{write_literal(value)}"' if isinstance(value, datetime) else write_literal(value)


def suggest_bounds(
    curator: Curator, table: str, column: str, epsilon: Number, analyst: str | None = None
) -> SuggestedBounds:
    """Ask for the histogram and read the bounds off it."""
    policy = find_protected_table(curator.catalog, table)
    wanted = the_column(policy, column)
    if not wanted.type.is_ordered:
        rule = f"{policy.name}: only numbers, dates and timestamps have bounds"
        raise InvalidValue(rule, f"<{wanted.name}, of type {wanted.type.value}>", "list its keys instead")
    if is_unit_column(curator.catalog, policy, wanted):
        raise InvalidValue(f"{policy.name}: the unit column names people, so it has no bounds", wanted.name)
    bins, name = bins_for(wanted.type), quote(wanted.name)
    sql = (
        f"{AS_TAKEN_IN}SELECT {bins.sql(name)} AS bin, COUNT(*) AS n "  # noqa: S608
        f"FROM {quote(policy.name)} WHERE {name} IS NOT NULL GROUP BY bin"
    )
    plain = drop_bounds(curator, policy, [wanted])
    answer = plain.ask(sql, epsilon, confidence=together(bins), analyst=analyst)
    within = plain.explain(sql, epsilon, confidence=together(bins), analyst=analyst).errors[0].within or 0.0
    return _read(wanted, bins, answer, within)


def together(bins: HistogramBins) -> float:
    """The confidence of each bin's error at which the errors of all bins hold together."""
    return float(1 - (1 - _CONFIDENCE) / len(bins))


def find_range(answer: Answer) -> dict[int, float]:
    """The rows of every bin that can be told from noise."""
    rows = zip(answer.to_rows(), answer.error["n"], strict=True)
    return {row["bin"]: float(row["n"]) for row, interval in rows if interval is not None and interval[0] > 0}


def _read(column: Column, bins: HistogramBins, answer: Answer, within: float) -> SuggestedBounds:
    seen = find_range(answer)
    if not seen:
        return SuggestedBounds(column, None, None, 0.0, within, False, answer)
    first, last = _inner(seen)
    lower, upper = _with_zero(*bins.between(first, last))
    share = sum(rows for place, rows in seen.items() if first <= place <= last) / sum(seen.values())
    goes_on = bins.is_open(first) or bins.is_open(last)
    return SuggestedBounds(column, lower, upper, share, within, goes_on, answer)


def _with_zero(lower: Value, upper: Value) -> tuple[Value, Value]:
    """An end near zero is moved to zero: sums get no more noise by it, and the values in between are kept."""
    if isinstance(lower, (int, Fraction)) and isinstance(upper, (int, Fraction)):
        if 0 < _NEAR * lower <= upper:
            return 0 * lower, upper
        if 0 > _NEAR * upper >= lower:
            return lower, 0 * upper
    return lower, upper


def _inner(seen: Mapping[int, float]) -> tuple[int, int]:
    """The first and the last bin that remain when at most the tail is cut off on each side."""
    spare = float(_TAIL) * sum(seen.values())
    return _end(sorted(seen), seen, spare), _end(sorted(seen, reverse=True), seen, spare)


def _end(order: list[int], seen: Mapping[int, float], spare: float) -> int:
    passed = 0.0
    for place in order:
        passed += seen[place]
        if passed > spare:
            return place
    raise AssertionError("the tail is less than everything")
