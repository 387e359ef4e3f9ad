"""The nearest shares that could be true: none negative, all together 1.

>>> nearest_shares(np.array([0.7, 0.4, -0.1])).round(3).tolist()
[0.65, 0.35, 0.0]
"""

from __future__ import annotations

import numpy as np

from discreet.noise.law import Floats

__all__ = ["nearest_shares"]


def nearest_shares(shares: Floats) -> Floats:
    """The point of the simplex that is nearest to ``shares``: all lowered by one amount, and none below 0."""
    falling = np.sort(shares)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(shares) + 1)
    kept = np.flatnonzero(falling > excess)[-1]
    return np.asarray(np.maximum(shares - excess[kept], 0.0), np.float64)
