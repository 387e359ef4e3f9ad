"""Arrays that hold exactly the numbers that were passed.

NumPy reads a list that mixes integers with floats as floats, so that one float among the rows would round every
other row, and reads past the mask of a masked array. Here mixed lists stay lists of Python numbers.

>>> exact_array([2**54 + 3, 0.5]).tolist() == [2**54 + 3, 0.5]
True
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidType

__all__ = ["exact_array", "holds_integers"]


def exact_array(values: object, name: str = "values") -> npt.NDArray[Any]:
    """``values`` as a rectangular array that changes none of them; of objects where no other type would do."""
    if isinstance(values, np.ma.MaskedArray):
        raise InvalidType(f"{name} must not be masked", "<a masked array>", "fill or drop what is masked first")
    try:
        return np.asarray(values) if hasattr(values, "__array__") else _narrowed(np.asarray(values, dtype=object))
    except ValueError:
        raise InvalidType(f"{name} must form a rectangular array", "<rows of different lengths>") from None


def holds_integers(array: npt.NDArray[Any]) -> bool:
    """Whether every entry is an integer, so that a grid of whole numbers rounds nothing; booleans are none."""
    if array.dtype.kind != "O":
        return array.dtype.kind in "iu"
    return all(isinstance(entry, Integral) and not isinstance(entry, bool) for entry in array.ravel())


def _narrowed(array: npt.NDArray[np.object_]) -> npt.NDArray[Any]:
    entries = array.ravel().tolist()
    kinds = {type(entry) for entry in entries}
    if kinds == {int}:
        fits = min(entries) >= -(2**63) and max(entries) < 2**63
        return array.astype(np.int64) if fits else array
    return array if len(kinds) > 1 else np.asarray(entries).reshape(array.shape)
