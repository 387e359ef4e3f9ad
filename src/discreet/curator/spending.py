"""Parallel composition in the ledger: questions about different people cost the largest price, not the sum.

Claim. Let a column have one value per unit, and let every charge concern either all units or only those with one of
some values of the column, its keys. A unit with key k is touched by the charges to all and by those to k; the answers
to the rest have the same law whether the unit is there or not, however the questions were chosen. So under
add-remove-one the whole loss is at most common + max over k of what k was charged. Where a unit is replaced by another,
two keys are touched: the two largest add up. Several columns are added, and so are versions of the data, and bounds and
defaults that values are moved to, between which a unit may change its key.

>>> spent = {"ward": {"A": 3, "B": 5}, "sex": {"f": 1}}
>>> total(10, spent, places=1), total(10, spent, places=2)
(16, 19)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from heapq import nlargest

__all__ = ["largest", "total"]


def total(common: int, apart: Mapping[str, Mapping[str, int]], places: int) -> int:
    """The loss of the worst-off unit: what all were charged, and the largest portions of every column."""
    return common + sum(largest(keys.values(), places) for keys in apart.values())


def largest(portions: Iterable[int], places: int) -> int:
    """The sum of the largest portions, as many as one neighbour can touch."""
    return sum(nlargest(places, portions))
