"""One tree's curator, told on its standard input which question to ask next; it answers with the CPU time taken."""

import sys
import tempfile
import time
from pathlib import Path

import duckdb

import discreet as dp
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Table

ROWS = int(sys.argv[1])
MADE = f"""
    SELECT CAST(hash(i) % {max(ROWS // 10, 1)} AS BIGINT) AS person, CAST(hash(i * 7) % 50 AS BIGINT) AS grp,
           (hash(i * 13) % 100000) / 1000.0 AS value
    FROM range({ROWS}) t(i)
"""


def policy(name: str, unit: str | None) -> Table:
    columns = (
        Column("person", ColumnType.INTEGER),
        Column("grp", ColumnType.INTEGER, nullable=False, lower=0, upper=49),
        Column("value", ColumnType.REAL, lower=0, upper=100, nullable=False),
    )
    return Table(name, columns, unit=unit, budget=dp.Budget(10**6), rows_per_unit=10 if unit else 1)


with tempfile.TemporaryDirectory() as folder:
    curator = dp.Curator(Path(folder) / "curator")
    made = duckdb.sql(MADE).to_arrow_table()
    for name, unit in (("by_row", None), ("by_person", "person")):
        curator.protect(made, policy(name, unit))
    print("ready", flush=True)
    for k, line in enumerate(sys.stdin, 1):
        start = time.process_time()
        curator.ask(line, epsilon=f"1.{k:06}")
        print(time.process_time() - start, flush=True)
