"""The curator against the plain query it protects: 10 million rows, 50 groups, COUNT, SUM, AVG, rows already held."""

import tempfile
import time
from pathlib import Path

import duckdb
from stopwatch import report

import discreet as dp
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Table

ROWS = 10_000_000
MADE = f"""
    SELECT CAST(hash(i) % 1000000 AS BIGINT) AS person, CAST(hash(i * 7) % 50 AS BIGINT) AS grp,
           (hash(i * 13) % 100000) / 1000.0 AS value
    FROM range({ROWS}) t(i)
"""
PLAIN = "SELECT grp, COUNT(*), SUM(value), AVG(value) FROM t GROUP BY grp"
REPEATS = 3


def policy(name: str, unit: str | None) -> Table:
    columns = (
        Column("person", ColumnType.INTEGER),
        Column("grp", ColumnType.INTEGER, lower=0, upper=49, nullable=False),
        Column("value", ColumnType.REAL, lower=0, upper=100, nullable=False),
    )
    rows = 10 if unit else 1
    return Table(name, columns, unit=unit, budget=dp.Budget(1000), rows_per_unit=rows)


def cpu_of(call, repeats: int = REPEATS) -> float:
    times = []
    for k in range(repeats):
        start = time.process_time()
        call(k)
        times.append(time.process_time() - start)
    return min(times)


with tempfile.TemporaryDirectory() as folder:
    curator = dp.Curator(Path(folder) / "curator")
    results = {}
    with duckdb.connect() as database:
        made = database.sql(MADE).to_arrow_table()
        database.register("made", made)
        database.execute("CREATE TABLE t AS SELECT grp, value, person FROM made")
        results["plain"] = {"cpu": cpu_of(lambda _: database.sql(PLAIN).fetchall())}
    for name, unit in (("by_row", None), ("by_person", "person")):
        start = time.process_time()
        curator.protect(made, policy(name, unit))
        taken = time.process_time() - start
        sql = f"SELECT grp, COUNT(*), SUM(value), AVG(value) FROM {name} GROUP BY grp"
        asked = cpu_of(lambda k, s=sql: curator.ask(s, epsilon=f"0.{k + 1}"))
        results[name] = {"cpu": asked, "ingest": taken}
    small = made.slice(0, 1000)
    curator.protect(small, policy("small", "person"))
    # Every text is a new one: a text that was planned before is not read again.
    question = "SELECT grp, COUNT(*) AS {}, SUM(value), AVG(value) FROM small GROUP BY grp"
    explained = [question.format(f"explained{k}") for k in range(9)]
    asked = [question.format(f"asked{k}") for k in range(9)]
    results["explain"] = {"cpu": cpu_of(lambda k: curator.explain(explained[k], epsilon=f"0.{k + 1}"), 9)}
    results["ask"] = {"cpu": cpu_of(lambda k: curator.ask(asked[k], epsilon=f"0.{k + 1}"), 9)}
report(results)
