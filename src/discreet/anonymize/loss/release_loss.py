"""How much a release loses, of its cells and of its classes. It is not differential privacy.

A loss of cells is 0 where all is told and 1 where nothing is, column by column. A suppressed row loses 1 in every
column. With |v| the number of values that a cell v may stand for and |dom| the number that its column may hold:

- normalised loss (ARX): (|v| - 1) / (|dom| - 1);
- certainty penalty (NCP): 0 for a single value, else |v| / |dom|; for numbers (highest - lowest) / (max - min) of what
  the cell covers. Its mean over all cells is the global certainty penalty (GCP);
- precision: 1 minus the level of the cell as a share of the height of its hierarchy;
- non-uniform entropy: the bits -log2(f(a) / f(v)) lost when value a is released as v, where f counts the rows of the
  original, as a share of what is lost when nothing is released.

A column of numbers that were replaced by means has another loss, the same for the first two: the share of its variance
that the means do not show.

A loss of classes says how coarse they are. With n original rows of which s were suppressed, and classes E:

- discernibility: the sum of |E|² over the classes, plus n·s, since a suppressed row is told from none;
- average class size: rows over classes. C_avg divides the released rows by the classes and by k, so 1 is best; AECS
  (ARX) divides all rows by the classes, with the suppressed rows, if any, as one class more;
- ambiguity: how many combinations of values the cells of a row allow, on average; a suppressed row allows all;
- classification metric: the share of rows that are suppressed or do not have the most frequent value of their class.
  Where two values tie, one of them is the most frequent: {2, 2} counts 2 of 4 rows.

Both are measured on a table and what was released of it, side by side. Rows of a release stand in an order that says
nothing, so nothing here needs to know which row became which.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.anonymize.equivalence_classes import EquivalenceClasses
from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.loss.cells import Covering
from discreet.anonymize.roles import Roles
from discreet.anonymize.table import CodedTable
from discreet.errors import InvalidValue

__all__ = ["ClassLosses", "ColumnLosses", "Publication", "class_losses", "column_losses", "mean_loss"]


@dataclass(frozen=True, eq=False)
class Publication:
    """The original, the release, and what every released cell may stand for."""

    before: CodedTable
    """The table that was not released."""
    after: CodedTable
    """The table that was."""
    roles: Roles
    """The roles of the columns."""
    coverings: Mapping[str, Covering]
    """For every quasi-identifier what its released cells cover."""
    classes: EquivalenceClasses
    """The classes of the released rows."""
    places: Mapping[str, npt.NDArray[np.int64]]
    """For every quasi-identifier the place in its domain of every value of the original."""

    @classmethod
    def of(
        cls, before: Any, after: Any, roles: Roles, hierarchies: Mapping[str, Hierarchy] | None = None
    ) -> Publication:
        """Hold a release against its original. Cells that no hierarchy explains are read as ranges, sets or masks."""
        named = [*roles.quasi, *roles.sensitive]
        original, released = CodedTable.of(before, named), CodedTable.of(after, named)
        if not 0 < released.rows <= original.rows:
            rule = f"a release must have rows, at most the {original.rows} of its original"
            raise InvalidValue(rule, released.rows, "pass the original first")
        given = hierarchies or {}
        coverings = {name: Covering.of(original[name], released[name], given.get(name)) for name in roles.quasi}
        classes = EquivalenceClasses.of([released[name].codes for name in roles.quasi])
        places = {name: covering.places_of(original[name]) for name, covering in coverings.items()}
        return cls(original, released, roles, coverings, classes, places)

    @property
    def suppressed(self) -> int:
        """How many rows were not released."""
        return self.before.rows - self.after.rows

    def original_counts(self, column: str) -> np.ndarray:
        """For every value of a column's domain how many original rows have it."""
        places = self.places[column][self.before[column].codes]
        return np.bincount(places, minlength=len(self.coverings[column].domain))

    def released_counts(self, column: str) -> np.ndarray:
        """For every released value of a column how many rows have it."""
        return np.bincount(self.after[column].codes, minlength=len(self.after[column].values))

    def is_averaged(self, column: str) -> bool:
        """Whether numbers were replaced by others, such as means: a number is released more often than it occurred."""
        covering = self.coverings[column]
        shown = self.after[column].values
        if covering.numbers is None or any(isinstance(value, str) for value in shown):
            return False
        occurred = dict(zip(covering.domain, self.original_counts(column), strict=True))
        released = zip(shown, self.released_counts(column), strict=True)
        return any(count > occurred.get(value, 0) for value, count in released)


Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ColumnLosses:
    """What one quasi-identifier lost."""

    column: str
    """The quasi-identifier."""
    normalised: float
    """The mean normalised loss of its cells."""
    certainty_penalty: float
    """The mean certainty penalty (NCP) of its cells."""
    precision: float | None
    """The mean precision; None where cells are no groups of a hierarchy."""
    entropy: float
    """The non-uniform entropy lost, as a share of all."""
    is_averaged: bool
    """Whether its numbers were replaced by means."""


def column_losses(publication: Publication) -> tuple[ColumnLosses, ...]:
    """The losses of every quasi-identifier."""
    return tuple(_losses(publication, name) for name in publication.roles.quasi)


