"""A clinic whose visits grow by weeks: rows of one's choice, and a curator who answers so exactly that sums show."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

import discreet as dp
from discreet.catalog.column import Column
from discreet.catalog.table import Table

FIRST = date(2026, 1, 5)
WEEKS = [f"2026-W{week:02d}" for week in range(2, 20)]
SCHEMA = pa.schema({"patient_id": pa.int64(), "ward": pa.string(), "admitted": pa.date32(), "age": pa.int64()})
BY_WARD = "SELECT date_trunc('week', admitted) AS week, ward, COUNT(*) AS n FROM visits GROUP BY week, ward"
BY_WEEK = "SELECT date_trunc('week', admitted) AS week, COUNT(*) AS n FROM visits GROUP BY week"

Visit = tuple[int, str, int]
"""Who, in which ward, in which week, counted from 0."""


def visits(table: Iterable[Visit]) -> pa.Table:
    """The rows of some visits, each on another day of its week."""
    rows = [
        {"patient_id": who, "ward": ward, "admitted": FIRST + timedelta(days=7 * week + place % 7), "age": 40 + who % 7}
        for place, (who, ward, week) in enumerate(table)
    ]
    return pa.Table.from_pylist(rows, SCHEMA)


def policy(unit: str | None = "patient_id", budget: Any = 5000, **more: Any) -> Table:
    """The policy of the visits."""
    columns = (
        Column("patient_id", "integer"),
        Column("ward", "text", keys=("A", "B")),
        Column("admitted", "date"),
        Column("age", "integer", lower=0, upper=110),
    )
    time = {"column": "admitted", "every": "week", "from": FIRST.isoformat()}
    facts = {"analysts": {"ann": None, "bob": None}} | more
    return Table("visits", columns, unit=unit, time=time, budget=budget, **facts)


def clinic(folder: Path, table: Table | None = None) -> dp.Curator:
    """A curator with the table and no rows."""
    curator = dp.Curator(folder)
    curator.protect(visits([]), policy() if table is None else table)
    return curator


def go_by(curator: dp.Curator, weeks: dict[int, list[Visit]] | Iterable[Visit], through: int) -> None:
    """Let rows come, and close the weeks up to one."""
    rows = [row for each in weeks.values() for row in each] if isinstance(weeks, dict) else list(weeks)
    if rows:
        curator.append("visits", visits(rows))
    curator.close("visits", through=WEEKS[through])


def close(curator: dp.Curator) -> None:
    """Let go of the files."""
    curator.engine.close()
    curator.ledger.close()
