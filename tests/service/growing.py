"""A table of a hospital that grows by months: stays, about a person and month, of which January 2026 is closed."""

from __future__ import annotations

import datetime
from contextlib import closing

import pyarrow as pa

from discreet.catalog.budget import Budget
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Table
from discreet.curator.curator import Curator
from tests.service.hospital import Hospital

__all__ = ["STAYS", "begin_stays", "stays", "stays_policy"]


STAYS = b"patient,ward,day\n7,A,2026-02-03\n8,B,2026-02-04\n9,A,2026-01-05\n,A,2026-02-05\n9,B,\n"
"""Five rows: two of February, one of January, one without a person and one without a day."""


def stays_policy(name: str = "stays") -> Table:
    """ε = 2 a month for all together, of which ana may spend 1, and ben all."""
    return Table(
        name,
        (
            Column("patient", ColumnType.INTEGER),
            Column("ward", ColumnType.TEXT, keys=("A", "B"), nullable=False),
            Column("day", ColumnType.DATE),
        ),
        unit="patient",
        unit_per="month",  # type: ignore[arg-type]
        rows_per_unit=2,
        time={"column": "day", "every": "month", "from": "2026-01-01"},  # type: ignore[arg-type]
        budget={"epsilon": 2, "per": "month"},  # type: ignore[arg-type]
        analysts={"ana": Budget(1), "ben": None},
    )


def stays(days: int = 31, count: int = 300) -> pa.Table:
    """Stays of a hundred patients, on so many days of January 2026."""
    first = datetime.date(2026, 1, 1)
    return pa.table(
        {
            "patient": pa.array([number % 100 for number in range(count)], pa.int64()),
            "ward": ["AB"[number % 2] for number in range(count)],
            "day": pa.array([first + datetime.timedelta(days=number % days) for number in range(count)], pa.date32()),
        }
    )


def begin_stays(hospital: Hospital) -> None:
    """Protect the stays in a hospital, and close January."""
    curator = Curator(hospital.folder)
    with closing(curator.ledger), closing(curator.engine):
        curator.protect(stays(), stays_policy())
        curator.close("stays", through="2026-01")
