"""The distance of distributions over values that are all equally far apart: half the sum of the differences."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from discreet.anonymize.classes import ClassHistogram

__all__ = ["equal_distances"]


def equal_distances(histogram: ClassHistogram) -> npt.NDArray[np.float64]:
    """For every class the distance ½ Σ |p - q| to the table.

    Only values of the class are looked at: those that it lacks differ by p, and all p sum to 1.
    """
    shares = histogram.table_shares[histogram.values]
    surplus = histogram.summed(np.abs(histogram.shares - shares) - shares)
    return np.maximum((1 + surplus) / 2, 0.0)
