"""Recursive (c, l)-diversity: no sensitive value is much more frequent than the rare ones together.

An attacker who can rule out l - 2 values is still wrong at least once in c + 1 times. It is not differential privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from discreet.anonymize.classes import Classes, ClassHistogram
from discreet.anonymize.models.model import (
    TOLERANCE,
    Flags,
    Histograms,
    Lost,
    SensitiveModel,
    checked_number,
    checked_whole,
    lost_rows,
)

__all__ = ["RecursiveDiversity"]


@dataclass(frozen=True)
class RecursiveDiversity(SensitiveModel):
    """In every class r₁ < ``c`` · (r_l + … + r_m), where r₁ ≥ r₂ ≥ … ≥ r_m count its sensitive values."""

    c: float
    """How often the most frequent value may occur for each occurrence of the rare ones."""
    l: int  # noqa: E741  # the name it has everywhere
    """From which place on a value is one of the rare ones."""
    bound_is_open: ClassVar[bool] = True
    parameter: ClassVar[str] = "c"

    def __post_init__(self) -> None:
        checked_number(self.c, "c")
        checked_whole(self.l, "l")

    @property
    def title(self) -> str:
        """The model with letters for its parameters."""
        return f"recursive (c, {self.l})-diversity"

    @property
    def name(self) -> str:
        """The model in words."""
        return f"recursive ({self.c:g}, {self.l})-diversity of {self.column}"

    def violating(self, classes: Classes, histograms: Histograms) -> Flags:
        """The classes in which the most frequent value is too frequent. The bound is strict: lying on it violates."""
        return self._ratios(histograms) >= self.c * (1 - TOLERANCE)

    @property
    def least_size(self) -> int:
        """A row for every one of l values."""
        return self.l

    def lost_below(self, classes: Classes, histograms: Histograms) -> Lost:
        """Rows of the most frequent value must leave: the rare ones do not become more when rows leave."""
        histogram = self.histogram(histograms)
        rare = self._rare(histogram)
        excess = histogram.largest(histogram.counts) - self.c * rare
        return lost_rows(self.violating(classes, histograms), np.where(rare > 0, excess, classes.sizes))

    def strictest(self, classes: Classes, histograms: Histograms) -> float:
        """The number above which every c holds; infinite where a class has fewer than ``l`` values."""
        return float(self._ratios(histograms).max(initial=0.0))

    def _ratios(self, histograms: Histograms) -> npt.NDArray[np.float64]:
        histogram = self.histogram(histograms)
        rare = self._rare(histogram)
        most = histogram.largest(histogram.counts)
        ratios: npt.NDArray[np.float64] = np.divide(most, rare, out=np.full(len(rare), math.inf), where=rare > 0)
        return ratios

    def _rare(self, histogram: ClassHistogram) -> npt.NDArray[np.float64]:
        """For every class the rows of all values but the l - 1 most frequent ones."""
        most = int(histogram.counts.max(initial=0))
        descending = np.sort(histogram.classes * (most + 1) + (most - histogram.counts))
        counts = most - descending % (most + 1)
        rank = np.arange(len(counts)) - histogram.starts[histogram.classes]
        return histogram.summed(np.where(rank >= self.l - 1, counts, 0.0))
