"""Models that bound how much a class changes the odds of a sensitive value. They are not differential privacy.

Under δ-disclosure no class makes a value much more or much less likely than the table does; under β-likeness none makes
it much more likely.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.anonymize.equivalence_classes import EquivalenceClasses
from discreet.anonymize.models.model import (
    TOLERANCE,
    Histograms,
    Lost,
    Parameters,
    SensitiveModel,
    checked_number,
    lost_above_share,
    lost_rows,
)

__all__ = ["BetaLikeness", "DeltaDisclosure"]


@dataclass(frozen=True)
class DeltaDisclosure(SensitiveModel):
    """In every class |ln(q / p)| < ``delta`` for each sensitive value, with shares q in the class and p in the table.

    A value of the table that a class lacks violates it for every δ: who is in the class surely does not have it.
    """

    delta: float
    """How far the logarithm of a share may move."""
    bound_is_open: ClassVar[bool] = True
    parameter: ClassVar[str] = "δ"
    field: ClassVar[str] = "delta"
    compares_with_table: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checked_number(self.delta, "delta")

    def worded(self, value: str, about: str = "") -> str:
        """The model in words."""
        return f"{value}-disclosure{about}"

    def lost_below(self, classes: EquivalenceClasses, histograms: Histograms) -> Lost:
        """Rows of a value that is too frequent must leave, or of others where one is too rare; all where one lacks."""
        histogram = self.histogram(histograms)
        sizes, shares = histogram.sizes[histogram.classes], histogram.table_shares[histogram.values]
        frequent = lost_above_share(histogram.counts, sizes, shares * math.exp(self.delta))
        with np.errstate(divide="ignore"):  # a value that the table lacks is never too rare
            rare = np.where(shares > 0, sizes - histogram.counts / (shares * math.exp(-self.delta)), 0.0)
        least = np.where(
            np.isinf(self.met(classes, histograms)), classes.sizes, histogram.largest(np.maximum(frequent, rare))
        )
        return lost_rows(self.violating(classes, histograms), least)

    def met(self, classes: EquivalenceClasses, histograms: Histograms) -> Parameters:
        """How far shares move at most; without end where the class lacks a value of the table."""
        histogram = self.histogram(histograms)
        with np.errstate(divide="ignore"):  # a value that the table lacks moves without end
            moves = np.abs(np.log(histogram.shares / histogram.table_shares[histogram.values]))
        present = np.bincount(histogram.classes, minlength=len(histogram.sizes))
        lacking = present < np.count_nonzero(histogram.table)
        return np.where(lacking, math.inf, histogram.largest(moves))


@dataclass(frozen=True)
class BetaLikeness(SensitiveModel):
    """In every class (q - p) / p ≤ ``beta`` for each sensitive value, with shares q in the class and p in the table.

    Enhanced, it is at most the smaller of β and -ln p, so that no frequent value may become certain.
    """

    beta: float
    """How much the share of a value may grow, relative to its share in the table."""
    enhanced: bool = False
    """Whether the growth of frequent values is bounded by -ln p, too."""
    parameter: ClassVar[str] = "β"
    field: ClassVar[str] = "beta"
    compares_with_table: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checked_number(self.beta, "beta")

    def worded(self, value: str, about: str = "") -> str:
        """The model in words."""
        return f"{'enhanced' if self.enhanced else 'basic'} {value}-likeness{about}"

    def lost_below(self, classes: EquivalenceClasses, histograms: Histograms) -> Lost:
        """Rows of the value that grows too much must leave."""
        histogram = self.histogram(histograms)
        shares = histogram.table_shares[histogram.values]
        growth = np.minimum(self.beta, -np.log(np.maximum(shares, TOLERANCE))) if self.enhanced else self.beta
        lost = lost_above_share(histogram.counts, histogram.sizes[histogram.classes], shares * (1 + growth))
        return lost_rows(self.violating(classes, histograms), histogram.largest(lost))

    def met(self, classes: EquivalenceClasses, histograms: Histograms) -> Parameters:
        """How much a share grows at most; infinite where the bound -ln p is broken, which no β mends."""
        histogram = self.histogram(histograms)
        shares = histogram.table_shares[histogram.values]
        with np.errstate(divide="ignore"):  # a value that the table lacks grows without end
            gains = (histogram.shares - shares) / shares
            if self.enhanced:
                gains = np.where(gains > -np.log(shares) + TOLERANCE, math.inf, gains)
        return histogram.largest(np.maximum(gains, 0.0))
