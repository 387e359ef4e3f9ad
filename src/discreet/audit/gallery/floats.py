"""Continuous noise in floating point: which floats can come out depends on the true value.

The noise is a float, so the sum is rounded to the floats near the true value. Close to 0 floats lie much denser than
close to 1. So an answer with bits that the sum 1 + noise never has says at once that the value was not 1 (Mironov 2012;
Haney, Desfontaines, Hartman, Shrestha and Hay 2022).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.audit.gallery.exhibit import Exhibit, Twin, naive
from discreet.mechanisms.laplace import Laplace
from discreet.noise.experiment import Chance
from discreet.privacy.loss import Pure

__all__ = ["FLOATS"]

_GRID = 2.0**-20
_HONEST = Twin(Laplace(1, grid=_GRID), Pure(1), "noise on a grid of 2^-20, drawn exactly")


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
