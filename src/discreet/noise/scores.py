"""Scores of candidates: exact rationals that also have a fast floating-point face.

Integers mean themselves; a float means its shortest decimal, as everywhere in Discreet. What the float face gets
wrong is bounded, so that a choice can use it until two candidates come too close.

>>> Scores([3, 1, 2]).gaps.tolist()
[0.0, 2.0, 1.0]
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.arrays import exact_array
from discreet.exact.rational import Number, rational

__all__ = ["ScoreLike", "Scores"]

ScoreLike = Sequence[Number] | npt.NDArray[np.integer] | npt.NDArray[np.floating]

_LARGEST = 2**62


class Scores:
    """One finite score per candidate; higher is better."""

    def __init__(self, scores: ScoreLike) -> None:
        self._values = _exactly_kept(_flat(scores))
        self.gaps = self._float_gaps()
        floats = self._values.dtype.kind == "f"
        self.gap_error = float(np.abs(self._values).max()) * 2.0**-51 if floats else 0.0
        """Bound on the absolute error of ``gaps``, besides a relative error of 2^-51."""

    def _float_gaps(self) -> npt.NDArray[np.float64]:
        best = self._values.max()
        if self._values.dtype.kind == "i":
            # A gap can be 2^63, one more than a signed integer holds; modulo 2^64 the difference is exact.
            best, values = best.astype(np.uint64), self._values.astype(np.uint64)
            return np.asarray(best - values, dtype=np.float64)
        return np.asarray(best - self._values, dtype=np.float64)

    def __len__(self) -> int:
        return len(self._values)

    @cached_property
    def best(self) -> Fraction:
        """The highest score, exactly."""
        return self._exact(self._values.max())

    def gap(self, index: int) -> Fraction:
        """How far a candidate is behind the best one, exactly."""
        return self.best - self._exact(self._values[index])

    @staticmethod
    def _exact(score: Any) -> Fraction:
        return score if isinstance(score, Fraction) else rational(score, "score")


def _flat(scores: ScoreLike) -> npt.NDArray[Any]:
    if isinstance(scores, str) or not (isinstance(scores, Sequence) or hasattr(scores, "__array__")):
        raise InvalidType("scores must be a flat sequence", scores, "pass a list or an array")
    array = exact_array(scores, "scores")
    if array.ndim != 1:
        raise InvalidType("scores must be a flat sequence", f"<shape {array.shape}>")
    if array.size == 0:
        raise InvalidValue("scores must name at least one candidate", "<an empty sequence>")
    return array


def _exactly_kept(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The scores as int64, as float64, or as rationals where neither keeps what they mean."""
    if array.dtype == np.float64:
        if not np.isfinite(array).all():
            raise InvalidValue("scores must be finite", "<NaN or infinity>")
    elif array.dtype.kind not in "iu":
        exact = [rational(s, "score") for s in array]
        array = np.empty(len(exact), dtype=object)
        array[:] = exact
    if array.min() < -_LARGEST or array.max() > _LARGEST:
        raise InvalidValue("scores must lie between -2^62 and 2^62", "<a larger score>")
    return array.astype(np.int64) if array.dtype.kind in "iu" else array
