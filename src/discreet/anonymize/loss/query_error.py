"""How far counts are off that an analyst makes from a release: random questions, asked of the original and the release.

A question asks for the rows whose values lie in random ranges of a few quasi-identifiers and, where there is one, have
a random value of a sensitive column. The analyst counts a released row with the share of the combinations it allows
that fit the question. The questions follow from the seed alone, and a release gives the same figures again.

Columns are compared one by one, too, on the values of the original: a released cell counts for each value that it may
stand for with an equal share of a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.anonymize.equivalence_classes import EquivalenceClasses
from discreet.anonymize.loss.cells import Covering
from discreet.anonymize.loss.release_loss import Publication
from discreet.anonymize.table import CodedTable, Codes, label_of
from discreet.errors import InvalidType, InvalidValue
from discreet.noise.source import ReplayableSource, Stream

__all__ = ["ColumnHistogram", "CountQuery", "QueryError", "column_histograms", "query_error"]


Floats = npt.NDArray[np.float64]
_SANITY = 0.001  # a relative error is not measured against fewer than this share of the rows


@dataclass(frozen=True)
class CountQuery:
    """How many rows have values in some ranges, and a sensitive value."""

    ranges: tuple[tuple[str, int, int], ...]
    """For some quasi-identifiers the first place of the domain and the place after the last."""
    sensitive: tuple[str, int] | None
    """A sensitive column and the place of its value, among those of the original."""


@dataclass(frozen=True)
class QueryError:
    """How far the answers of a release are off."""

    queries: int
    """How many questions were asked."""
    seed: int
    """What the questions follow from."""
    median_absolute: float
    """The median of how many rows a count is off."""
    mean_absolute: float
    """The mean of it."""
    absolute_95: float
    """95 % of the counts are off by at most so many rows."""
    median_relative: float
    """The median error over the true count, or over a thousandth of the rows where that is more."""
    mean_relative: float
    """The mean of it."""
    example: CountQuery
    """One of the questions."""


def query_error(
    publication: Publication, *, queries: int = 400, columns: int = 2, selectivity: float = 0.1, seed: int = 0
) -> QueryError:
    """Ask random count questions about up to ``columns`` quasi-identifiers at once.

    The ranges are so long that about ``selectivity`` of the combinations of their values fit.
    """
    _refuse(queries, columns, selectivity, seed)
    asked = list(_questions(publication, queries, columns, selectivity, ReplayableSource(f"query error {seed}").open()))
    before, after = _Counter.of_original(publication), _Counter.of_release(publication)
    true = np.array([before.count(one) for one in asked])
    off = np.abs(np.array([after.count(one) for one in asked]) - true)
    relative = off / np.maximum(true, max(_SANITY * publication.before.rows, 1))
    return QueryError(
        queries,
        seed,
        float(np.median(off)),
        float(off.mean()),
        float(np.quantile(off, 0.95, method="higher")),
        float(np.median(relative)),
        float(relative.mean()),
        asked[0],
    )


class _Counter:
    """A table that counts. Rows that agree in the columns of a question are counted once, with their number."""

    def __init__(self, publication: Publication, table: CodedTable, share: Callable[[str, int, int], Floats]) -> None:
        self._publication = publication
        self._table = table
        self._share = share
        self._alike: dict[tuple[str, ...], tuple[list[Codes], Floats]] = {}

    @classmethod
    def of_original(cls, publication: Publication) -> _Counter:
        """Counts the original: a value lies in a range or it does not."""

        def share(name: str, first: int, last: int) -> Floats:
            places = publication.places[name]
            return ((first <= places) & (places < last)).astype(np.float64)

        return cls(publication, publication.before, share)

    @classmethod
    def of_release(cls, publication: Publication) -> _Counter:
        """Counts the release: a cell lies in a range with the share of what it may stand for."""

        def share(name: str, first: int, last: int) -> Floats:
            covering = publication.coverings[name]
            inside = np.zeros(len(covering.domain))
            inside[first:last] = 1.0
            return covering.summed(inside) / covering.leaves

        return cls(publication, publication.after, share)

    def count(self, query: CountQuery) -> float:
        """The rows that fit, each with the share of it that does."""
        shares = [self._share(*one) for one in query.ranges]
        names = [name for name, _, _ in query.ranges]
        if query.sensitive is not None:
            name, place = query.sensitive
            wanted = self._publication.before[name].values[place]
            shares.append(np.array([float(value == wanted) for value in self._table[name].values]))
            names.append(name)
        codes, rows = self._grouped(tuple(names))
        weight = rows.copy()
        for share, code in zip(shares, codes, strict=True):
            weight *= share[code]
        return float(weight.sum())

    def _grouped(self, names: tuple[str, ...]) -> tuple[list[Codes], Floats]:
        """The combinations of some columns that occur, and how many rows have each."""
        if names not in self._alike:
            columns = [self._table[name].codes for name in names]
            alike = EquivalenceClasses.of(columns)
            chosen = alike.representatives()
            self._alike[names] = [column[chosen] for column in columns], alike.sizes.astype(np.float64)
        return self._alike[names]


def _questions(
    publication: Publication, queries: int, columns: int, selectivity: float, stream: Stream
) -> Iterator[CountQuery]:
    quasi, sensitive = publication.roles.quasi, publication.roles.sensitive
    at_once = min(columns, len(quasi))
    for _ in range(queries):
        chosen = sorted(_distinct(quasi, at_once, stream))  # in one order, so that sets of columns meet again
        ranges = tuple(_range(publication, name, selectivity ** (1 / at_once), stream) for name in chosen)
        if not sensitive:
            yield CountQuery(ranges, None)
            continue
        name = sensitive[_below(len(sensitive), stream)]
        yield CountQuery(ranges, (name, _below(len(publication.before[name].values), stream)))


def _distinct(names: tuple[str, ...], count: int, stream: Stream) -> list[str]:
    left = list(names)
    return [left.pop(_below(len(left), stream)) for _ in range(count)]


def _range(publication: Publication, name: str, share: float, stream: Stream) -> tuple[str, int, int]:
    domain = len(publication.coverings[name].domain)
    length = max(round(domain * share), 1)
    first = _below(domain - length + 1, stream)
    return name, first, first + length


def _below(bound: int, stream: Stream) -> int:
    """A number from 0 on, below the bound. These draw questions and no noise, so 2^-40 of bias does no harm."""
    return int(stream.words(1)[0]) % bound


def _refuse(queries: int, columns: int, selectivity: float, seed: int) -> None:
    for value, what in ((queries, "queries"), (columns, "columns")):
        if isinstance(value, bool) or not isinstance(value, int):
            raise InvalidType(f"{what} must be a whole number", value)
        if value < 1:
            raise InvalidValue(f"{what} must be at least 1", value)
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise InvalidType("seed must be a whole number", seed)
    if not 0 < selectivity <= 1:
        raise InvalidValue("selectivity must be above 0 and at most 1", selectivity)


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
    return _bin(name, covering.domain, publication.original_counts(name), spread, most)


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

    return _bin(name, domain, counted(before), counted(after), most)


def _bin(name: str, domain: Sequence[Any], before: npt.ArrayLike, after: npt.ArrayLike, most: int) -> ColumnHistogram:
    """Neighbours share a bar where there are more values than bars."""
    edges = np.unique(np.linspace(0, len(domain), min(most, len(domain)) + 1).round().astype(int))
    starts = edges[:-1]
    bars = [_bar(domain[first:last]) for first, last in zip(starts, edges[1:], strict=True)]
    sums = [np.add.reduceat(np.asarray(one, dtype=np.float64), starts) for one in (before, after)]
    return ColumnHistogram(name, tuple(bars), tuple(map(float, sums[0])), tuple(map(float, sums[1])))


def _bar(values: Sequence[Any]) -> str:
    first, last = label_of(values[0]), label_of(values[-1])
    return first if len(values) == 1 else f"{first} … {last}"
