"""A table that grows by days, and a plain reference that says which rows each of its closed days holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

import pyarrow as pa

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.period import Every, Period, TimeColumn
from discreet.catalog.table import Budget, Table
from discreet.engines.duckdb.engine import DuckDBEngine

__all__ = ["FIRST", "KINDS", "Reference", "Row", "as_source", "close", "period", "shown", "table", "units"]

Row = tuple[int, int | None, date | None, str | None]
"""Its own number, the person, the day and the ward."""
FIRST = date(2026, 1, 5)
KINDS = ("row", "person and day", "person")
_TIME = TimeColumn("day", Every.DAY, FIRST)


def table(kind: str, name: str = "visits", *, may_miss_ward: bool = True) -> Table:
    """The policy of one of the three kinds."""
    facts: dict[str, Any] = {
        "row": {"budget": Budget(1)},
        "person and day": {
            "unit": "who",
            "unit_per": Every.DAY,
            "budget": Budget(1),
            "budget_per": Every.DAY,
            "rows_per_unit": 3,
        },
        "person": {"unit": "who", "budget": Budget(1), "rows_per_unit": 3},
    }[kind]
    ward = Column(
        "ward",
        ColumnType.TEXT,
        nullable=None if may_miss_ward else False,
        constant_per_unit=kind == "person and day",
    )
    columns = (
        Column("number", ColumnType.INTEGER, lower=0, upper=1000),
        Column("who", ColumnType.INTEGER),
        Column("day", ColumnType.DATE),
        ward,
    )
    return Table(name, columns, time=_TIME, **facts)


def as_source(rows: Iterable[Row]) -> pa.Table:
    """Rows as they are handed over."""
    names = {"number": pa.int64(), "who": pa.int64(), "day": pa.date32(), "ward": pa.string()}
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return pa.table({name: pa.array(column, kind) for (name, kind), column in zip(names.items(), columns, strict=True)})


def period(place: int) -> Period:
    """The n-th day of the table, from 0."""
    return _TIME.period_of(FIRST + timedelta(place))


def close(engine: DuckDBEngine, table: Table, place: int) -> str:
    """Close the n-th day, as a curator does."""
    root = engine.prepare_close(table, period(place))
    engine.finish_close(table.name, period(place))
    return root


def shown(engine: DuckDBEngine, name: str = "visits") -> dict[str, list[dict[str, Any]]]:
    """The rows of every closed period, as questions read them."""
    snapshot = engine.snapshot()
    stored = snapshot.stored(name)
    rows = [snapshot.run(f'SELECT * FROM "{source}" ORDER BY number').to_pylist() for source in stored.sources]
    return {one.name: found for one, found in zip(stored.periods, rows, strict=True)}


def units(found: dict[str, list[dict[str, Any]]]) -> dict[tuple[str, int], int]:
    """The unit of every row, by the period and the row's number."""
    return {(name, row["number"]): row["_unit"] for name, rows in found.items() for row in rows}


@dataclass
class Reference:
    """What a table that grows must hold, worked out row by row."""

    kind: str
    may_miss_ward: bool = True
    waiting: list[Row] = field(default_factory=list)
    """Rows that were taken and whose day is open."""
    closed: list[list[Row]] = field(default_factory=list)
    """The rows of every closed day."""
    set_aside: list[int] = field(default_factory=list)
    """How many rows were set aside at every close."""
    to_forget: set[int] = field(default_factory=set)
    lives: dict[int, int] = field(default_factory=dict)
    """How often a person was forgotten."""

    def append(self, rows: Sequence[Row]) -> dict[str, int]:
        """Take rows, and say how many were set aside for what."""
        found: dict[str, int] = {}
        for row in rows:
            reason = self._reason(row)
            if reason is None:
                self.waiting.append(row)
            else:
                found[reason] = found.get(reason, 0) + 1
        return found

    def _reason(self, row: Row) -> str | None:
        _, who, day, ward = row
        if day is None:
            return "no date"
        if who is None and self.kind != "row":
            return "no person"
        if day < FIRST:
            return "before"
        if day < FIRST + timedelta(len(self.closed)):
            return "late"
        if day >= FIRST + timedelta(4096):
            return "after"
        return "missing" if ward is None and not self.may_miss_ward else None

    def close(self) -> None:
        """Close the next day."""
        today = FIRST + timedelta(len(self.closed))
        for who in self.to_forget:
            self.lives[who] = self.lives.get(who, 0) + 1
        self.closed = [[row for row in rows if row[1] not in self.to_forget] for rows in self.closed]
        self.waiting = [row for row in self.waiting if row[1] not in self.to_forget]
        self.to_forget = set()
        rows = [row for row in self.waiting if row[2] == today]
        self.waiting = [row for row in self.waiting if row[2] != today]
        if self.kind == "person and day":
            wards: dict[int | None, set[str | None]] = {}
            for _, who, _, ward in rows:
                wards.setdefault(who, set()).add(ward)
            kept = [row for row in rows if len(wards[row[1]]) == 1]
            self.set_aside.append(len(rows) - len(kept))
            rows = kept
        else:
            self.set_aside.append(0)
        self.closed.append(rows)

    def unit_of(self, row: Row) -> tuple[Any, ...]:
        """Whom a row belongs to."""
        number, who, day, _ = row
        if self.kind == "row":
            return ("row", number)
        life = self.lives.get(who or 0, 0)
        return (who, day) if self.kind == "person and day" else (who, life)
