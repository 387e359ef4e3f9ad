"""Noise as textbooks write it, for mechanisms that are broken on purpose."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from discreet.noise.experiment import Chance

__all__ = ["whole_laplace"]

Whole = npt.NDArray[np.int64]


def whole_laplace(chance: Chance, scale: float, size: int | tuple[int, ...]) -> Whole:
    """Integers k with probability proportional to e^(-|k|/scale): the difference of two geometric variables."""
    success = -np.expm1(-1 / scale)
    return np.asarray(chance.geometric(success, size) - chance.geometric(success, size), np.int64)
