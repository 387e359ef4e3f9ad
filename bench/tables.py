"""The tables that every side is asked about, as Parquet files: person, grp, value."""

from __future__ import annotations

from pathlib import Path

import duckdb

__all__ = ["even", "skewed"]

PEOPLE_PER_ROW = 0.1


def even(folder: Path, rows: int) -> Path:
    """Real values from 0 to 100 in 50 groups of like size, by a tenth as many people as rows, about ten rows each."""
    return _written(
        folder / f"even-{rows}.parquet",
        f"""SELECT CAST(hash(i) % {max(1, int(rows * PEOPLE_PER_ROW))} AS BIGINT) AS person,
                   CAST(hash(i * 7) % 50 AS BIGINT) AS grp, (hash(i * 13) % 100000) / 1000.0 AS value
            FROM range({rows}) t(i)""",
    )


def skewed(folder: Path, people: int = 23_500) -> Path:
    """About 190,000 rows in 20 groups, the largest nine times the smallest, by people with 1 to 30 rows.

    Most people have few rows, and who has more rows has higher values, so that bounding people changes averages too.
    Values are whole numbers from 0 to 100, which suits every side.
    """
    uniform = "(hash(p * 31 + k * {}) % 1000003) / 1000003.0"
    return _written(
        folder / f"skewed-{people}.parquet",
        f"""WITH people AS (SELECT p, 1 + CAST(floor(30 * ((hash(p) % 1000003) / 1000003.0) ** 3) AS BIGINT) AS n
                            FROM range({people}) t(p)),
                 visits AS (SELECT p, n, unnest(range(n)) AS k FROM people)
            SELECT p AS person, CAST(floor(20 * ({uniform.format(7919)}) ** 2) AS BIGINT) AS grp,
                   CAST(least(100, floor(-(10 + n) * ln(({uniform.format(104729)} + 1e-6)))) AS BIGINT) AS value
            FROM visits""",
    )


def _written(file: Path, query: str) -> Path:
    if not file.exists():
        with duckdb.connect() as database:
            database.execute(f"COPY ({query}) TO '{file}'")
    return file
