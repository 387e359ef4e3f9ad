"""Numbers as callers pass them: lists, arrays or columns, turned into arrays of floats or refused in a sentence."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidType, InvalidValue

__all__ = ["Floats", "finite_floats", "floats"]

Floats = npt.NDArray[np.float64]
"""An array of numbers."""


def floats(values: npt.ArrayLike, name: str) -> Floats:
    """The values as an array; NaN and infinities may be among them."""
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise InvalidType(f"{name} must be numbers", "<other values, or rows of different lengths>") from None


def finite_floats(values: npt.ArrayLike, name: str, remedy: str = "") -> Floats:
    """The values as an array without NaN and infinities."""
    found = floats(values, name)
    if not np.isfinite(found).all():
        raise InvalidValue(f"{name} must be finite numbers", "<NaN or infinity>", remedy)
    return found