def mean_loss(losses: tuple[ColumnLosses, ...], measure: str) -> float | None:
    """The mean of one measure over the columns; None where a column has no such loss. Of the NCP this is the GCP."""
    values = [getattr(one, measure) for one in losses]
    return None if None in values else math.fsum(values) / len(values)


def _losses(publication: Publication, name: str) -> ColumnLosses:
    covering, released = publication.coverings[name], publication.released_counts(name)
    total = publication.before.rows

    def over_rows(cells: Floats, suppressed: float = 1.0) -> float:
        return (float(released @ cells) + suppressed * publication.suppressed) / total

    averaged = publication.is_averaged(name)
    variance = _variance_lost(publication, name) if averaged else 0.0
    return ColumnLosses(
        name,
        variance if averaged else over_rows(_normalise(covering)),
        variance if averaged else over_rows(_certainty_penalty(covering)),
        None if averaged or np.isnan(covering.level).any() else 1 - over_rows(covering.level),
        _entropy_lost(publication, name),
        averaged,
    )


def _normalise(covering: Covering) -> Floats:
    return (covering.leaves - 1) / max(len(covering.domain) - 1, 1)


def _certainty_penalty(covering: Covering) -> Floats:
    leaves = covering.leaves
    share = np.where(leaves > 1, leaves / len(covering.domain), 0.0)
    if covering.numbers is None:
        return share
    width = _widths(covering, covering.numbers)
    return np.where(np.isnan(width), share, width)  # what may be missing has no width


def _widths(covering: Covering, numbers: Floats) -> Floats:
    """For every cell how far apart its lowest and highest number are, as a share of the column's; NaN with missing."""
    missing = np.isnan(numbers)
    whole = float(np.nanmax(numbers) - np.nanmin(numbers)) or 1.0
    known = np.where(missing, 0.0, numbers)
    low, high = np.full(len(covering.cells), np.inf), np.full(len(covering.cells), -np.inf)
    np.minimum.at(low, covering.cell, known[covering.start])
    np.maximum.at(high, covering.cell, known[covering.stop - 1])
    return np.where(covering.summed(missing) > 0, np.nan, (high - low) / whole)


def _variance_lost(publication: Publication, name: str) -> float:
    """The rows within classes vary around their means; what varies between classes is all that is left.

    Rows that were not released have lost all of theirs.
    """
    numbers = np.array([np.nan if value is None else float(value) for value in publication.coverings[name].domain])
    counts = publication.original_counts(name)
    present = ~np.isnan(numbers)
    mean = np.average(numbers[present], weights=counts[present])
    whole = float(counts[present] @ (numbers[present] - mean) ** 2)
    shown = np.array([np.nan if value is None else float(value) for value in publication.after[name].values])
    left = float(np.nansum(publication.released_counts(name) * (shown - mean) ** 2))
    return min(max(1 - left / whole, 0.0), 1.0) if whole else 0.0


def _entropy_lost(publication: Publication, name: str) -> float:
    """The bits lost by all rows over the bits lost by releasing nothing."""
    covering, total = publication.coverings[name], publication.before.rows
    counts = publication.original_counts(name)
    known = float(counts @ np.log2(np.maximum(counts, 1)))
    covered = np.log2(np.maximum(covering.summed(counts), 1.0))
    whole = math.log2(total)
    covered_cells = float(publication.released_counts(name) @ covered) + publication.suppressed * whole
    most = total * whole - known
    return min(max((covered_cells - known) / most, 0.0), 1.0) if most > 0 else 0.0


@dataclass(frozen=True)
class ClassLosses:
    """What was lost by putting rows into classes."""

    discernibility: int
    """The sum of the squared sizes, with n for every suppressed row."""
    average_size: float
    """Released rows over classes."""
    c_avg: float
    """The average size over the smallest one that was asked for, or is there; 1 is best."""
    aecs: float
    """All rows over classes, where the suppressed rows are one."""
    ambiguity: float
    """How many combinations of values a row allows, on average."""
    classification: dict[str, float]
    """For every sensitive column the share of rows that a majority vote of their class gets wrong."""


def class_losses(publication: Publication, k: int | None = None) -> ClassLosses:
    """The losses of the classes; ``k`` is the k of C_avg, the size of the smallest class by default."""
    sizes, suppressed, rows = publication.classes.sizes, publication.suppressed, publication.before.rows
    average = publication.after.rows / len(sizes)
    return ClassLosses(
        discernibility=sum(int(size) ** 2 for size in sizes) + rows * suppressed,
        average_size=average,
        c_avg=average / (k or int(sizes.min())),
        aecs=rows / (len(sizes) + (suppressed > 0)),
        ambiguity=_ambiguity(publication),
        classification={name: _misclassify(publication, name) for name in publication.roles.sensitive},
    )


def _ambiguity(publication: Publication) -> float:
    chosen = publication.classes.representatives()
    combinations = np.ones(len(chosen))
    for name, covering in publication.coverings.items():
        combinations *= covering.leaves[publication.after[name].codes[chosen]]
    every = math.prod(float(len(covering.domain)) for covering in publication.coverings.values())
    return float(publication.classes.sizes @ combinations + publication.suppressed * every) / publication.before.rows


def _misclassify(publication: Publication, column: str) -> float:
    histogram = publication.classes.histogram(publication.after[column])
    right = int(histogram.largest(histogram.counts).sum())
    return (publication.before.rows - right) / publication.before.rows
