"""Questions that cross a few columns, as offices publish them: none with more cells than anybody would print."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

from discreet.attacks.parts import Value

__all__ = ["MOST_CELLS", "crossed"]

MOST_CELLS = 20_000
"""A table with more cells is not asked for: a curator answers all of them, and nobody reads it."""


def crossed(columns: Sequence[Value], count: int) -> list[tuple[Value, ...]]:
    """Every choice of so many columns that has few enough cells."""
    chosen = combinations(columns, count)
    return [parts for parts in chosen if math.prod(part.size for part in parts) <= MOST_CELLS]
