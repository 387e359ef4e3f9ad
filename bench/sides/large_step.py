"""One step with many rows in a process of its own: made, taken in or asked; its time and its most memory."""

import resource
import shutil
import sys
import time
from pathlib import Path

import duckdb
from asking import LOWER, UPPER
from stopwatch import cpu, report

KEYS = {"10": ["g10"], "1000": ["g1000"], "100000": ["g1000", "g100"]}
"""Groups → what is grouped by."""
RANGES = {"g10": 10, "g100": 100, "g1000": 1000}
REPEATS = 3


def make(folder: Path, rows: str) -> None:
    keys = ", ".join(f"CAST(hash(i * {most + 7}) % {most} AS BIGINT) AS {key}" for key, most in RANGES.items())
    with duckdb.connect(config={"memory_limit": "2GB", "preserve_insertion_order": "false"}) as database:
        database.execute(
            f"""COPY (SELECT CAST(hash(i) % {int(rows) // 10} AS BIGINT) AS person, {keys},
                             (hash(i * 13) % 100000) / 1000.0 AS value
                      FROM range({rows}) t(i)) TO '{folder / "large.parquet"}'"""
        )


def protect(folder: Path, unit: str) -> None:
    import discreet as dp
    from discreet.catalog.column import Column, ColumnType
    from discreet.catalog.table import Table

    columns = (
        Column("person", ColumnType.INTEGER),
        *(Column(key, ColumnType.INTEGER, lower=0, upper=most - 1, nullable=False) for key, most in RANGES.items()),
        Column("value", ColumnType.REAL, lower=LOWER, upper=UPPER, nullable=False),
    )
    by_person = {"unit": "person", "rows_per_unit": 10} if unit == "person" else {}
    policy = Table("t", columns, budget=dp.Budget(1000), **by_person)
    dp.Curator(folder / unit).protect(folder / "large.parquet", policy)


def question(groups: str) -> str:
    keys = ", ".join(KEYS[groups])
    return f"SELECT {keys}, COUNT(*) AS n, SUM(value) AS s, AVG(value) AS a FROM t GROUP BY {keys}"


def ask(folder: Path, unit: str, groups: str) -> dict[str, float]:
    import discreet as dp

    curator, prices = dp.Curator(folder / unit), iter(("1.1", "1.2", "1.3"))
    return cpu(lambda: curator.ask(question(groups), epsilon=next(prices)).table.num_rows, REPEATS)


def plain(folder: Path, unit: str, groups: str) -> dict[str, float]:
    (rows,) = (folder / unit / "store").glob("rows-*.duckdb")
    with duckdb.connect(config={"memory_limit": "2.5GB", "preserve_insertion_order": "false"}) as database:
        database.execute(f"ATTACH '{rows}' AS held (READ_ONLY)")
        database.execute("CREATE VIEW t AS FROM held.rows")
        return cpu(lambda: database.sql(question(groups)).to_arrow_table(), REPEATS)


def remove(folder: Path) -> None:
    shutil.rmtree(folder)


step, folder = sys.argv[1], Path(sys.argv[2])
start = time.monotonic()
found = {"make": make, "protect": protect, "ask": ask, "plain": plain, "remove": remove}[step](folder, *sys.argv[3:])
used = resource.getrusage(resource.RUSAGE_SELF)
whole = {"wall": time.monotonic() - start, "cpu": used.ru_utime + used.ru_stime, "gigabytes": used.ru_maxrss / 2**20}
report({step: whole | (found or {})})
