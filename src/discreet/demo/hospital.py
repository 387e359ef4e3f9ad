"""A hospital that never was: visits made from a hash of their number, and the policy that protects them.

Demonstrations use it, because it is the same on every machine and is nobody's data.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import duckdb
import pyarrow as pa

from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table

__all__ = ["visits", "visits_policy"]


_WARDS = ("cardiology", "maternity", "neurology", "oncology", "surgery")
_VISITS = """
    SELECT CAST(hash(i) % ? AS BIGINT) AS patient_id,
           ['cardiology', 'maternity', 'neurology', 'oncology', 'surgery'][1 + CAST(hash(i * 7) % 5 AS INT)] AS ward,
           CAST(18 + hash(i * 11) % 70 AS BIGINT) AS age,
           round(50 + (hash(i * 13) % 2000) * (hash(i * 17) % 5) / 2.0, 2) AS cost,
           DATE '2025-01-01' + CAST(hash(i * 19) % 365 AS INT) AS day
    FROM range(?) t(i)
"""


def visits(count: int = 200_000, patients: int = 60_000) -> pa.Table:
    """So many visits of so many patients."""
    with duckdb.connect() as database:
        return database.sql(_VISITS, params=(patients, count)).to_arrow_table()


def visits_policy(analysts: Mapping[str, Budget | None] | None = None, name: str = "visits") -> Table:
    """The policy of the visits: ε = 3 for everybody together, and caps for ``analysts`` where there are some."""
    return Table(
        name,
        (
            Column("patient_id", ColumnType.INTEGER),
            Column("ward", ColumnType.TEXT, keys=_WARDS, nullable=False),
            Column("age", ColumnType.INTEGER, lower=18, upper=90, nullable=False),
            Column("cost", ColumnType.REAL, lower=0, upper=4000, nullable=False),
            Column("day", ColumnType.DATE, lower=date(2025, 1, 1), upper=date(2025, 12, 31), nullable=False),
        ),
        unit="patient_id",
        budget=Budget(3),
        rows_per_unit=8,
        analysts=dict(analysts or {}),
    )
