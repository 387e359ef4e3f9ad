"""Groups: where the rows of a result belong among the groups of an answer.

Keys are matched inside Arrow: a value that is in no group is in none, and is never turned into anything that could
fail. Groups are listed combinations of public keys, or the keys that were shown.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from discreet.exact.grid import Integers
from discreet.query.expressions.expression import Expression
from discreet.query.expressions.public_values import Key, arrow_type
from discreet.query.plan.list_groups import Listing

__all__ = ["Groups"]


Booleans = npt.NDArray[np.bool_]
_MOST_CODES = 2**63


@dataclass(frozen=True)
class Groups:
    """Groups by their keys, in an order that depends on the keys alone."""

    keys: list[Expression]
    """What the groups are by."""
    domains: list[pa.Array]
    """Per key, its values."""
    codes: Integers
    """Per group, the positions of its values, as one number."""

    @classmethod
    def all_of(cls, keys: list[Expression], domains: list[tuple[Key, ...]]) -> Groups:
        """Every combination of public keys."""
        arrays = [pa.array(domain, arrow_type(key)) for key, domain in zip(keys, domains, strict=True)]
        return cls(keys, arrays, np.arange(int(np.prod([len(domain) for domain in domains], dtype=np.int64))))

    @classmethod
    def listed(cls, keys: list[Expression], listing: Listing | None) -> Groups:
        """The public groups of a block."""
        if listing is None:
            raise AssertionError("groups that are not public are not listed")
        arrays = [pa.array(domain, arrow_type(key)) for key, domain in zip(keys, listing.domains, strict=True)]
        return cls(keys, arrays, listing.codes)

    @classmethod
    def shown(cls, keys: list[Expression], table: pa.Table) -> Groups:
        """The keys of these rows, each row one group."""
        arrays = [_sorted_values(_typed(table, k, key)) for k, key in enumerate(keys)]
        codes, _ = cls(keys, arrays, np.empty(0, np.int64))._codes(table)
        return cls(keys, arrays, np.unique(codes))

    def __len__(self) -> int:
        return len(self.codes)

    def columns(self) -> list[pa.Array]:
        """Per key, its value in every group."""
        found, rest = [], self.codes
        for domain in reversed(self.domains):
            found.append(domain.take(pa.array(rest % max(len(domain), 1), pa.int64())))
            rest = rest // max(len(domain), 1)
        return found[::-1]

    def tuples(self) -> list[tuple[Key, ...]]:
        """The keys of every group."""
        columns = [column.to_pylist() for column in self.columns()]
        return list(zip(*columns, strict=True)) if columns else [()] * len(self)

    def places(self, table: pa.Table) -> tuple[Integers, Booleans]:
        """The group of every row that is in one, and which rows those are."""
        codes, known = self._codes(table)
        if not len(self.codes):
            return np.empty(0, np.int64), np.zeros(len(codes), np.bool_)
        places = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        kept = known & (self.codes[places] == codes)
        return places[kept], kept

    def _codes(self, table: pa.Table) -> tuple[Integers, Booleans]:
        # Many columns have more combinations than 64 bits can number; integers of Python's own number them all.
        fits = math.prod(len(domain) for domain in self.domains) <= _MOST_CODES
        codes = np.zeros(table.num_rows, np.int64 if fits else np.object_)
        known = np.ones(table.num_rows, np.bool_)
        for k, (key, domain) in enumerate(zip(self.keys, self.domains, strict=True)):
            place = np.asarray(pc.index_in(_typed(table, k, key), value_set=domain).fill_null(-1), np.int64)
            codes = codes * len(domain) + place
            known &= place >= 0
        return codes, known


def _typed(table: pa.Table, k: int, key: Expression) -> pa.ChunkedArray:
    column, kind = table[f"k{k}"], arrow_type(key)
    return column if column.type == kind else column.cast(kind, safe=False)


def _sorted_values(column: pa.ChunkedArray) -> pa.Array:
    """Each value once, in order, missing last."""
    values = pc.unique(column)
    return values.take(pc.array_sort_indices(values))
