"""The tables that every side is asked about, as Parquet files: person, grp, value."""

from __future__ import annotations

from pathlib import Path

import duckdb

__all__ = ["even", "rare", "skewed"]

PEOPLE_PER_ROW = 0.1
_UNIFORM = "(hash(p * 31 + k * {}) % 1000003) / 1000003.0"


def even(folder: Path, rows: int) -> Path:
    """Real values from 0 to 100 in 50 groups of like size, by a tenth as many people as rows, about ten rows each."""
    return _written(
        folder / f"even-{rows}.parquet",
        f"""SELECT CAST(hash(i) % {max(1, int(rows * PEOPLE_PER_ROW))} AS BIGINT) AS person,
                   CAST(hash(i * 7) % 50 AS BIGINT) AS grp, (hash(i * 13) % 100000) / 1000.0 AS value
            FROM range({rows}) t(i)""",
    )


def skewed(folder: Path, people: int = 23_500, *, whole: bool = True) -> Path:
    """About 190,000 rows in 20 groups, the largest nine times the smallest, by people with 1 to 30 rows.

    Most people have few rows, and who has more rows has higher values, so that bounding people changes averages too.
    Values are whole numbers from 0 to 100, which suits every side, or have decimals.
    """
    value = f"least(100, -(10 + n) * ln(({_UNIFORM.format(104729)} + 1e-6)))"
    return _written(
        folder / f"skewed-{people}-{'whole' if whole else 'real'}.parquet",
        f"""WITH people AS (SELECT p, 1 + CAST(floor(30 * ((hash(p) % 1000003) / 1000003.0) ** 3) AS BIGINT) AS n
                            FROM range({people}) t(p)),
                 visits AS (SELECT p, n, unnest(range(n)) AS k FROM people)
            SELECT p AS person, CAST(floor(20 * ({_UNIFORM.format(7919)}) ** 2) AS BIGINT) AS grp,
                   {f"CAST(floor({value}) AS BIGINT)" if whole else f"CAST({value} AS DOUBLE)"} AS value
            FROM visits""",
    )


def rare(folder: Path, most: int, people: int = 20_000, keys: int = 2_000) -> Path:
    """Thousands of groups whose sizes fall like 1/k, most of them with a few people; everybody is in ``most`` at most.

    A person has one row in a group, so that rows are people. Values are whole numbers from 0 to 100.
    """
    return _written(
        folder / f"rare-{people}-{most}.parquet",
        f"""WITH people AS (SELECT p, 1 + CAST(hash(p) % {most} AS BIGINT) AS n FROM range({people}) t(p)),
                 visits AS (SELECT p, unnest(range(n)) AS k FROM people),
                 drawn AS (SELECT DISTINCT p AS person,
                                  CAST(floor(({keys} + 1) ** ({_UNIFORM.format(7919)})) AS BIGINT) AS grp
                           FROM visits)
            SELECT person, grp, CAST(least(100, floor(-30 * ln((hash(person * 17 + grp) % 1000003) / 1000003.0 + 1e-6)))
                                     AS BIGINT) AS value
            FROM drawn""",
    )


def _written(file: Path, query: str) -> Path:
    if not file.exists():
        with duckdb.connect() as database:
            database.execute(f"COPY ({query}) TO '{file}'")
    return file
