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


def most(fits: Callable[[int], bool]) -> int:
    """The largest whole number that fits, for a condition that large numbers fail; 0 when even 1 does not."""
    high = 1
    while fits(high):
        high *= 2
        if high > _MOST:
            raise OutOfReach(f"more than {_MOST} releases fit", high, "state a larger loss per release")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def most_releases(loss: Loss, budget: Loss) -> int:
    """How many releases of one loss fit a budget, fixed in advance and composed in the best proved way."""
    if isinstance(budget, Pure) or not isinstance(loss, (Pure, Approximate)):
        return most(lambda count: _in_terms_of(budget, count * loss) <= budget)
    if isinstance(budget, Approximate):
        return most(lambda count: _fits_optimally(loss, count, budget))
    return most(lambda count: count * loss <= budget)


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


def _in_terms_of(budget: Loss, loss: Loss) -> Loss:
    return loss.approximate(budget.delta) if isinstance(budget, Approximate) else loss


def _fits_optimally(loss: Loss, count: int, budget: Approximate) -> bool:
    if count * loss <= budget:
        return True
    own = loss.delta if isinstance(loss, Approximate) else Fraction(0)
    if 1 - (1 - own) ** count >= budget.delta:
        return False
    return optimal(loss, count, budget.delta).epsilon <= budget.epsilon
