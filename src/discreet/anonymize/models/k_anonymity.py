"""k-anonymity: every row looks like at least k - 1 others. It is not differential privacy.

(α, k)-anonymity: no sensitive value takes more than a share α of a class. It is not differential privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from discreet.anonymize.equivalence_classes import EquivalenceClasses
from discreet.anonymize.models.model import (
    TOLERANCE,
    Flags,
    Histograms,
    Lost,
    Model,
    SensitiveModel,
    checked_number,
    checked_whole,
    lost_above_share,
    lost_rows,
)

__all__ = ["AlphaK", "KAnonymity"]


@dataclass(frozen=True)
class KAnonymity(Model):
    """Every class has at least ``k`` rows."""

    k: int
    """How many rows a class has at least."""
    is_monotone_with_suppression: ClassVar[bool] = True
    larger_is_stricter: ClassVar[bool] = True
    parameter: ClassVar[str] = "k"

    def __post_init__(self) -> None:
        checked_whole(self.k, "k")

    @property
    def title(self) -> str:
        """The model with letters for its parameters."""
        return "k-anonymity"

    @property
    def name(self) -> str:
        """The model in words."""
        return f"{self.k}-anonymity"

    def violating(self, classes: EquivalenceClasses, histograms: Histograms) -> Flags:
        """The classes with fewer than ``k`` rows."""
        return classes.sizes < self.k

    @property
    def least_size(self) -> int:
        """As many as k."""
        return self.k

    def strictest(self, classes: EquivalenceClasses, histograms: Histograms) -> float:
        """The size of the smallest class; 0 where no row is released."""
        return int(classes.sizes.min(initial=classes.rows))


@dataclass(frozen=True)
class AlphaK(SensitiveModel):
    """In every class each value of a sensitive column has at most the share ``alpha``, and a class has ``k`` rows."""

    alpha: float
    """The largest share, above 0 and at most 1."""
    k: int = 1
    """How many rows a class has at least."""
    parameter: ClassVar[str] = "α"

    def __post_init__(self) -> None:
        checked_number(self.alpha, "alpha", most=1)
        checked_whole(self.k, "k")

    @property
    def title(self) -> str:
        """The model with letters for its parameters."""
        return f"(α, {self.k})-anonymity"

    @property
    def name(self) -> str:
        """The model in words."""
        return f"({self.alpha:g}, {self.k})-anonymity of {self.column}"

    def violating(self, classes: EquivalenceClasses, histograms: Histograms) -> Flags:
        """The classes in which a value has more than the share ``alpha``, and those with fewer than ``k`` rows."""
        return (self._shares(histograms) > self.alpha + TOLERANCE) | (classes.sizes < self.k)

    @property
    def least_size(self) -> int:
        """As many as k, and a row for every one of the 1 / alpha values that there must be."""
        return max(self.k, math.ceil((1 - TOLERANCE) / self.alpha))

    def lost_below(self, classes: EquivalenceClasses, histograms: Histograms) -> Lost:
        """Rows of the most frequent value must leave; where the class is too small, all rows."""
        histogram = self.histogram(histograms)
        excess = lost_above_share(histogram.largest(histogram.counts), classes.sizes, self.alpha)
        least = np.where(classes.sizes < self.k, classes.sizes, excess)
        return lost_rows(self.violating(classes, histograms), least)

    def strictest(self, classes: EquivalenceClasses, histograms: Histograms) -> float:
        """The largest share of a value in a class, which is the smallest α that holds."""
        return float(self._shares(histograms).max(initial=0.0))

    def _shares(self, histograms: Histograms) -> npt.NDArray[np.float64]:
        histogram = self.histogram(histograms)
        return histogram.largest(histogram.shares)
