"""From noisy integers to the values people asked for, each with an interval, as the table that is queried above.

Values are made plausible: counts are whole and not negative, means lie within their bounds, deviations are real. This
is post-processing and costs nothing; ``raw`` leaves them as they are. Intervals for ratios are formed from intervals
for their parts that hold together, so they cover at least as often as they say.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.noise.law import open_probability
from discreet.query.block import Aggregate, AggregateKind
from discreet.query.domains import arrow_type
from discreet.query.expression import Expression
from discreet.query.measure import Measured
from discreet.query.plan import Noise

__all__ = ["Band", "noisy_table"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Band:
    """A value per group with an interval around it; NaN ends where no interval is known."""

    value: Floats
    low: Floats
    high: Floats


def noisy_table(measured: Measured, confidence: float, raw: bool) -> pa.Table:
    """The block's table: k0, k1, … for groups; a0, a0_low, a0_high, a1, … for aggregates."""
    block = measured.plan.block
    columns: dict[str, pa.Array] = {}
    for k, key in enumerate(block.keys):
        columns[f"k{k}"] = pa.array([group[k] for group in measured.groups], arrow_type(key))
    for a, aggregate in enumerate(block.aggregates):
        band = _band(measured, aggregate, confidence, raw)
        whole = aggregate.kind is AggregateKind.COUNT and not raw
        columns[f"a{a}"] = pa.array(band.value.astype(np.int64) if whole else band.value)
        columns[f"a{a}_low"], columns[f"a{a}_high"] = pa.array(band.low), pa.array(band.high)
    if not columns:
        columns["k"] = pa.array([0])
    return pa.table(columns)


def _band(measured: Measured, aggregate: Aggregate, confidence: float, raw: bool) -> Band:
    choice = measured.plan.choice_for(aggregate)
    if choice is not None:
        unknown = np.full(len(measured.groups), np.nan)
        return Band(measured.chosen[choice], unknown, unknown)
    if aggregate.kind is AggregateKind.COUNT:
        return _count_band(measured, aggregate, confidence, raw)
    if aggregate.kind is AggregateKind.SUM:
        return _bands(measured, aggregate, confidence)[0]
    if aggregate.kind is AggregateKind.MEAN:
        return _mean_band(measured, aggregate, confidence, raw)
    return _spread_band(measured, aggregate, confidence, raw)


def _bands(measured: Measured, aggregate: Aggregate, confidence: float) -> list[Band]:
    """The bands of an aggregate's parts: its count, its sum and its sum of squares, as far as it has them."""
    return [_sum_band(measured, part, confidence) for part in measured.plan.parts_of(aggregate)]


def _count_band(measured: Measured, aggregate: Aggregate, confidence: float, raw: bool) -> Band:
    (band,) = _bands(measured, aggregate, confidence)
    if raw:
        return band
    return Band(np.maximum(np.rint(band.value), 0), np.maximum(band.low, 0), np.maximum(band.high, 0))


@lru_cache(maxsize=1024)  # an exact quantile takes a while, and every column of a block asks for it
def _reach(noise: Noise, confidence: float) -> float:
    return float(noise.error(open_probability(confidence, "confidence")))


def _sum_band(measured: Measured, k: int, confidence: float) -> Band:
    plan = measured.plan
    unit = float(plan.unit(plan.components[k]))
    reach = _reach(plan.noises[k], confidence) * unit
    value = measured.sums[k].astype(np.float64) * unit
    return Band(value, value - reach, value + reach)


def _mean_band(measured: Measured, aggregate: Aggregate, confidence: float, raw: bool) -> Band:
    together = (1 + confidence) / 2  # each part may miss half as often, so both hold together often enough
    count, centred = _bands(measured, aggregate, together)
    centre = float(measured.plan.components[measured.plan.parts_of(aggregate)[1]].centre)
    ends = _bounds(aggregate.argument)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = centre + np.where(count.value > 0, centred.value / count.value, 0.0)
        corners = [c / n for c in (centred.low, centred.high) for n in (np.maximum(count.low, 0), count.high)]
    low, high = centre + np.min(corners, axis=0), centre + np.max(corners, axis=0)
    sure = count.low > 0
    low, high = np.where(sure, low, ends[0]), np.where(sure, high, ends[1])
    if raw:
        return Band(value, low, high)
    return Band(np.clip(value, *ends), np.clip(low, *ends), np.clip(high, *ends))


def _spread_band(measured: Measured, aggregate: Aggregate, confidence: float, raw: bool) -> Band:
    together = 1 - (1 - confidence) / 3
    count, first, second = _bands(measured, aggregate, together)
    ends = _bounds(aggregate.argument)
    widest = (ends[1] - ends[0]) ** 2 / 4
    n = np.maximum(count.value, 1.0)
    value = second.value / n - (first.value / n) ** 2
    low, high = _spread_ends(count, first, second, widest)
    if aggregate.is_sample:
        value, low, high = (v * n / np.maximum(n - 1, 1) for v in (value, low, high))
    if not raw:
        value = np.clip(value, low, high)
    if aggregate.kind is AggregateKind.DEVIATION:
        return Band(np.sqrt(np.maximum(value, 0)), np.sqrt(low), np.sqrt(high))
    return Band(value, low, high)


def _spread_ends(count: Band, first: Band, second: Band, widest: float) -> tuple[Floats, Floats]:
    sure = count.low > 1
    n_low, n_high = np.where(sure, count.low, 1.0), np.where(sure, count.high, 1.0)
    squares = np.maximum(second.low, 0) / n_high, np.maximum(second.high, 0) / n_low
    means = np.abs([s / n for s in (first.low, first.high) for n in (n_low, n_high)])
    crosses = (first.low <= 0) & (first.high >= 0)
    least = np.where(crosses, 0.0, np.min(means, axis=0))
    low, high = squares[0] - np.max(means, axis=0) ** 2, squares[1] - least**2
    return np.where(sure, np.clip(low, 0, widest), 0.0), np.where(sure, np.clip(high, 0, widest), widest)


def _bounds(argument: Expression | None) -> tuple[float, float]:
    known = None if argument is None else argument.interval.known
    return (-math.inf, math.inf) if known is None else (float(known[0]), float(known[1]))
