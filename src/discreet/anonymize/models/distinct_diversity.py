"""Distinct l-diversity: every class shows at least l different sensitive values. It is not differential privacy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.anonymize.classes import Classes
from discreet.anonymize.models.model import Flags, Histograms, SensitiveModel, checked_whole

__all__ = ["DistinctDiversity"]


@dataclass(frozen=True)
class DistinctDiversity(SensitiveModel):
    """Every class has at least ``l`` different values of a sensitive column; missing is a value."""

    l: int  # noqa: E741  # the name it has everywhere
    """How many different values a class has at least."""
    is_monotone_with_suppression: ClassVar[bool] = True
    larger_is_stricter: ClassVar[bool] = True
    parameter: ClassVar[str] = "l"

    def __post_init__(self) -> None:
        checked_whole(self.l, "l")

    @property
    def title(self) -> str:
        """The model with letters for its parameters."""
        return "distinct l-diversity"

    @property
    def name(self) -> str:
        """The model in words."""
        return f"distinct {self.l}-diversity of {self.column}"

    def violating(self, classes: Classes, histograms: Histograms) -> Flags:
        """The classes with fewer than ``l`` values."""
        return self._values(histograms) < self.l

    @property
    def least_size(self) -> int:
        """A row for every value."""
        return self.l

    def strictest(self, classes: Classes, histograms: Histograms) -> float:
        """The number of values of the class that has fewest; 0 where no row is released."""
        values = self._values(histograms)
        return int(values.min()) if len(values) else 0

    def _values(self, histograms: Histograms) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        histogram = self.histogram(histograms)
        return np.bincount(histogram.classes, minlength=len(histogram.sizes))
