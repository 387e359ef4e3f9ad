"""A linear program, over whole numbers or not, written row by row and solved by HiGHS."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from discreet.attacks.people import Codes
from discreet.errors import OutOfReach

__all__ = ["IntegerProgram"]

_OPTIMAL, _INFEASIBLE = 0, 2
_MOST_SECONDS = 60.0


class IntegerProgram:
    """Variables from 0 to an upper end, and sums of them that must lie between two numbers."""

    def __init__(self) -> None:
        self._uppers: list[float] = []
        self._costs: list[float] = []
        self._whole: list[bool] = []
        self._rows: list[Codes] = []
        self._factors: list[npt.NDArray[np.float64]] = []
        self._ends: list[tuple[float, float]] = []

    def variables(self, count: int, upper: float, cost: float = 0.0, whole: bool = True) -> Codes:
        """The places of new variables; ``cost`` is what one unit of each adds to what is minimised."""
        start = len(self._uppers)
        self._uppers += [upper] * count
        self._costs += [cost] * count
        self._whole += [whole] * count
        return np.arange(start, start + count)

    def between(self, low: float, high: float, places: npt.ArrayLike, factors: npt.ArrayLike = 1.0) -> None:
        """Demand that the sum of these variables, each times its factor, lies between two numbers."""
        row = np.asarray(places, np.int64)
        self._rows.append(row)
        self._factors.append(np.broadcast_to(np.asarray(factors, np.float64), row.shape))
        self._ends.append((low, high))

    def solved(self, seconds: float = _MOST_SECONDS) -> Codes | None:
        """Whole numbers that meet every demand at the least cost; None where there are none."""
        found = self._run(seconds)
        if found.status == _INFEASIBLE:
            return None
        if found.status != _OPTIMAL:
            rule = f"the integer program must be solved within {seconds:g} seconds"
            raise OutOfReach(rule, None, "take fewer values, fewer people, or more statistics")
        return np.asarray(np.rint(found.x), np.int64)

    def least_cost(self, seconds: float = _MOST_SECONDS) -> npt.NDArray[np.float64] | None:
        """The best numbers that were found in the time, whole where they must be; None where there are none."""
        found = self._run(seconds)
        return None if found.x is None else np.asarray(found.x, np.float64)

    def _run(self, seconds: float) -> Any:
        lengths = [len(row) for row in self._rows]
        rows = np.repeat(np.arange(len(lengths)), lengths)
        entries = (np.concatenate(self._factors), (rows, np.concatenate(self._rows)))
        matrix = sparse.csr_array(entries, shape=(len(lengths), len(self._uppers)))
        low, high = np.array(self._ends).T
        return milp(
            np.array(self._costs),
            constraints=LinearConstraint(matrix, low, high),
            integrality=np.array(self._whole, np.int64),
            bounds=Bounds(0, np.array(self._uppers)),
            options={"time_limit": seconds},
        )
