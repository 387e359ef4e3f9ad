"""Models about the sizes of classes: k-anonymity and (α, k)-anonymity. They are not differential privacy.

Under k-anonymity every row looks like at least k - 1 others; under (α, k)-anonymity, besides, no sensitive value takes
more than a share α of a class.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.anonymize.equivalence_classes import EquivalenceClasses
from discreet.anonymize.models.model import (
    TOLERANCE,
    Flags,
    Histograms,
    Lost,
    Model,
    Parameters,
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

    def worded(self, value: str, about: str = "") -> str:
        """The model in words."""
        return f"{value}-anonymity{about}"

    @property
    def least_size(self) -> int:
        """As many as k."""
        return self.k

    def met(self, classes: EquivalenceClasses, histograms: Histograms) -> Parameters:
        """The sizes of the classes."""
        return classes.sizes


@dataclass(frozen=True)
class AlphaK(SensitiveModel):
    """In every class each value of a sensitive column has at most the share ``alpha``, and a class has ``k`` rows."""

    alpha: float
    """The largest share, above 0 and at most 1."""
    k: int = 1
    """How many rows a class has at least."""
    parameter: ClassVar[str] = "α"
    field: ClassVar[str] = "alpha"

    def __post_init__(self) -> None:
        checked_number(self.alpha, "alpha", most=1)
        checked_whole(self.k, "k")

    def worded(self, value: str, about: str = "") -> str:
        """The model in words."""
        return f"({value}, {self.k})-anonymity{about}"

    def violating(self, classes: EquivalenceClasses, histograms: Histograms) -> Flags:
        """The classes in which a value has more than the share ``alpha``, and those with fewer than ``k`` rows."""
        return super().violating(classes, histograms) | (classes.sizes < self.k)

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

    def met(self, classes: EquivalenceClasses, histograms: Histograms) -> Parameters:
        """The share of the most frequent value."""
        histogram = self.histogram(histograms)
        return histogram.largest(histogram.shares)
