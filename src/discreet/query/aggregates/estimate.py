"""From the noisy integers of a statistic to a value per group with a confidence interval around it.

Values are made plausible: counts are whole and not negative, means lie within their bounds, deviations are real. This
is post-processing and costs nothing; ``raw`` leaves them as they are. Every interval covers the truth at least as often
as it says; each aggregate proves it where it computes its own.

Claim. A value that is moved to the nearest plausible one takes its interval along, and what is then cut off is
impossible: the interval is never a point, always contains the value that is shown, and covers at least as often.

Proof. Let l ≤ v ≤ h be an interval, and [a, b] hold the truth. With p the point of [a, b] next to v and d = p - v, the
interval that is shown is [l + d, h + d] ∩ [a, b]. It contains p. For v < a, d > 0 and l + d ≤ v + d = a, so it is
[a, min(h + d, b)], which contains [l, h] ∩ [a, b]; the same holds at b, and inside nothing moves. Its width beyond p is
that of the noise, as far as [a, b] allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet.exact.grid import Integers
from discreet.query.aggregates.noise_tails import LinearForm
from discreet.query.aggregates.statistics import Moments, NoisyStatistic, PlainSum

__all__ = [
    "CellEstimate",
    "Floats",
    "find_control_points",
    "find_value_ends",
    "get_moments",
    "move_within",
    "polynomial_form",
    "rows_form",
    "sum_form",
]


Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class CellEstimate:
    """A value per group with an interval around it."""

    value: Floats
    low: Floats
    high: Floats

    @classmethod
    def of_form(
        cls, form: LinearForm, statistic: NoisyStatistic, sums: list[Integers], confidence: float
    ) -> CellEstimate:
        """A linear form of a statistic's integers, and how far its noise reaches."""
        value, reach = form.value(sums), form.reach(statistic.noise, confidence)
        return cls(value, value - reach, value + reach)


def move_within(estimate: CellEstimate, least: float, most: float) -> CellEstimate:
    """Values moved to the nearest that are possible, with their intervals; see the claim above."""
    value = np.clip(estimate.value, least, most)
    shift = value - estimate.value
    return CellEstimate(value, np.clip(estimate.low + shift, least, most), np.clip(estimate.high + shift, least, most))


def get_moments(statistic: NoisyStatistic) -> Moments:
    """The part of a statistic that counts, adds and perhaps adds squares."""
    if not isinstance(statistic.part, Moments):
        raise AssertionError("moments are read from a tally")
    return statistic.part


def find_value_ends(statistic: NoisyStatistic) -> tuple[Fraction, Fraction]:
    """The ends of the values' grid, which reach a little beyond their bounds."""
    return statistic.scale.origin, statistic.scale.origin + statistic.scale.step * statistic.scale.last


def find_control_points(low: Fraction, high: Fraction, degree: int) -> list[Fraction]:
    """The Bernstein coefficients of the value itself, between its ends."""
    return [low, high] if degree == 1 else [low, (low + high) / 2, high]


def polynomial_form(statistic: NoisyStatistic, controls: list[Fraction]) -> LinearForm:
    """The sum of a polynomial with these control points."""
    rest = [Fraction(0)] * get_moments(statistic).rest
    return LinearForm((*(control * statistic.unit for control in controls), *rest))


def rows_form(statistic: NoisyStatistic) -> LinearForm:
    """The count of the rows whose values were added."""
    return polynomial_form(statistic, [Fraction(1)] * (get_moments(statistic).degree + 1))


def sum_form(statistic: NoisyStatistic) -> LinearForm:
    """The sum of the values, from the integers of the part."""
    if isinstance(statistic.part, PlainSum):
        return LinearForm((statistic.scale.step / statistic.weight,))
    degree = get_moments(statistic).degree
    return polynomial_form(statistic, find_control_points(*find_value_ends(statistic), degree))
