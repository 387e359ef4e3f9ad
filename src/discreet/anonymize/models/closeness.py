"""t-closeness: in every class a sensitive column is spread nearly as in the table. It is not differential privacy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from discreet.anonymize.classes import Classes
from discreet.anonymize.hierarchy import Hierarchy, refuse_duplicates
from discreet.anonymize.models.equal_distance import equal_distances
from discreet.anonymize.models.line_distance import numeric_distances, ordered_distances
from discreet.anonymize.models.model import (
    TOLERANCE,
    Flags,
    Histograms,
    Lost,
    SensitiveModel,
    checked_number,
    lost_rows,
)
from discreet.anonymize.models.tree_distance import tree_distances
from discreet.errors import InvalidValue

__all__ = ["Closeness"]

_DISTANCES = ("equal", "ordered", "numeric")


@dataclass(frozen=True)
class Closeness(SensitiveModel):
    """In every class the distribution of a sensitive column is at most ``t`` away from that of the whole table.

    The distance is the least mass that must be moved, times how far, to turn one distribution into the other. How far
    two values are apart is at most 1: always 1 (``equal``), the difference of their ranks among the values of the
    table (``ordered``, missing last) or in a tuple of values from least to most, the difference of the numbers
    themselves (``numeric``), or the height at which they meet in a ``Hierarchy``.
    """

    t: float
    """The largest distance, from 0 to 1."""
    distance: str | tuple[Any, ...] | Hierarchy = "equal"
    """``equal``, ``ordered``, ``numeric``, a tuple of values in their order, or a hierarchy."""
    parameter: ClassVar[str] = "t"

    def __post_init__(self) -> None:
        checked_number(self.t, "t", most=1, zero=True)
        if isinstance(self.distance, tuple):
            refuse_duplicates(self.distance)
        elif not isinstance(self.distance, Hierarchy) and self.distance not in _DISTANCES:
            remedy = f"one of {', '.join(_DISTANCES)}, a tuple of values in their order, or a hierarchy"
            raise InvalidValue("the distance of t-closeness must be known", self.distance, remedy)

    @property
    def title(self) -> str:
        """The model with letters for its parameters."""
        return f"t-closeness ({self._kind} distance)"

    @property
    def name(self) -> str:
        """The model in words."""
        return f"{self.t:g}-closeness of {self.column} ({self._kind} distance)"

    @property
    def _kind(self) -> str:
        match self.distance:
            case str():
                return self.distance
            case tuple():
                return "ordered"
        return "hierarchical"

    def violating(self, classes: Classes, histograms: Histograms) -> Flags:
        """The classes that are further away than ``t``."""
        return self.distances(histograms) > self.t + TOLERANCE

    def lost_below(self, classes: Classes, histograms: Histograms) -> Lost:
        """Suppressing a share of a class moves its distribution, and with it the distance, by at most that share."""
        distances = self.distances(histograms)
        return lost_rows(distances > self.t + TOLERANCE, classes.sizes * (distances - self.t))

    def strictest(self, classes: Classes, histograms: Histograms) -> float:
        """The distance of the class that is furthest away, which is the smallest t that holds."""
        return float(self.distances(histograms).max(initial=0.0))

    def distances(self, histograms: Histograms) -> npt.NDArray[np.float64]:
        """For every class how far it is away from the table."""
        histogram = self.histogram(histograms)
        match self.distance:
            case Hierarchy():
                return tree_distances(histogram, self.distance, self.column)
            case tuple():
                return ordered_distances(histogram, self.column, self.distance)
            case "equal":
                return equal_distances(histogram)
            case "ordered":
                return ordered_distances(histogram, self.column)
        return numeric_distances(histogram, self.column)
