"""l-diversity: every class shows many sensitive values, counted in one of three ways. It is not differential privacy.

Distinct: at least l different values. Entropy: as uncertain as l equally frequent values. Recursive (c, l): no value is
much more frequent than the rare ones together, so that an attacker who can rule out l - 2 values is still wrong at
least once in c + 1 times.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from discreet.anonymize.equivalence_classes import ClassHistogram, EquivalenceClasses
from discreet.anonymize.models.model import (
    TOLERANCE,
    Histograms,
    Lost,
    Parameters,
    SensitiveModel,
    checked_number,
    checked_whole,
    lost_above_share,
    lost_rows,
)
from discreet.errors import InvalidValue

__all__ = ["DistinctDiversity", "EntropyDiversity", "RecursiveDiversity"]


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

    def worded(self, value: str, about: str = "") -> str:
        """The model in words."""
        return f"distinct {value}-diversity{about}"

    @property
    def least_size(self) -> int:
        """A row for every value."""
        return self.l

    def met(self, classes: EquivalenceClasses, histograms: Histograms) -> Parameters:
        """How many values each class has."""
        histogram = self.histogram(histograms)
        return np.bincount(histogram.classes, minlength=len(histogram.sizes))


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

    def worded(self, value: str, about: str = "") -> str:
        """The model in words."""
        return f"entropy {value}-diversity{about}"

    @property
    def least_size(self) -> int:
        """The entropy of n rows is at most ln n."""
        return math.ceil(self.l - TOLERANCE * self.l)

    def lost_below(self, classes: EquivalenceClasses, histograms: Histograms) -> Lost:
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

    def met(self, classes: EquivalenceClasses, histograms: Histograms) -> Parameters:
        """As many equally frequent values as have the entropy of the class."""
        return np.asarray(np.exp(self._entropies(histograms)))

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

    def worded(self, value: str, about: str = "") -> str:
        """The model in words."""
        return f"recursive ({value}, {self.l})-diversity{about}"

    @property
    def least_size(self) -> int:
        """A row for every one of l values."""
        return self.l

    def lost_below(self, classes: EquivalenceClasses, histograms: Histograms) -> Lost:
        """Rows of the most frequent value must leave: the rare ones do not become more when rows leave."""
        histogram = self.histogram(histograms)
        rare = self._rare(histogram)
        excess = histogram.largest(histogram.counts) - self.c * rare
        return lost_rows(self.violating(classes, histograms), np.where(rare > 0, excess, classes.sizes))

    def met(self, classes: EquivalenceClasses, histograms: Histograms) -> Parameters:
        """How often the most frequent value is there for each rare one; infinite where there are no rare ones."""
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
