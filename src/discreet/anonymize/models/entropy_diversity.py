"""Entropy l-diversity: every class is as uncertain as l equally frequent values. It is not differential privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from discreet.anonymize.classes import Classes
from discreet.anonymize.models.model import (
    TOLERANCE,
    Flags,
    Histograms,
    Lost,
    SensitiveModel,
    checked_number,
    lost_above_share,
    lost_rows,
)
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

    @property
    def least_size(self) -> int:
        """The entropy of n rows is at most ln n."""
        return math.ceil(self.l - TOLERANCE * self.l)

    def lost_below(self, classes: Classes, histograms: Histograms) -> Lost:
        """The most frequent value must lose rows, and so must the class.

        Entropy is concave: with a share x of the class kept, x ln ``l`` is at most the entropy of the class. And where
        a value has the share s of m values, the entropy is at most that of s and 1 - s, and (1 - s) ln(m - 1).
        """
        histogram, entropies = self.histogram(histograms), self._entropies(histograms)
        needed = max(math.log(self.l) - TOLERANCE, TOLERANCE)
        concave = classes.sizes * (1 - entropies / needed)
        share = _largest_share(self.l, len(histogram.table))
        frequent = lost_above_share(histogram.largest(histogram.counts), classes.sizes, share)
        return lost_rows(self.violating(classes, histograms), np.maximum(concave, frequent))

    def strictest(self, classes: Classes, histograms: Histograms) -> float:
        """The largest real l that holds; 0 where no row is released."""
        entropies = self._entropies(histograms)
        return math.exp(float(entropies.min())) if len(entropies) else 0.0

    def _entropies(self, histograms: Histograms) -> npt.NDArray[np.float64]:
        histogram = self.histogram(histograms)
        shares = histogram.shares
        return histogram.summed(shares * -np.log(shares))


def _largest_share(l: float, values: int) -> float:  # noqa: E741
    """A share that no value exceeds where the entropy of so many values is at least ln ``l``; rounded up."""
    low, high = 1 / max(values, 1), 1.0
    while high - low > TOLERANCE:
        share = (low + high) / 2
        rest = (1 - share) * (math.log(values - 1) - math.log(1 - share))
        low, high = (share, high) if rest - share * math.log(share) >= math.log(l) - TOLERANCE else (low, share)
    return high
