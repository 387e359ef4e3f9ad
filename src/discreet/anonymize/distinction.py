"""How well sets of columns tell rows apart.

Distinction is the number of different combinations over the number of rows. Separation is the share of pairs of rows
that differ in a column of the set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from discreet.anonymize.classes import Classes
from discreet.anonymize.coded import CodedTable

__all__ = ["Distinction", "distinction", "distinctions"]


@dataclass(frozen=True)
class Distinction:
    """How well one set of columns tells rows apart."""

    columns: tuple[str, ...]
    """The set."""
    distinction: float
    """Different combinations over rows."""
    separation: float
    """The share of pairs of rows that differ."""
    uniqueness: float
    """The share of rows whose combination no other row has."""


def distinction(table: CodedTable, columns: Sequence[str]) -> Distinction:
    """The distinction of one set of columns."""
    sizes = Classes.of([table[name].codes for name in columns]).sizes
    pairs = table.rows * (table.rows - 1) / 2
    alike = float((sizes * (sizes - 1) / 2).sum())
    unique = int(np.count_nonzero(sizes == 1))
    return Distinction(
        tuple(columns), len(sizes) / table.rows, 1 - alike / pairs if pairs else 0.0, unique / table.rows
    )


def distinctions(table: CodedTable, columns: Sequence[str], *, most: int = 64) -> tuple[Distinction, ...]:
    """The distinction of every set of one, two, … columns as far as ``most`` sets go, and of all columns together.

    Whole sizes only: where the sets of three columns would be too many, there are none of them. The sets that tell most
    apart come first.
    """
    chosen = [*_sets(columns, most), tuple(columns)] if len(columns) > 1 else [tuple(columns)]
    found = [distinction(table, one) for one in dict.fromkeys(chosen)]
    return tuple(sorted(found, key=lambda one: (-one.distinction, len(one.columns))))


def _sets(columns: Sequence[str], most: int) -> Iterator[tuple[str, ...]]:
    left = most
    for size in range(1, len(columns)):
        left -= comb(len(columns), size)
        if left < 0 and size > 1:
            return
        yield from combinations(columns, size)
