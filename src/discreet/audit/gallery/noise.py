"""Noise done wrong: continuous noise in floating point, and small chances of a whole secret.

Which floats can come out depends on the true value. The noise is a float, so the sum is rounded to the floats near the
true value. Close to 0 floats lie much denser than close to 1. So an answer with bits that the sum 1 + noise never has
says at once that the value was not 1 (Mironov 2012; Haney, Desfontaines, Hartman, Shrestha and Hay 2022).

A mechanism has δ-additive secrecy when no event is likelier by more than δ for a neighbour. That is (0, δ)-differential
privacy, and these keep it. With δ far above 1/n somebody is named almost surely, and what is then shown about them is
certain. Claimed as ε-differential privacy, it is as wrong as can be.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.audit.gallery.exhibit import Exhibit, HonestVersion, naive
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.noise.experiment import Chance
from discreet.privacy.loss import Approximate, Pure

__all__ = ["FLOATS", "SECRECY", "whole_laplace"]


Whole = npt.NDArray[np.int64]


def whole_laplace(chance: Chance, scale: float, size: int | tuple[int, ...]) -> Whole:
    """Integers k with probability proportional to e^(-|k|/scale): the difference of two geometric variables."""
    success = -np.expm1(-1 / scale)
    return np.asarray(chance.geometric(success, size) - chance.geometric(success, size), np.int64)


_GRID = 2.0**-20
_HONEST = HonestVersion(Laplace(1, grid=_GRID), Pure(1), "noise on a grid of 2^-20, drawn exactly")


def numpy_laplace(value: float, size: int, chance: Chance) -> Any:
    """The value plus NumPy's Laplace noise of scale 1."""
    return value + chance.laplace(0, 1, size)


def inverse_laplace(value: float, size: int, chance: Chance) -> Any:
    """The rule of early versions of diffprivlib: invert the distribution function at a uniform float."""
    uniform = chance.random(size) - 0.5
    return value - np.sign(uniform) * np.log(1 - 2 * np.abs(uniform))


def four_uniforms(value: float, size: int, chance: Chance) -> Any:
    """The rule of later versions of diffprivlib: four uniform floats, which were to hide the pattern."""
    a, b, c, d = chance.random((4, size))
    return value - (np.log(1 - a) * np.cos(np.pi * b) + np.log(1 - c) * np.cos(np.pi * d))


FLOATS = (
    Exhibit(
        "numpy-laplace",
        "Floats of noise are added to a float, and the last bits of the answer tell which values it can come from.",
        naive(numpy_laplace),
        0.0,
        1.0,
        Pure(1),
        "Mironov, On significance of the least significant bits for differential privacy, CCS 2012",
        _HONEST,
    ),
    Exhibit(
        "diffprivlib-laplace-inverse",
        "The logarithm of a uniform float has gaps, and adding it to the value keeps a pattern in the last bits.",
        naive(inverse_laplace),
        0.0,
        1.0,
        Pure(1),
        "early diffprivlib, mechanisms/laplace.py; its issue 19",
        _HONEST,
    ),
    Exhibit(
        "diffprivlib-laplace-four",
        "Four uniform floats hide the gaps of the noise, but the sum is still rounded to the floats near the value.",
        naive(four_uniforms),
        0.0,
        1.0,
        Pure(1),
        "later diffprivlib, after arXiv 2107.10138; its issue 94; Haney et al., arXiv 2207.13793",
        _HONEST,
    ),
)


_DELTA = Fraction(1, 20)
_NOTHING = -1
_BITS = (0, 1, 1, 0, 1, 0, 0, 1)
_OTHER = (1, 1, 1, 0, 1, 0, 0, 1)
_CHAPTER = "Differential privacy fundamentals (2021)"


def name_and_shame(bits: Any, size: int, chance: Chance) -> Any:
    """Every person's bit is published with probability δ."""
    named = chance.random((size, len(bits))) < float(_DELTA)
    return np.where(named, np.asarray(bits), _NOTHING)


def random_row(bits: Any, size: int, chance: Chance) -> Any:
    """One row, chosen at random, is published with its number."""
    place = chance.integers(0, len(bits), size)
    return np.column_stack([place, np.asarray(bits)[place]])


def everything_rarely(bits: Any, size: int, chance: Chance) -> Any:
    """The whole table is published with probability δ, and otherwise nothing."""
    shown = chance.random((size, 1)) < float(_DELTA)
    return np.where(shown, np.asarray(bits), _NOTHING)


def own_reply(bits: Any, size: int, chance: Chance) -> Any:
    """The first person's bit, by randomized response."""
    return RandomizedResponse(1).releases(int(bits[0]), size)


SECRECY = (
    Exhibit(
        "name-and-shame",
        "Every person is published in the clear with probability δ, and what is then seen is certain.",
        naive(name_and_shame),
        _BITS,
        _OTHER,
        Pure(1),
        f"{_CHAPTER}, exercise 4.3",
        HonestVersion(
            naive(name_and_shame), Approximate(0, _DELTA), "the same, but only (0, δ) is claimed: so little says a δ"
        ),
        draws=20_000,
    ),
    Exhibit(
        "random-row",
        "One row is published in the clear; that it is hardly ever yours is (0, 1/n), and not ε.",
        naive(random_row),
        _BITS,
        _OTHER,
        Pure(1),
        f"{_CHAPTER}, section 4.1: δ > 1/n",
        HonestVersion(naive(random_row), Approximate(0, Fraction(1, 8)), "the same, but only (0, 1/n) is claimed"),
        draws=20_000,
    ),
    Exhibit(
        "additive-secrecy",
        "With probability δ the whole table is published: δ-additive secrecy holds and nobody is protected.",
        naive(everything_rarely),
        _BITS,
        _OTHER,
        Pure(1),
        f"{_CHAPTER}, section 4.1",
        HonestVersion(naive(own_reply), Pure(1), "randomized response: certain for no outcome"),
        draws=20_000,
    ),
)
