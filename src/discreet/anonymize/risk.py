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
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidValue

__all__ = ["DEFAULT_THRESHOLD", "AttackerRisk", "Risks", "risks"]

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
