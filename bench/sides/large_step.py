"""One step with 100 million rows in a process of its own: made, taken in or asked; its time and its most memory."""

import resource
import sys
import time
from pathlib import Path

import duckdb
from asking import LOWER, UPPER
from stopwatch import report

GROUPS = 50
QUESTION = "SELECT grp, COUNT(*), SUM(value), AVG(value) FROM t GROUP BY grp"


def make(folder: Path, rows: int) -> None:
    with duckdb.connect(config={"memory_limit": "2GB", "preserve_insertion_order": "false"}) as database:
        database.execute(
            f"""COPY (SELECT CAST(hash(i) % {rows // 10} AS BIGINT) AS person,
                             CAST(hash(i * 7) % {GROUPS} AS BIGINT) AS grp, (hash(i * 13) % 100000) / 1000.0 AS value
                      FROM range({rows}) t(i)) TO '{folder / "large.parquet"}'"""
        )


def protect(folder: Path) -> None:
    import discreet as dp
    from discreet.catalog.column import Column, ColumnType
    from discreet.catalog.table import Table

    columns = (
        Column("person", ColumnType.INTEGER),
        Column("grp", ColumnType.INTEGER, lower=0, upper=GROUPS - 1, nullable=False),
        Column("value", ColumnType.REAL, lower=LOWER, upper=UPPER, nullable=False),
    )
    policy = Table("t", columns, unit="person", budget=dp.Budget(10), rows_per_unit=10)
    dp.Curator(folder / "curator").protect(folder / "large.parquet", policy)


def ask(folder: Path) -> None:
    import discreet as dp

    assert len(dp.Curator(folder / "curator").ask(QUESTION, epsilon=1).to_rows()) == GROUPS


step, folder = sys.argv[1], Path(sys.argv[2])
start = time.monotonic()
if step == "make":
    make(folder, int(sys.argv[3]))
else:
    {"protect": protect, "ask": ask}[step](folder)
used = resource.getrusage(resource.RUSAGE_SELF)
taken = {"wall": time.monotonic() - start, "cpu": used.ru_utime + used.ru_stime, "gigabytes": used.ru_maxrss / 2**20}
report({step: taken})
