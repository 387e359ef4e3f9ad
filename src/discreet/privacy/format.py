"""Numbers for people: a few digits, rounded up, so that a printed price is never below the real one.

>>> shown(Fraction(1, 3)), shown(Fraction(1, 10**6)), shown(Fraction(1, 10**400))
('0.33334', '1e-06', '1e-400')
"""

from __future__ import annotations

from fractions import Fraction

__all__ = ["shown"]


_LOG10_OF_2 = Fraction(30103, 100_000)


def shown(value: Fraction, digits: int = 5) -> str:
    """At most ``digits`` significant digits, rounded up; never "0" for a number above zero."""
    if value == 0:
        return "0"
    exponent = _leading(abs(value)) - digits + 1
    mantissa = -(-value // Fraction(10) ** exponent)
    sign, figures = ("-" if mantissa < 0 else ""), str(abs(mantissa))
    leading, figures = exponent + len(figures) - 1, figures.rstrip("0")
    return sign + (_fix(figures, leading) if -5 < leading < digits else _scientific(figures, leading))


def _leading(value: Fraction) -> int:
    """The exponent of the first decimal digit, without writing out numbers of thousands of digits."""
    guess = int(_LOG10_OF_2 * (value.numerator.bit_length() - value.denominator.bit_length()))
    while Fraction(10) ** guess > value:
        guess -= 1
    while Fraction(10) ** (guess + 1) <= value:
        guess += 1
    return guess


def _fix(figures: str, leading: int) -> str:
    if leading < 0:
        return "0." + "0" * (-leading - 1) + figures
    whole, rest = figures[: leading + 1].ljust(leading + 1, "0"), figures[leading + 1 :]
    return f"{whole}.{rest}" if rest else whole


def _scientific(figures: str, leading: int) -> str:
    rest = f".{figures[1:]}" if figures[1:] else ""
    return f"{figures[0]}{rest}e{leading:+03d}"
