"""The numbers that a reader asks about, checked.

Figures are rounded to the side that is asked for, so that a promise never looks better than it is.

>>> share(Fraction(1, 3), up=True), share(Fraction(1, 3), up=False), share(Fraction(99999, 100_000), up=True)
('33.4 %', '33.3 %', '99.999 %')
>>> times(Fraction(271829, 100_000)), times(Fraction(22026466, 1000)), times(Fraction(10**40))
('2.72', '22,027', '10^40')
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InvalidValue
from discreet.exact.rational import Number, integer, positive, probability
from discreet.privacy.loss import Approximate, Pure

__all__ = ["Given", "float_down", "float_up", "number", "share", "times"]


_LEAST_EPSILON = Fraction(1, 10**6)
_MOST_EPSILON = 1000
_MOST_FOR_A_GROUP = 10_000
_MOST_PEOPLE = 10**15


@dataclass(frozen=True)
class Given:
    """An ε and whom it is about."""

    epsilon: Fraction
    """The loss of one release to one person."""
    delta: Fraction
    """The probability that the promise does not cover."""
    group: int
    """How many people belong together, such as a family."""
    prior: Fraction
    """What somebody thinks about a person before the answer, as a probability."""
    n: int
    """How many people are in the table."""

    @staticmethod
    def of(epsilon: Number, delta: Number, group: int, prior: Number, n: int) -> Given:
        """The numbers, or a refusal that says which of them is wrong."""
        given = Given(
            _epsilon(epsilon),
            _delta(delta),
            integer(group, "group", least=1),
            _prior(prior),
            integer(n, "n", least=1, most=_MOST_PEOPLE),
        )
        if given.group * given.epsilon > _MOST_FOR_A_GROUP:
            rule = f"group times epsilon must be at most {_MOST_FOR_A_GROUP:,}"
            raise InvalidValue(rule, group, "no promise is left long before that")
        return given

    @property
    def loss(self) -> Pure | Approximate:
        """The promise to one person."""
        return Approximate(self.epsilon, self.delta) if self.delta else Pure(self.epsilon)


def _epsilon(given: Number) -> Fraction:
    epsilon = positive(given, "epsilon")
    if not _LEAST_EPSILON <= epsilon <= _MOST_EPSILON:
        remedy = "0.1 to 5 is usual, and neither noise nor words change beyond these ends"
        raise InvalidValue(f"epsilon must lie from 1e-6 to {_MOST_EPSILON:,} to be explained", given, remedy)
    return epsilon


def _delta(given: Number) -> Fraction:
    delta = probability(given, "delta")
    if delta == 1:
        raise InvalidValue("delta must be below 1", given, "1 promises nothing; 1e-6 is usual")
    return delta


def _prior(given: Number) -> Fraction:
    prior = probability(given, "prior")
    if prior in (0, 1):
        raise InvalidValue("prior must lie strictly between 0 and 1", given, "who is certain learns nothing; try 0.1")
    return prior


_MOST_DECIMALS = 6
_MOST_DECIMALS_OF_A_FACTOR = 12
_WHOLE_FROM = 1000
_POWERS_FROM = 10**9
_PLAIN_BELOW = 10**15


def share(value: Fraction, *, up: bool) -> str:
    """A probability as a percentage: three digits of the distance to 0 or 1, whichever is nearer, fewer if exact."""
    if value <= 0:
        return "0 %"
    if value >= 1:
        return "100 %"
    decimals = _decimals(10 * min(value, 1 - value), 1, _MOST_DECIMALS)
    units = value * 100 * 10**decimals
    whole = math.ceil(units) if up else math.floor(units)
    words = f"{whole / 10**decimals:.{decimals}f}"
    is_exact = whole == units or whole in (0, 100 * 10**decimals)
    return f"{words.rstrip('0').rstrip('.') if is_exact else words} %"


def times(factor: Fraction) -> str:
    """A factor of at least 1, rounded up: two digits after the 1 for small ones, a power of ten for vast ones."""
    if factor >= _POWERS_FROM:
        return f"10^{_power_above(factor)}"
    if factor >= _WHOLE_FROM:
        return f"{math.ceil(factor):,}"
    decimals = _decimals(10 * (factor - 1), 2, _MOST_DECIMALS_OF_A_FACTOR)
    return f"{math.ceil(factor * 10**decimals) / 10**decimals:.{decimals}f}"


def number(value: float) -> str:
    """A size, such as an error, to three digits.

    >>> number(2.9961), number(1234.4), number(3e20), number(0), number(0.00012)
    ('3', '1,234', '3e+20', '0', '0.00012')
    """
    if abs(value) >= _PLAIN_BELOW:
        return f"{value:.3g}"
    return f"{value:,.0f}" if round(abs(value)) >= _WHOLE_FROM else f"{value:.3g}"


def float_up(value: Fraction) -> float | None:
    """The least float that is not below ``value``; None where there is no finite one."""
    try:
        near = float(value)
    except OverflowError:
        return None
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)


def float_down(value: Fraction) -> float:
    """The largest float that is not above ``value``, for values from 0 to 1."""
    near = float(value)
    return near if Fraction(near) <= value else math.nextafter(near, -math.inf)


def _decimals(distance: Fraction, least: int, most: int) -> int:
    """``least``, and one more for each zero with which ``distance`` begins."""
    decimals = least
    while decimals < most and distance < Fraction(10) ** (least - decimals):
        decimals += 1
    return decimals


def _power_above(factor: Fraction) -> int:
    power = int(math.log10(factor.numerator) - math.log10(factor.denominator)) - 1
    while Fraction(10) ** power < factor:
        power += 1
    return power
