"""Scores of candidates: exact rationals that also have a fast floating-point face.

Integers mean themselves; a float means its shortest decimal, as everywhere in Discreet. What the float face gets
wrong is bounded, so that a choice can use it until two candidates come too close.

>>> Scores([3, 1, 2]).gaps.tolist()
[0.0, 2.0, 1.0]
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.rational import Number, rational

__all__ = ["ScoreLike", "Scores"]

ScoreLike = Sequence[Number] | npt.NDArray[np.integer] | npt.NDArray[np.floating]

_LARGEST = 2**62


class Scores:
    """One finite score per candidate; higher is better."""

    def __init__(self, scores: ScoreLike) -> None:
        self._values = self._validated(scores)
        kind = self._values.dtype.kind
        best = self._values.max()
        self.best = self._exact(best)
        if kind == "i":
            self.gaps = np.asarray(int(best) - self._values, dtype=np.float64)
        elif kind == "f":
            self.gaps = np.asarray(best - self._values, dtype=np.float64)
        else:
            self.gaps = np.asarray([float(best - s) for s in self._values], dtype=np.float64)
        largest = float(np.abs(self._values).max()) if kind == "f" else 0.0
        self.gap_error = largest * 2.0**-51
        """Bound on the absolute error of ``gaps``, besides a relative error of 2^-51."""

    @staticmethod
    def _validated(scores: ScoreLike) -> npt.NDArray[Any]:
        array = np.asarray(scores)
        if array.dtype.kind not in "iuf":
            array = np.empty(len(scores), dtype=object)
            array[:] = [rational(s, "score") for s in scores]
        if array.ndim != 1:
            raise InvalidType("scores must be a flat sequence", f"<shape {array.shape}>")
        if array.size == 0:
            raise InvalidValue("scores must name at least one candidate", "<an empty sequence>")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise InvalidValue("scores must be finite", "<NaN or infinity>")
        if np.abs(array).max() > _LARGEST or (array.dtype.kind == "i" and array.min() < -_LARGEST):
            raise InvalidValue("scores must lie between -2^62 and 2^62", "<a larger score>")
        return array.astype(np.int64) if array.dtype.kind == "u" else array

    def __len__(self) -> int:
        return len(self._values)

    def gap(self, index: int) -> Fraction:
        """How far a candidate is behind the best one, exactly."""
        return self.best - self._exact(self._values[index])

    @staticmethod
    def _exact(score: Any) -> Fraction:
        return score if isinstance(score, Fraction) else rational(score, "score")
