"""What the store knows of a table, and of a period of one that grows: where the rows are, and what was checked.

A closed period is stored like a small table of its own. A table that grows is described by what holds in all of the
periods that a question reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from discreet.catalog.column import ColumnType
from discreet.catalog.names import suggestion
from discreet.catalog.period import Period
from discreet.errors import InvalidValue

__all__ = ["NAMES", "Stored", "StoredPeriod", "list_runs", "read_stored", "write_stored"]


@dataclass(frozen=True)
class Stored:
    """One table as it was taken in."""

    name: str
    """As its policy spells it."""
    version: str
    """Which ingest it came from; says nothing about the rows."""
    file: str
    """Where the rows are: a file beside the manifest, or the name of a table on a server."""
    columns: Mapping[str, str]
    """The declared columns and their types, in order."""
    domain: str | None
    """What kind of unit its ids number; None for a public table."""
    parent: str | None = None
    """The table in which the units of its rows were looked up."""
    parent_version: str | None = None
    """Which version of the parent that was."""
    constant: Sequence[str] = ()
    """The columns that were seen to have one value per unit."""
    unit: str | None = None
    """For a table that stays on a server: the declared column that names the unit; None where every row is one."""
    counted: bool = False
    """Whether every row says, as ``_n``, how many rows of this table its unit has."""
    limits: Mapping[str, str] = field(default_factory=dict)
    """The columns that are also kept within limits, and within which."""
    steps: Mapping[str, str] = field(default_factory=dict)
    """The columns that are also kept in steps of a grid, and of which."""
    held: Mapping[str, int] = field(default_factory=dict)
    """The columns whose keys are marked, and how many keys a unit makes visible by the marks."""
    salted: bool = False
    """Whether every row has, as ``_salt``, the salt of its unit; see `discreet.engines.bounded_keys`."""
    alike: Mapping[str, str] = field(default_factory=dict)
    """The columns of which rows say how many of their unit have the same key, and within which limits of the values."""
    complete: Sequence[str] = ()
    """The columns in which no value is missing, as was seen when the rows were taken in; on a server nobody sees."""
    native: Mapping[str, str] = field(default_factory=dict)
    """For a table that stays on a server: its columns there and their types, as they were when it was protected."""

    digests: Mapping[str, str] = field(default_factory=dict)
    """Per column, what its values come to in any order: the same for the same rows. None where they are on a server."""
    periods: Sequence[StoredPeriod] = ()
    """The closed periods of a table that grows, in order; none where it was taken in whole."""

    @property
    def sources(self) -> Sequence[str]:
        """What to read for its rows: the table itself, or every one of its periods; on a server, all at once."""
        if not self.grows:
            return [self.name]
        names = [one.name for one in self.periods] if not self.native else [_spell_runs(self.periods)]
        return [f"{self.name}@{name}" for name in names]

    @property
    def grows(self) -> bool:
        """Whether its rows are those of closed periods, each in a file of its own."""
        return not self.version

    def over(self, names: Sequence[str]) -> Stored:
        """The same table restricted to some of its periods, with what was seen to hold in every one of them.

        What was seen of one period is true of several where no unit is in two of them; where units are people, what is
        said of a whole person was not claimed of a period either.
        """
        known = {one.name: one for one in self.periods}
        for name in names:
            if name not in known:
                rule = f"{self.name}: only closed periods can be read"
                raise InvalidValue(rule, name, suggestion(name, known))
        return _joined(self, [one for one in self.periods if one.name in names])

    def types(self) -> dict[str, ColumnType]:
        """The declared columns and their types, in order."""
        return {name: ColumnType(word) for name, word in self.columns.items()}


NAMES = {
    "name": "name",
    "version": "version",
    "file": "file",
    "columns": "columns",
    "domain": "domain",
    "parent": "parent",
    "parent_version": "parent_version",
    "constant": "constant",
    "unit": "unit",
    "counted": "counted",
    "limits": "limits",
    "steps": "steps",
    "held": "held",
    "salted": "salted",
    "alike": "alike",
    "complete": "complete",
    "native": "native",
    "digests": "digests",
}
"""The fields of a stored table and what the file calls them, in its order: a field may be renamed, a name may not."""


@dataclass(frozen=True)
class StoredPeriod:
    """A closed period of a table that grows, and the file that holds its rows."""

    name: str
    """As people call it."""
    start: str
    """When it begins, as ISO 8601 writes it, on the clock of the time column."""
    end: str
    """When the next one begins."""
    digest: str
    """The SHA-256 of the file."""
    rows: Stored
    """The rows, as a table of its own."""
    set_aside: int = 0
    """How many rows were set aside when it was closed; for the owner alone."""

    def as_period(self) -> Period:
        """The period, as the calendar has it."""
        return Period(self.name, datetime.fromisoformat(self.start), datetime.fromisoformat(self.end))

    @property
    def version(self) -> str:
        """Which closing it came from; it stays when somebody is forgotten."""
        return self.rows.version

    @property
    def file(self) -> str:
        """Where the rows are."""
        return self.rows.file


def read_stored(row: Mapping[str, Any]) -> Stored:
    """The table that a row of the manifest tells of; older ones say less, and a field that is not known is refused."""
    fields = {name: has for has, name in NAMES.items()}
    stored = Stored(**{fields[name]: value for name, value in row.items()})
    stored.types()  # unknown types are refused here, not in the middle of a question
    return stored


def write_stored(stored: Stored) -> dict[str, Any]:
    """The row of the manifest that tells of a table."""
    return {name: getattr(stored, has) for has, name in NAMES.items()}


def list_runs(periods: Sequence[StoredPeriod]) -> list[list[StoredPeriod]]:
    """The same periods, in order, as stretches without a gap."""
    runs: list[list[StoredPeriod]] = []
    for one in periods:
        if runs and runs[-1][-1].end == one.start:
            runs[-1].append(one)
        else:
            runs.append([one])
    return runs


def _spell_runs(periods: Sequence[StoredPeriod]) -> str:
    """Several periods as one name, such as ``2026-01..2026-03,2026-05``."""
    return ",".join(run[0].name + (f"..{run[-1].name}" if run[1:] else "") for run in list_runs(periods))


def _joined(table: Stored, periods: Sequence[StoredPeriod]) -> Stored:
    """A table that grows, over some of its periods."""
    rows = [one.rows for one in periods]
    return replace(
        table,
        file=rows[0].file if len({one.file for one in rows}) == 1 else "",
        constant=_in_all([one.constant for one in rows]),
        complete=_in_all([one.complete for one in rows]),
        counted=bool(rows) and all(one.counted for one in rows),
        salted=bool(rows) and all(one.salted for one in rows),
        limits=_agreed([one.limits for one in rows]),
        steps=_agreed([one.steps for one in rows]),
        held=_agreed([one.held for one in rows]),
        alike=_agreed([one.alike for one in rows]),
        digests=_summed([one.digests for one in rows]),
        periods=tuple(periods),
    )


def _in_all(lists: Sequence[Sequence[str]]) -> list[str]:
    return [name for name in lists[0] if all(name in one for one in lists)] if lists else []


def _agreed(facts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    first = facts[0] if facts else {}
    return {name: fact for name, fact in first.items() if all(one.get(name) == fact for one in facts)}


def _summed(digests: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """What all values of a column come to: sums add up. Files without rows have none."""
    sums: dict[str, tuple[int, int]] = {}
    for one in digests:
        for column, text in one.items():
            count, total = sums.get(column, (0, 0))
            more, _, added = text.partition("-")
            sums[column] = count + int(more), total + int(added, 16)
    return {column: f"{count}-{total:x}" for column, (count, total) in sums.items()}
