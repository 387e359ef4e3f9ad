"""Classes: the rows that nobody can tell apart by their quasi-identifiers, and what is sensitive within them.

Searches work on patterns: the distinct rows as far as anonymity goes, each with how often it occurs. A summary says how
many rows are in small classes and how many in large ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.recode.lattice import GeneralizationLattice, Node
from discreet.anonymize.table import CodedColumn, CodedTable, Codes
from discreet.errors import InvalidValue

__all__ = ["SUPPRESSED_ROW", "ClassHistogram", "EquivalenceClasses", "Patterns", "size_shares"]


Counts = npt.NDArray[np.int64]

SUPPRESSED_ROW = -1
"""The class number of a row that is not released."""

_LARGEST_KEY = 2**62
_DENSE = 4  # a table of flags is quicker than hashing while it has at most so many cells per row


@dataclass(frozen=True, eq=False)
class EquivalenceClasses:
    """The class of every row, and the size of every class."""

    number: npt.NDArray[np.int64]
    """For every row its class, from 0; -1 for a suppressed row."""
    sizes: Counts
    """For every class how many rows it has."""
    weights: Counts | None = None
    """How many rows of the table a row stands for, where equal rows were counted first; one each by default."""

    @classmethod
    def of(cls, columns: Sequence[npt.NDArray[np.integer]], weights: Counts | None = None) -> EquivalenceClasses:
        """The classes of rows with equal codes in all ``columns``, numbered in the order of the codes."""
        if not columns:
            raise InvalidValue("classes must be made by a column", list(columns))
        number, count = _factorise(*_combine(columns))
        return cls(number, _count(number, weights, count), weights)

    @property
    def count(self) -> int:
        """How many classes there are."""
        return len(self.sizes)

    @property
    def rows(self) -> int:
        """How many rows are released."""
        return int(self.sizes.sum())

    def suppressing(self, chosen: npt.NDArray[np.bool_]) -> EquivalenceClasses:
        """The same classes without the rows of the ``chosen`` ones; the others are numbered anew."""
        renumbered = np.where(chosen, SUPPRESSED_ROW, np.cumsum(~chosen) - 1)
        renumbered = np.append(renumbered, SUPPRESSED_ROW)  # the place that -1 points to
        return EquivalenceClasses(renumbered[self.number], self.sizes[~chosen], self.weights)

    def representatives(self) -> npt.NDArray[np.intp]:
        """For every class one of its rows."""
        found = np.zeros(self.count, dtype=np.intp)
        kept = np.flatnonzero(self.number != SUPPRESSED_ROW)
        found[self.number[kept]] = kept
        return found

    def histogram(self, sensitive: CodedColumn) -> ClassHistogram:
        """How often every value of a sensitive column occurs in every class."""
        return ClassHistogram.of(self, sensitive)


@dataclass(frozen=True, eq=False)
class ClassHistogram:
    """How often every sensitive value occurs in every class: an entry for each pair that occurs, by class and value."""

    classes: Counts
    """For every entry its class, in order."""
    values: Counts
    """For every entry its value, in order within the class."""
    counts: Counts
    """For every entry how many rows of the class have the value; never 0."""
    sizes: Counts
    """For every class how many rows it has."""
    table: Counts
    """For every value how many rows of the whole table have it, suppressed rows included."""
    domain: tuple[Any, ...]
    """What the values are, missing last."""

    @classmethod
    def of(cls, classes: EquivalenceClasses, column: CodedColumn) -> ClassHistogram:
        """The histogram of a column."""
        codes, values = column.codes, len(column.values)
        table = _count(codes, classes.weights, values)
        released = classes.number != SUPPRESSED_ROW
        weights = classes.weights
        if not released.all():
            codes, weights = codes[released], None if weights is None else weights[released]
        keys = classes.number[released] * values + codes
        pairs, counts = _tally(keys, classes.count * values, weights)
        found, value = np.divmod(pairs, max(values, 1))
        return cls(found, value, counts, classes.sizes, table, column.values)

    @cached_property
    def starts(self) -> npt.NDArray[np.intp]:
        """For every class the place of its first entry."""
        return np.flatnonzero(np.diff(self.classes, prepend=-1))

    @cached_property
    def shares(self) -> npt.NDArray[np.float64]:
        """For every entry the share of its value in the class."""
        return self.counts / self.sizes[self.classes]

    @cached_property
    def table_shares(self) -> npt.NDArray[np.float64]:
        """For every value its share in the whole table."""
        return self.table / max(int(self.table.sum()), 1)

    def against(self, table: Counts) -> ClassHistogram:
        """The same classes held against the distribution of another table with the same values."""
        return replace(self, table=table)

    def reordered(self, places: npt.NDArray[np.integer], domain: tuple[Any, ...]) -> ClassHistogram:
        """The same histogram over another domain, in which the value ``i`` of this one is at ``places[i]``."""
        values = places[self.values].astype(np.int64)
        order = np.argsort(self.classes * len(domain) + values)
        table = np.zeros(len(domain), dtype=np.int64)
        table[places] = self.table
        return replace(self, values=values[order], counts=self.counts[order], table=table, domain=domain)

    def summed(self, entries: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
        """For every class the sum of what is given for its entries."""
        return np.asarray(np.bincount(self.classes, entries, minlength=len(self.sizes)), dtype=np.float64)

    def largest(self, entries: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """For every class the largest of what is given for its entries."""
        return np.maximum.reduceat(entries, self.starts) if len(entries) else entries


def _combine(columns: Iterable[npt.NDArray[np.integer]]) -> tuple[npt.NDArray[np.int64], int]:
    """One key per row in mixed radix. Before it would overflow, the keys so far are numbered anew, without gaps."""
    keys, span = np.zeros(1, dtype=np.int64), 1
    for column in columns:
        radix = int(column.max(initial=0)) + 1
        if span * radix > _LARGEST_KEY:
            keys, span = _factorise(keys, span)
        keys = keys * radix + column
        span *= radix
    return keys, span


def _factorise(keys: npt.NDArray[np.int64], span: int) -> tuple[npt.NDArray[np.int64], int]:
    """The keys numbered from 0 without gaps, in their order, and how many there are."""
    if span <= _DENSE * len(keys):
        present = np.zeros(span, dtype=np.int64)
        present[keys] = 1
        place = np.cumsum(present) - 1
        return place[keys], int(present.sum())
    found = pa.array(keys).dictionary_encode()  # hashing, and sorting the distinct keys only
    distinct = found.dictionary.to_numpy()
    rank = np.empty(len(distinct), dtype=np.int64)
    rank[np.argsort(distinct)] = np.arange(len(distinct))
    return rank[found.indices.to_numpy()], len(distinct)


def _count(codes: npt.NDArray[np.integer], weights: Counts | None, count: int) -> Counts:
    if weights is None:
        return np.bincount(codes, minlength=count)
    return np.bincount(codes, weights, minlength=count).astype(np.int64)


def _tally(keys: npt.NDArray[np.int64], span: int, weights: Counts | None) -> tuple[Counts, Counts]:
    """The distinct keys in order, and how often each occurs."""
    if span <= _DENSE * len(keys):
        counts = _count(keys, weights, span)
        present = np.flatnonzero(counts)
        return present, counts[present]
    if weights is None:
        return np.unique(keys, return_counts=True)
    distinct, place = np.unique(keys, return_inverse=True)
    return distinct, _count(place, weights, len(distinct))


@dataclass(frozen=True, eq=False)
class Patterns:
    """The combinations of values that occur in the quasi-identifiers and the sensitive columns."""

    quasi: tuple[Codes, ...]
    """For every quasi-identifier the code of its value in every pattern."""
    sensitive: tuple[CodedColumn, ...]
    """The sensitive columns that models speak of, with the code of their value in every pattern."""
    rows: Counts
    """How many rows every pattern stands for."""
    levels: tuple[Codes, ...]
    """For every quasi-identifier the matrix whose cell (level, code) is the group of a value."""
    tables: tuple[Counts, ...]
    """For every sensitive column how often each value occurs in the table that models compare with."""

    @classmethod
    def of(cls, table: CodedTable, hierarchies: Mapping[str, Hierarchy], sensitive: Sequence[str]) -> Patterns:
        """The patterns of a table."""
        columns = [table[name] for name in (*hierarchies, *sensitive)]
        alike = EquivalenceClasses.of([column.codes for column in columns])
        place = alike.representatives()
        return cls(
            tuple(column.codes[place] for column in columns[: len(hierarchies)]),
            tuple(replace(table[name], codes=table[name].codes[place]) for name in sensitive),
            alike.sizes,
            tuple(hierarchy.coded(table[name]) for name, hierarchy in hierarchies.items()),
            tuple(np.bincount(table[name].codes, minlength=len(table[name].values)) for name in sensitive),
        )

    @property
    def lattice(self) -> GeneralizationLattice:
        """The recodings of these columns."""
        return GeneralizationLattice(tuple(len(levels) - 1 for levels in self.levels))

    @property
    def total(self) -> int:
        """How many rows there are."""
        return int(self.rows.sum())

    def groups(self, node: Node) -> list[Codes]:
        """For every quasi-identifier the group of every pattern at the level of ``node``."""
        return [levels[level][codes] for levels, level, codes in zip(self.levels, node, self.quasi, strict=True)]

    def classes(self, node: Node) -> EquivalenceClasses:
        """The classes of the rows recoded by ``node``."""
        return EquivalenceClasses.of(self.groups(node), self.rows)

    def histograms(self, classes: EquivalenceClasses) -> dict[str, ClassHistogram]:
        """How often every sensitive value occurs in every class, held against the table that models compare with."""
        return {
            column.name: classes.histogram(column).against(table)
            for column, table in zip(self.sensitive, self.tables, strict=True)
        }

    def rolled_up(self, classes: EquivalenceClasses) -> Patterns:
        """The patterns that remain to be told apart above the node that made ``classes``."""
        merged = EquivalenceClasses.of([classes.number, *(column.codes for column in self.sensitive)], self.rows)
        return self._with(merged.representatives(), merged.sizes)

    def where(self, chosen: npt.NDArray[np.bool_]) -> Patterns:
        """The chosen patterns alone, still held against the whole table."""
        return self._with(np.flatnonzero(chosen), self.rows[chosen])

    def _with(self, place: npt.NDArray[np.intp], rows: Counts) -> Patterns:
        return replace(
            self,
            quasi=tuple(codes[place] for codes in self.quasi),
            sensitive=tuple(replace(column, codes=column.codes[place]) for column in self.sensitive),
            rows=rows,
        )


_EDGES = (1, 2, 3, 5, 10, 20, 50, 100, 1000)


def size_shares(sizes: npt.ArrayLike) -> dict[str, float]:
    """For every range of sizes the share of rows in classes of such a size.

    >>> {name: share for name, share in size_shares([1, 4, 5]).items() if share}
    {'1': 0.1, '3-4': 0.4, '5-9': 0.5}
    """
    every = np.asarray(sizes, dtype=np.int64)
    bins = np.searchsorted(_EDGES, every, side="right") - 1
    shares = np.bincount(bins, every, minlength=len(_EDGES)) / max(int(every.sum()), 1)
    names = [*(_name(low, high) for low, high in pairwise(_EDGES)), f"{_EDGES[-1]}+"]
    return dict(zip(names, map(float, shares), strict=True))


def _name(low: int, high: int) -> str:
    return str(low) if high == low + 1 else f"{low}-{high - 1}"
