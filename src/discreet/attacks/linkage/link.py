"""Join a release without names with a list that has them, on what both tell of a person.

>>> import pyarrow as pa
>>> release = pa.table({"zip": ["02138", "02139", "02139"], "born": [1945, 1950, 1950], "ill": ["yes", "no", "yes"]})
>>> voters = pa.table({"name": ["Weld", "Doe"], "zip": ["02138", "02139"], "born": [1945, 1950]})
>>> found = link(release, voters, on=["zip", "born"], names="name")
>>> found.reidentified.to_pylist()
[{'name': 'Weld', 'ill': 'yes'}]
>>> print(found)
1 of 2 people on the list (50%) are re-identified: one row fits them, and it fits nobody else.

Which columns single people out is told by the share of rows that no other row equals, for every set of columns.

>>> import pyarrow as pa
>>> people = pa.table({"sex": ["f", "f", "m", "m"], "born": [1945, 1950, 1945, 1950], "zip": [1, 1, 1, 2]})
>>> found = uniqueness(people)
>>> found.of("sex", "born").uniqueness
1.0
>>> [one.columns for one in found.smallest(1.0)]
[('sex', 'born')]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.risk.risk import Distinction, distinction, distinctions
from discreet.anonymize.table import CodedTable, arrow_table
from discreet.attacks.linkage.matching import Fits, fitting
from discreet.attacks.people import Codes
from discreet.catalog.names import suggestion
from discreet.errors import InvalidValue
from discreet.exact.binomial import Proportion

__all__ = ["Links", "Uniqueness", "link", "uniqueness"]


@dataclass(frozen=True, eq=False)
class Links:
    """Which rows of a release fit which people of a list."""

    matches: Codes
    """For every person on the list how many released rows fit."""
    rivals: Codes
    """For every released row how many people on the list it fits."""
    reidentified: pa.Table
    """Those whom one row fits that fits nobody else: their names, and what the release adds."""

    @property
    def unique(self) -> Proportion:
        """People whom one released row fits, of all on the list."""
        return Proportion(int((self.matches == 1).sum()), len(self.matches))

    @property
    def share(self) -> Proportion:
        """People who are re-identified, of all on the list."""
        return Proportion(self.reidentified.num_rows, len(self.matches))

    def __str__(self) -> str:
        """A sentence."""
        found = self.share
        who = f"{found.hits:,} of {found.trials:,} people on the list ({found.rate:.0%})"
        return f"{who} are re-identified: one row fits them, and it fits nobody else."


def link(
    release: Any,
    outside: Any,
    on: str | Sequence[str] | None = None,
    names: str | Sequence[str] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> Links:
    """Who on the list ``outside`` is re-identified in ``release``, which shows values as they are or made coarser.

    They are joined ``on`` columns that both have, by default all of those. ``names`` are the columns of the list that
    say who somebody is, by default those that the release does not have. A person who is not in the release can still
    be the only one whom a row fits: the longer the list, the fewer such mistakes.
    """
    released, listed = arrow_table(release), arrow_table(outside)
    joined = _join(released, listed, on)
    shown = _names(released, listed, names)
    fits = fitting(released, listed, joined, hierarchies)
    rivals = fits.rivals[fits.classes.number]
    person, row = _found(fits)
    learned = [name for name in released.column_names if name not in {*joined, *shown}]
    columns = {name: listed[name].take(pa.array(person)) for name in shown}
    columns |= {name: released[name].take(pa.array(row)) for name in learned}
    return Links(fits.rows, rivals, pa.table(columns))


def _found(fits: Fits) -> tuple[Codes, Codes]:
    """The people whom one row fits that fits nobody else, and the row."""
    alone = (fits.rows[fits.person] == 1) & (fits.rivals[fits.group] == 1)
    row_of: npt.NDArray[np.intp] = fits.classes.representatives()
    return fits.person[alone], np.asarray(row_of[fits.group[alone]])


def _join(released: pa.Table, listed: pa.Table, on: str | Sequence[str] | None) -> list[str]:
    if on is not None:
        return [on] if isinstance(on, str) else list(on)
    common = [name for name in released.column_names if name in listed.column_names]
    if not common:
        rule = "a release and a list must have a column in common"
        raise InvalidValue(
            rule, f"<{', '.join(released.column_names)}>", f"the list has {', '.join(listed.column_names)}"
        )
    return common


def _names(released: pa.Table, listed: pa.Table, names: str | Sequence[str] | None) -> list[str]:
    if names is None:
        return [name for name in listed.column_names if name not in released.column_names]
    wanted = [names] if isinstance(names, str) else list(names)
    for name in wanted:
        if name not in listed.column_names:
            raise InvalidValue("a column must be on the list", name, suggestion(name, listed.column_names))
    return wanted


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
