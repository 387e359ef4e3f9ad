"""The columns before and after, on the values of the original: what a release says about each, spread evenly.

A released cell counts for each value that it may stand for with an equal share of a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.anonymize.coded import label_of
from discreet.anonymize.covering import Covering
from discreet.anonymize.publication import Publication

__all__ = ["ColumnHistogram", "column_histograms"]

_MOST_BARS = 24


@dataclass(frozen=True)
class ColumnHistogram:
    """How a column is spread, before and after."""

    column: str
    """The column."""
    bars: tuple[str, ...]
    """What every bar stands for."""
    before: tuple[float, ...]
    """For every bar how many rows of the original it holds."""
    after: tuple[float, ...]
    """For every bar how many released rows it is expected to hold."""

    @property
    def distance(self) -> float:
        """Half the sum of the differences of the shares: 0 where nothing changed, 1 where nothing is alike."""
        first, second = np.array(self.before), np.array(self.after)
        return float(np.abs(first / max(first.sum(), 1) - second / max(second.sum(), 1)).sum() / 2)


def column_histograms(publication: Publication, *, most: int = _MOST_BARS) -> tuple[ColumnHistogram, ...]:
    """The histograms of the quasi-identifiers and the sensitive columns, with at most ``most`` bars each."""
    quasi = [_of_quasi(publication, name, most) for name in publication.roles.quasi]
    return (*quasi, *(_of_sensitive(publication, name, most) for name in publication.roles.sensitive))


def _of_quasi(publication: Publication, name: str, most: int) -> ColumnHistogram:
    covering = publication.coverings[name]
    spread = _spread(covering, publication.released_counts(name))
    return _binned(name, covering.domain, publication.original_counts(name), spread, most)


def _spread(covering: Covering, released: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """For every value of the domain the rows that cells share out to it: a sum of steps up and down."""
    each = (released / covering.leaves)[covering.cell]
    steps = np.bincount(covering.start, each, minlength=len(covering.domain) + 1)
    steps -= np.bincount(covering.stop, each, minlength=len(covering.domain) + 1)
    return np.maximum(np.cumsum(steps)[:-1], 0.0)


def _of_sensitive(publication: Publication, name: str, most: int) -> ColumnHistogram:
    before, after = publication.before[name], publication.after[name]
    domain = tuple(dict.fromkeys([*before.values, *after.values]))
    place = {value: number for number, value in enumerate(domain)}

    def counted(column: Any) -> npt.NDArray[np.int64]:
        places = np.array([place[value] for value in column.values], dtype=np.int64)
        return np.bincount(places[column.codes], minlength=len(domain))

    return _binned(name, domain, counted(before), counted(after), most)


def _binned(
    name: str, domain: Sequence[Any], before: npt.ArrayLike, after: npt.ArrayLike, most: int
) -> ColumnHistogram:
    """Neighbours share a bar where there are more values than bars."""
    edges = np.unique(np.linspace(0, len(domain), min(most, len(domain)) + 1).round().astype(int))
    starts = edges[:-1]
    bars = [_bar(domain[first:last]) for first, last in zip(starts, edges[1:], strict=True)]
    sums = [np.add.reduceat(np.asarray(one, dtype=np.float64), starts) for one in (before, after)]
    return ColumnHistogram(name, tuple(bars), tuple(map(float, sums[0])), tuple(map(float, sums[1])))


def _bar(values: Sequence[Any]) -> str:
    first, last = label_of(values[0]), label_of(values[-1])
    return first if len(values) == 1 else f"{first} … {last}"
