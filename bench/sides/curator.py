"""The curator against the plain query it protects: 50 groups, COUNT, SUM, AVG, rows already held.

The same table is protected with groups that nobody listed beside groups that are listed, with the same budget.
"""

import sys
import tempfile
import time
from pathlib import Path

import duckdb
from stopwatch import report

import discreet as dp
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Table

ROWS = int(sys.argv[1])
MADE = f"""
    SELECT CAST(hash(i) % {max(ROWS // 10, 1)} AS BIGINT) AS person, CAST(hash(i * 7) % 50 AS BIGINT) AS grp,
           (hash(i * 13) % 100000) / 1000.0 AS value
    FROM range({ROWS}) t(i)
"""
PLAIN = "SELECT grp, COUNT(*), SUM(value), AVG(value) FROM t GROUP BY grp"
REPEATS = 7
WITH_DELTA = dp.Budget(1000, delta="1e-6", delta_for_keys="5e-7")


def policy(name: str, unit: str | None, budget: dp.Budget, *, listed: bool = True, moved: int = 0) -> Table:
    """``moved`` of a hundred values lie beyond each bound."""
    groups = {"lower": 0, "upper": 49} if listed else {}
    columns = (
        Column("person", ColumnType.INTEGER),
        Column("grp", ColumnType.INTEGER, nullable=False, **groups),
        Column("value", ColumnType.REAL, lower=moved, upper=100 - moved, nullable=False),
    )
    most = 10 if unit else 1
    return Table(name, columns, unit=unit, budget=budget, rows_per_unit=most, groups_per_unit=most)


def cpu_of(call, repeats: int = REPEATS) -> float:
    times = []
    for k in range(repeats):
        start = time.process_time()
        call(k)
        times.append(time.process_time() - start)
    return min(times)


def in_turns(ours, plain) -> dict[str, float]:
    """The least of both, asked one after the other, so that they meet the same weather."""
    pairs = [(cpu_of(lambda _, k=k: ours(k), 1), cpu_of(lambda _: plain(), 1)) for k in range(REPEATS)]
    return dict(zip(("cpu", "plain"), map(min, zip(*pairs, strict=True)), strict=True))


with tempfile.TemporaryDirectory() as folder, duckdb.connect() as database:
    curator = dp.Curator(Path(folder) / "curator")
    results = {}
    made = database.sql(MADE).to_arrow_table()
    database.register("made", made)
    database.execute("CREATE TABLE t AS SELECT grp, value, person FROM made")
    tables = [policy("by_row", None, dp.Budget(1000)), policy("by_person", "person", dp.Budget(1000))]
    tables.append(policy("moved_row", None, dp.Budget(1000), moved=5))
    for unit, label in ((None, "row"), ("person", "person")):
        tables.append(policy(f"listed_{label}", unit, WITH_DELTA))
        tables.append(policy(f"unlisted_{label}", unit, WITH_DELTA, listed=False))
    for table in tables:
        start, name = time.process_time(), table.name
        curator.protect(made, table)
        taken = time.process_time() - start
        sql = f"SELECT grp, COUNT(*), SUM(value), AVG(value) FROM {name} GROUP BY grp"
        asked = in_turns(lambda k, s=sql: curator.ask(s, epsilon=f"{k + 1}"), lambda: database.sql(PLAIN).fetchall())
        results[name] = {**asked, "ingest": taken}
    small = made.slice(0, 1000)
    curator.protect(small, policy("small", "person", dp.Budget(1000)))
    # Every text is a new one: a text that was planned before is not read again.
    question = "SELECT grp, COUNT(*) AS {}, SUM(value), AVG(value) FROM small GROUP BY grp"
    explained = [question.format(f"explained{k}") for k in range(9)]
    asked = [question.format(f"asked{k}") for k in range(9)]
    results["explain"] = {"cpu": cpu_of(lambda k: curator.explain(explained[k], epsilon=f"0.{k + 1}"), 9)}
    results["ask"] = {"cpu": cpu_of(lambda k: curator.ask(asked[k], epsilon=f"0.{k + 1}"), 9)}
report(results)
