"""Calibration: the least noise, or the most questions, that meets a target.

Both are searches for the last value that still fits, and the value returned was itself checked to fit.

>>> most_releases(Pure(0.01), Pure(1)), most_releases(Pure(0.01), Approximate(1, 1e-6))
(100, 562)
>>> epsilon_each(1000, Approximate(1, 1e-6)) > Fraction(7, 1000)
True
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from discreet.accounting.composition import optimal
from discreet.errors import InvalidType, InvalidValue, OutOfReach
from discreet.exact.rational import integer
from discreet.privacy.loss import Approximate, Loss, Pure

__all__ = ["epsilon_each", "largest", "least", "most", "most_releases"]


_PRECISION = 40
_MOST = 10**6
_MOST_SUMMED = 2**62  # where losses add up, counting costs nothing


def largest(fits: Callable[[Fraction], bool], *, most: Fraction, precision: int = _PRECISION) -> Fraction:
    """The largest x up to ``most`` that fits, to ``precision`` bits, for a condition that large values fail."""
    if fits(most):
        return most
    high = most
    while not fits(high / 2):
        high /= 2
        if high < most / 2**200:
            raise OutOfReach("no positive value fits", float(most))
    low = high / 2
    for _ in range(precision):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def least(fits: Callable[[Fraction], bool], *, start: Fraction, precision: int = _PRECISION) -> Fraction:
    """The least x from ``start`` upwards that fits, to ``precision`` bits, for a condition that small values fail."""
    if fits(start):
        return start
    high = start
    while not fits(high):
        high *= 2
        if high > start * 2**200:
            raise OutOfReach("no value is large enough", float(start))
    low = high / 2
    for _ in range(precision):
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def most(fits: Callable[[int], bool], up_to: int = _MOST) -> int:
    """The largest whole number that fits, for a condition that large numbers fail; 0 when even 1 does not."""
    low, high = 0, 1
    while fits(high):
        if high == up_to:
            raise OutOfReach(f"as many as {up_to} fit, and more are not looked for", None, "state a larger loss each")
        low, high = high, min(2 * high, up_to)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def most_releases(loss: Loss, budget: Loss) -> int:
    """How many releases of one loss fit a budget, fixed in advance and composed in the best proved way."""
    for given in (loss, budget):
        if not isinstance(given, Loss):
            raise InvalidType("loss and budget must be privacy losses", given)
    if isinstance(budget, Approximate) and isinstance(loss, (Pure, Approximate)):
        return most(lambda count: _fits_optimally(loss, count, budget))
    if isinstance(budget, (Pure, Approximate)):
        return most(lambda count: count * loss <= budget, _MOST_SUMMED)
    each = 0 * budget + loss  # in the kind of the budget, where k pure losses add up to kε²/2 and not to (kε)²/2
    return most(lambda count: count * each <= budget, _MOST_SUMMED)


def epsilon_each(count: int, budget: Loss) -> Fraction:
    """The largest pure ε that each of ``count`` releases may cost, fixed in advance, within ``budget``."""
    number = integer(count, "count", least=1)
    if isinstance(budget, Pure):
        return budget.epsilon / number
    if not isinstance(budget, Approximate):
        raise InvalidType("budget must be a pure or an (ε, δ) loss", budget)
    if budget.epsilon == 0:
        raise InvalidValue("budget must be positive", budget)
    return largest(lambda e: _fits_optimally(Pure(e), number, budget), most=budget.epsilon)


def _fits_optimally(loss: Pure | Approximate, count: int, budget: Approximate) -> bool:
    own = loss.delta if isinstance(loss, Approximate) else Fraction(0)
    if count * loss.epsilon <= budget.epsilon and count * own <= budget.delta:
        return True
    if 1 - (1 - own) ** count >= budget.delta:
        return False
    return optimal(loss, count, budget.delta).epsilon <= budget.epsilon
