"""Balls: intervals that provably contain a real number, and rationals that bound one from either side.

Everything irrational in Discreet (e^ε, ln 3, √2, a normal tail) is either a ball of the Arb library, which
works on integers and carries its own error, or a rational taken from the safe end of such a ball.

>>> float(exp_up(1)) >= 2.718281828459045 >= float(exp_down(1))
True
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from threading import RLock
from typing import TypeAlias

import flint

from discreet.errors import InvalidValue

__all__ = [
    "BITS",
    "Ball",
    "ball",
    "current_precision",
    "exp_down",
    "exp_up",
    "floor_of",
    "ln_down",
    "ln_up",
    "lower",
    "normal_cdf",
    "round_up",
    "sqrt_down",
    "sqrt_up",
    "upper",
    "working_precision",
]


Ball: TypeAlias = flint.arb

BITS = 160
"""Working precision where nobody asks for another: errors near 1e-45 next to probabilities near 1."""

_PRICE_BITS = 96
_LONGEST = 2**20  # bits; Arb holds e^(2^100) with ease, no rational does
_lock = RLock()


def _renew_lock() -> None:
    global _lock  # noqa: PLW0603  a forked child may inherit a lock that no thread of its own holds
    _lock = RLock()


os.register_at_fork(after_in_child=_renew_lock)


@contextmanager
def working_precision(bits: int = BITS) -> Iterator[None]:
    """Compute with ``bits`` bits. Arb keeps its precision in a global, so only one thread is inside at a time."""
    with _lock, flint.ctx.workprec(bits):
        yield


def current_precision() -> int:
    """The working precision in bits, here and now."""
    return int(flint.ctx.prec)


def ball(value: Fraction | int | Ball) -> Ball:
    """The ball around a rational, at the working precision."""
    if isinstance(value, Fraction):
        return Ball(flint.fmpq(value.numerator, value.denominator))
    return Ball(value)


def lower(value: Ball) -> Fraction:
    """The lower end of a ball; ends that would need over 2^20 bits are rounded down, or refused if large."""
    mantissa, exponent = value.lower().man_exp()
    return -_at_or_above(-int(mantissa), int(exponent))


def upper(value: Ball) -> Fraction:
    """The upper end of a ball; ends that would need over 2^20 bits are rounded up, or refused if large."""
    mantissa, exponent = value.upper().man_exp()
    return _at_or_above(int(mantissa), int(exponent))


def _at_or_above(mantissa: int, exponent: int) -> Fraction:
    """The number mantissa · 2^exponent, or 2^-(2^20) where it is positive and smaller than that."""
    magnitude = exponent + mantissa.bit_length()
    if magnitude > _LONGEST:
        rule = "a number must stay below 2^(2^20) to be written down"
        raise InvalidValue(rule, f"<about 2^{magnitude}>", "use its logarithm")
    if magnitude < -_LONGEST:
        return Fraction(mantissa > 0, 1 << _LONGEST)
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def floor_of(compute: Callable[[], Ball], bits: int = BITS) -> int:
    """floor(x) for an irrational x that ``compute`` evaluates at any working precision."""
    while True:
        with working_precision(bits):
            floor = compute().floor().unique_fmpz()
        if floor is not None:
            return int(floor)
        bits *= 2


def round_up(value: Fraction, bits: int = _PRICE_BITS) -> Fraction:
    """The least multiple of 2^-bits that is not below ``value``: how every price is rounded."""
    return Fraction(-(-value.numerator * 2**bits // value.denominator), 2**bits)


def exp_up(x: Fraction | int) -> Fraction:
    """A rational at or above e^x, for x up to about 700,000."""
    with working_precision():
        return upper(ball(x).exp())


def exp_down(x: Fraction | int) -> Fraction:
    """A rational at or below e^x, for x up to about 700,000; never negative."""
    with working_precision():
        return max(lower(ball(x).exp()), Fraction(0))


def ln_up(x: Fraction | int) -> Fraction:
    """A rational at or above ln x, for x > 0."""
    with working_precision():
        return upper(ball(x).log())


def ln_down(x: Fraction | int) -> Fraction:
    """A rational at or below ln x, for x > 0."""
    with working_precision():
        return lower(ball(x).log())


def sqrt_up(x: Fraction | int) -> Fraction:
    """A rational at or above √x, for x ≥ 0."""
    with working_precision():
        return upper(ball(x).sqrt())


def sqrt_down(x: Fraction | int) -> Fraction:
    """A rational at or below √x, for x ≥ 0; never negative."""
    with working_precision():
        return max(lower(ball(x).sqrt()), Fraction(0))


def normal_cdf(x: Ball) -> Ball:
    """P(Z ≤ x) for a standard normal Z."""
    return (-x / Ball(2).sqrt()).erfc() / 2
