"""Printed figures beside the truth: rounded to one side, and by less than a unit of the last digit."""

from __future__ import annotations

import re
from fractions import Fraction


def read(words: str) -> tuple[Fraction, Fraction]:
    """A printed number and one unit of its last digit; percentages are shares."""
    plain = words.replace("\N{NO-BREAK SPACE}", " ").strip()
    scale = Fraction(1)
    if plain.endswith("%"):
        plain, scale = plain.removesuffix("%").strip(), Fraction(1, 100)
    plain = plain.replace(",", "")
    power = re.fullmatch(r"10\^(\d+)", plain)
    if power:
        return Fraction(10) ** int(power[1]), Fraction(10) ** int(power[1])
    mantissa, _, exponent = plain.partition("e")
    decimals = len(mantissa.partition(".")[2])
    unit = Fraction(10) ** (int(exponent or 0) - decimals)
    return Fraction(plain) * scale, unit * scale


def is_up(words: str, truth: Fraction) -> bool:
    """Whether the printed number is the truth rounded up."""
    shown, unit = read(words)
    return truth <= shown < truth + unit


def is_down(words: str, truth: Fraction) -> bool:
    """Whether the printed number is the truth rounded down."""
    shown, unit = read(words)
    return truth - unit < shown <= truth


def is_near(words: str, truth: Fraction) -> bool:
    """Whether the printed number is the truth rounded to the nearest."""
    shown, unit = read(words)
    return abs(shown - truth) <= unit * Fraction(501, 1000)
