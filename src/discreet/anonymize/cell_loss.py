"""How much the cells of a release leave open, column by column: 0 where all is told, 1 where nothing is.

A suppressed row loses 1 in every column. With |v| the number of values that a cell v may stand for and |dom| the number
that its column may hold:

- normalised loss (ARX): (|v| - 1) / (|dom| - 1);
- certainty penalty (NCP): 0 for a single value, else |v| / |dom|; for numbers (highest - lowest) / (max - min) of what
  the cell covers. Its mean over all cells is the global certainty penalty (GCP);
- precision: 1 minus the level of the cell as a share of the height of its hierarchy;
- non-uniform entropy: the bits -log2(f(a) / f(v)) lost when value a is released as v, where f counts the rows of the
  original, as a share of what is lost when nothing is released.

A column of numbers that were replaced by means has another loss, the same for the first two: the share of its variance
that the means do not show.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.anonymize.covering import Covering
from discreet.anonymize.publication import Publication

__all__ = ["ColumnLosses", "column_losses", "mean_loss"]

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
        variance if averaged else over_rows(_normalised(covering)),
        variance if averaged else over_rows(_certainty_penalty(covering)),
        None if averaged or np.isnan(covering.level).any() else 1 - over_rows(covering.level),
        _entropy_lost(publication, name),
        averaged,
    )


def _normalised(covering: Covering) -> Floats:
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
    told = float(publication.released_counts(name) @ covered) + publication.suppressed * whole
    most = total * whole - known
    return min(max((told - known) / most, 0.0), 1.0) if most > 0 else 0.0
