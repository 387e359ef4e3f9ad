"""A bound for lattices that are too large to be searched: their columns are searched a few at a time.

Let a part be some of the columns. If a recoding is within the limit, the node that keeps its levels in the part and
has all other columns at the top is above it, so it is not hopeless below. The smallest sum of terms among such nodes is
a bound for the terms of the part, and the bounds of parts that share no column add up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import reduce

import numpy as np

from discreet.anonymize.inspection import Inspector
from discreet.anonymize.lattice import Lattice, Node
from discreet.anonymize.search_loss import Floats

__all__ = ["least_total"]

_NODES = 65_536


def least_total(
    inspector: Inspector, terms: Sequence[Floats], is_late: Callable[[], bool], nodes: int = _NODES
) -> float:
    """A bound for the sum of the terms of every feasible node, from parts with about so many ``nodes`` at most."""
    lattice = inspector.patterns.lattice
    return math.fsum(_least_of(part, inspector, terms, is_late) for part in _parts(lattice, nodes))


def _parts(lattice: Lattice, nodes: int) -> Iterator[list[int]]:
    """The columns, neighbours together, as long as a part has no more than ``nodes``."""
    part: list[int] = []
    for column, levels in enumerate(lattice.shape):
        if part and levels * math.prod(lattice.shape[one] for one in part) > nodes:
            yield part
            part = []
        part.append(column)
    yield part


def _least_of(part: list[int], inspector: Inspector, terms: Sequence[Floats], is_late: Callable[[], bool]) -> float:
    """The smallest sum of the part's terms among its nodes that are not hopeless; less, if there is no time to tell."""
    top = inspector.patterns.lattice.top
    small = Lattice(tuple(top[column] for column in part))
    own = [terms[column] for column in part]
    totals = reduce(np.add.outer, own)
    while math.isfinite(least := float(totals.min())) and not is_late():
        node = tuple(int(level) for level in np.unravel_index(int(np.argmin(totals)), totals.shape))
        highest = _highest_hopeless(small.path_to_top(node, own), part, inspector)
        if highest is None:
            return least
        totals[small.below(highest)] = math.inf
    return least


def _highest_hopeless(path: Sequence[Node], part: list[int], inspector: Inspector) -> Node | None:
    """The highest node of a chain below which nothing is within the limit; with it all nodes below are hopeless."""
    low, high = 0, len(path) - 1
    while low <= high:
        middle = (low + high) // 2
        levels = list(inspector.patterns.lattice.top)
        for column, level in zip(part, path[middle], strict=True):
            levels[column] = level
        if inspector.inspect(tuple(levels)).is_hopeless_below:
            low = middle + 1
        else:
            high = middle - 1
    return path[high] if high >= 0 else None
