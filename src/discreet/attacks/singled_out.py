"""Which columns single people out: the share of rows that no other row equals, for every set of columns.

>>> import pyarrow as pa
>>> people = pa.table({"sex": ["f", "f", "m", "m"], "born": [1945, 1950, 1945, 1950], "zip": [1, 1, 1, 2]})
>>> found = uniqueness(people)
>>> found.of("sex", "born").uniqueness
1.0
>>> [one.columns for one in found.smallest(1.0)]
[('sex', 'born')]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discreet.anonymize.coded import CodedTable
from discreet.anonymize.distinction import Distinction, distinction, distinctions
from discreet.errors import InvalidValue

__all__ = ["Uniqueness", "uniqueness"]

_MOST_SETS = 1024


@dataclass(frozen=True)
class Uniqueness:
    """How well sets of columns single people out, the best first."""

    sets: tuple[Distinction, ...]
    """Every set that was looked at."""

    def of(self, *columns: str) -> Distinction:
        """One set of columns, in any order."""
        for one in self.sets:
            if set(one.columns) == set(columns):
                return one
        raise InvalidValue("the set of columns must have been looked at", list(columns), "pass it in sets")

    def smallest(self, share: float = 0.5) -> tuple[Distinction, ...]:
        """The sets of fewest columns that single out at least this ``share`` of the people, the best first."""
        if not 0 < share <= 1:
            raise InvalidValue("the share must be above 0 and at most 1", share)
        enough = [one for one in self.sets if one.uniqueness >= share]
        least = min((len(one.columns) for one in enough), default=0)
        return tuple(one for one in enough if len(one.columns) == least)


def uniqueness(
    source: Any, columns: Sequence[str] | None = None, sets: Sequence[Sequence[str]] | None = None
) -> Uniqueness:
    """How many rows are unique on each of ``sets``; else on every set of ``columns``, as far as a thousand sets go.

    Without either it is every set of all columns: of one, of two, … and of all together.
    """
    if sets is not None and not (sets and all(sets)):
        raise InvalidValue("there must be sets of columns, and a column in each", [list(one) for one in sets])
    wanted = None if sets is None else list(dict.fromkeys(name for one in sets for name in one))
    table = CodedTable.of(source, columns if wanted is None else wanted)
    if not table.rows or not table.columns:
        raise InvalidValue("a table must have rows and columns", f"<{table.rows} rows, {len(table.columns)} columns>")
    if sets is None:
        found = distinctions(table, list(table.columns), most=_MOST_SETS)
    else:
        found = tuple(distinction(table, list(one)) for one in sets)
    return Uniqueness(tuple(sorted(found, key=lambda one: (-one.uniqueness, len(one.columns)))))
