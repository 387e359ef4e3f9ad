"""Entropy l-diversity: every class is as uncertain as l equally frequent values. It is not differential privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from discreet.anonymize.classes import Classes
from discreet.anonymize.models.model import TOLERANCE, Flags, Histograms, SensitiveModel, checked_number
from discreet.errors import InvalidValue

__all__ = ["EntropyDiversity"]


@dataclass(frozen=True)
class EntropyDiversity(SensitiveModel):
    """In every class the entropy of a sensitive column is at least ln ``l``.

    The entropy is a real number, and so may ``l`` be. Four equally frequent values have ``l`` 4, not 3.999…: an entropy
    within 1e-12 of ln ``l`` is enough.
    """

    l: float  # noqa: E741  # the name it has everywhere
    """As many equally frequent values have the entropy that a class has at least."""
    larger_is_stricter: ClassVar[bool] = True
    parameter: ClassVar[str] = "l"

    def __post_init__(self) -> None:
        checked_number(self.l, "l")
        if self.l < 1:
            raise InvalidValue("l must be at least 1", self.l)

    @property
    def title(self) -> str:
        """The model with letters for its parameters."""
        return "entropy l-diversity"

    @property
    def name(self) -> str:
        """The model in words."""
        return f"entropy {self.l:g}-diversity of {self.column}"

    def violating(self, classes: Classes, histograms: Histograms) -> Flags:
        """The classes whose entropy is below ln ``l``."""
        return self._entropies(histograms) < math.log(self.l) - TOLERANCE

    def strictest(self, classes: Classes, histograms: Histograms) -> float:
        """The largest real l that holds; 0 where no row is released."""
        entropies = self._entropies(histograms)
        return math.exp(float(entropies.min())) if len(entropies) else 0.0

    def _entropies(self, histograms: Histograms) -> npt.NDArray[np.float64]:
        histogram = self.histogram(histograms)
        shares = histogram.shares
        return histogram.summed(shares * -np.log(shares))
