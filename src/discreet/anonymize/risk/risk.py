"""How likely it is to find out whose a row is: three attackers, each averaged over rows and not over classes.

- The prosecutor knows that a person is in the table: 1 / |E| for a row of class E.
- The journalist does not, and needs a person of the population: 1 / |F|, where F are the people of the population who
  look like E. Without a population he is the prosecutor.
- The marketer wants many people at once: the share of rows that he gets right on average.

A low risk is not differential privacy: whoever shares a class may share its secret, too.

>>> import numpy as np
>>> found = risks(np.array([99, 1]))
>>> found.prosecutor.average, found.prosecutor.highest
(0.02, 1.0)

How well sets of columns tell rows apart.

Distinction is the number of different combinations over the number of rows. Separation is the share of pairs of rows
that differ in a column of the set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from discreet.anonymize.equivalence_classes import EquivalenceClasses
from discreet.anonymize.table import CodedTable
from discreet.errors import InvalidValue

__all__ = ["DEFAULT_THRESHOLD", "AttackerRisk", "Distinction", "Risks", "distinction", "distinctions", "risks"]


DEFAULT_THRESHOLD = 0.2
"""Rows with a higher risk are at risk: those of classes with fewer than 5 rows."""

Sizes = npt.NDArray[np.integer]


@dataclass(frozen=True)
class AttackerRisk:
    """The risk of single rows under one attacker."""

    highest: float
    """The risk of the row that is easiest to find."""
    average: float
    """The mean risk of a row."""
    at_risk: float
    """The share of rows whose risk is above the threshold."""


@dataclass(frozen=True)
class Risks:
    """The risks of a table's rows."""

    threshold: float
    """From which risk on a row counts as being at risk; itself excluded."""
    prosecutor: AttackerRisk
    """Of an attacker who knows that a person is in the table."""
    journalist: AttackerRisk
    """Of an attacker who does not."""
    marketer: float
    """The share of rows that an attacker gets right who guesses all of them."""
    unique_rows: int
    """How many rows are alone in their class."""
    rows: int
    """How many rows there are."""
    has_population: bool
    """Whether the sizes in the population were known; without them the journalist is the prosecutor."""

    @property
    def uniqueness(self) -> float:
        """The share of rows that are alone in their class."""
        return self.unique_rows / self.rows


def risks(sizes: Sizes, population: Sizes | None = None, *, threshold: float = DEFAULT_THRESHOLD) -> Risks:
    """The risks of classes of some ``sizes``, where ``population`` tells how many people look like each of them."""
    _refuse(sizes, population, threshold)
    rows = int(sizes.sum())
    people = sizes if population is None else population
    marketer = float((sizes / people).sum()) / rows
    average = max(len(sizes) / float(people.sum()), marketer)
    return Risks(
        threshold=threshold,
        prosecutor=AttackerRisk(1 / int(sizes.min()), len(sizes) / rows, _at_risk(sizes, sizes, threshold)),
        journalist=AttackerRisk(1 / int(people.min()), average, _at_risk(sizes, people, threshold)),
        marketer=marketer,
        unique_rows=int(np.count_nonzero(sizes == 1)),
        rows=rows,
        has_population=population is not None,
    )


def _at_risk(sizes: Sizes, people: Sizes, threshold: float) -> float:
    return float(sizes[1 / people > threshold].sum() / sizes.sum())


def _refuse(sizes: Sizes, population: Sizes | None, threshold: float) -> None:
    if not 0 < threshold <= 1:
        raise InvalidValue("the threshold of risk must be above 0 and at most 1", threshold)
    if not len(sizes):
        raise InvalidValue("a table must have rows", 0)
    if population is not None and (len(population) != len(sizes) or bool((population < sizes).any())):
        rule = "every class must have at least as many people in the population as rows in the table"
        raise InvalidValue(rule, "<a smaller one>", "count the population with the same recoding")


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
    sizes = EquivalenceClasses.of([table[name].codes for name in columns]).sizes
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
