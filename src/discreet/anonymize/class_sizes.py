"""How many rows are in small classes and how many in large ones."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

__all__ = ["size_shares"]

_EDGES = (1, 2, 3, 5, 10, 20, 50, 100, 1000)


def size_shares(sizes: npt.ArrayLike) -> dict[str, float]:
    """For every range of sizes the share of rows in classes of such a size.

    >>> {name: share for name, share in size_shares([1, 4, 5]).items() if share}
    {'1': 0.1, '3-4': 0.4, '5-9': 0.5}
    """
    every = np.asarray(sizes, dtype=np.int64)
    bins = np.searchsorted(_EDGES, every, side="right") - 1
    shares = np.bincount(bins, every, minlength=len(_EDGES)) / max(int(every.sum()), 1)
    names = [*(_named(low, high) for low, high in pairwise(_EDGES)), f"{_EDGES[-1]}+"]
    return dict(zip(names, map(float, shares), strict=True))


def _named(low: int, high: int) -> str:
    return str(low) if high == low + 1 else f"{low}-{high - 1}"
