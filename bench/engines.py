"""Questions on rows that stay on a server, beside the plain grouped query there: ``python -m bench.engines postgres``.

Times are those that somebody waits, the least of a few, in one run; a ratio within the run is what counts. Beside them
stand CPU time and most memory of everything that works: the server, what it starts, and the curator.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from bench.figure import Figure, seconds, table_of
from bench.memory import most_memory
from bench.page import as_markdown, markdown_of, write_part
from bench.peers import versions
from bench.sides.asking import tree_cpu
from discreet.catalog.catalog import Catalog
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Budget, Table
from discreet.engines.engine import TableStore
from discreet.privacy.loss import Pure
from discreet.query.question import prepare
from discreet.query.run.contribution_bounds import write_statements

__all__ = ["ENGINES", "Server", "measured"]

GROUPS = 50
ROWS_EACH = 10
TRIES = 5
WARM_UP = 8
"""Rounds before those that count: a server runs for days, and Java compiles what it has run a few times."""
COLUMNS = (
    Column("person", ColumnType.INTEGER),
    Column("place", ColumnType.TEXT, keys=tuple(f"place {k}" for k in range(GROUPS))),
    Column("age", ColumnType.INTEGER, lower=0, upper=110),
    Column("cost", ColumnType.REAL, lower=0, upper=1000),
)
TABLES = {
    "row": Table("by_row", COLUMNS, budget=Budget(1)),
    "person": Table("by_person", COLUMNS, unit="person", budget=Budget(1), rows_per_unit=ROWS_EACH),
}
MOST = {"row": 1.5, "person": 4.0}
"""How many times as long as the plain query it may take."""
QUESTIONS = ("COUNT(*)", "COUNT(*), SUM(age), AVG(cost)")


@dataclass(frozen=True)
class Server:
    """An engine whose tables are protected, and a way past it."""

    place: TableStore
    """The engine."""
    plain: Callable[[str], Any]
    """Runs a query over the table ``visits`` as anybody would."""


@contextmanager
def postgres(folder: Path, rows: int, *, is_indexed: bool = False) -> Iterator[Server]:
    """A server of its own with so many rows, and with an index on the column that names people where it is wanted."""
    import psycopg
    from tests.servers.postgres import PostgresServer

    from discreet.engines.postgres.engine import PostgresEngine

    server = PostgresServer()
    try:
        server.start("shared_buffers=1GB", "work_mem=256MB")  # for both; with less, people are counted on disk
        people = max(1, rows // ROWS_EACH)
        with psycopg.connect(server.url, autocommit=True) as owner:
            owner.execute(
                f"CREATE TABLE visits AS SELECT (k * 7919 % {people})::int8 AS person,"
                f" 'place ' || (k % {GROUPS}) AS place, (k % 100)::int4 AS age, (k % 1000)::float8 AS cost"
                f" FROM generate_series(1::int8, {rows}) k".encode()
            )
            if is_indexed:
                owner.execute("CREATE INDEX ON visits (person)")
            owner.execute("VACUUM ANALYZE visits")
            owner.execute("CREATE ROLE reader LOGIN")
            owner.execute("GRANT SELECT ON visits TO reader")
        url = server.url.replace("curator@", "reader@")
        with PostgresEngine(folder, url, owner_log=print) as place, psycopg.connect(url, autocommit=True) as reader:
            for table in TABLES.values():
                place.take_in(table, "visits", catalog=Catalog(list(TABLES.values())))
            yield Server(place, lambda query: reader.execute(query.encode()).fetchall())
    finally:
        server.remove()


@contextmanager
def spark(folder: Path, rows: int) -> Iterator[Server]:
    """A session of this process, and a Parquet file with so many rows, which both sides name by its path.

    Each question lists the files and reads their schema anew, as whoever types ``FROM parquet.`path` `` does. The file
    is an hour old: one that was written a moment ago may be written again, and people are counted in one reading then.
    """
    import duckdb
    from pyspark.sql import SparkSession

    from discreet.engines.spark.engine import SparkEngine

    file, people = folder / "visits.parquet", max(1, rows // ROWS_EACH)
    duckdb.sql(
        f"COPY (SELECT k * 7919 % {people} AS person, 'place ' || (k % {GROUPS}) AS place,"
        f" CAST(k % 100 AS INTEGER) AS age, CAST(k % 1000 AS DOUBLE) AS cost FROM range({rows}) t(k)) TO '{file}'"
    )
    os.utime(file, (time.time() - 3600,) * 2)
    builder = SparkSession.builder.config("spark.ui.enabled", "false").config("spark.driver.memory", "4g")
    session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    with SparkEngine(folder / "curator", session=session, owner_log=print) as place:
        for table in TABLES.values():
            place.take_in(table, str(file), catalog=Catalog(list(TABLES.values())))
        yield Server(place, lambda query: session.sql(query.replace("visits", f"parquet.`{file}`")).toArrow())
    session.stop()


ENGINES = {"postgres": postgres, "postgres-indexed": partial(postgres, is_indexed=True), "spark": spark}
"""By name."""


@dataclass(frozen=True)
class Taken:
    """What a step takes."""

    wait: float = float("inf")
    """Seconds."""
    cpu: float = float("inf")
    """Seconds of all cores and processes."""
    memory: int = 0
    """Bytes."""

    def least(self, wait: float, cpu: float) -> Taken:
        """Another try."""
        return replace(self, wait=min(self.wait, wait), cpu=min(self.cpu, cpu))


Found = tuple[str, str, Taken, Taken]
"""The question, the unit, what the plan takes and what the plain query takes."""


def measured(server: Server) -> Iterator[Found]:
    """Every question, for every unit."""
    catalog = Catalog(list(TABLES.values()))
    for question in QUESTIONS:
        steps: dict[str, Callable[[], object]] = {"plain": _plain(server, question)}
        for unit, table in TABLES.items():
            plans = prepare(f"SELECT place, {question} FROM {table.name} GROUP BY place", catalog, Pure(1)).plans
            steps[unit] = _asked(server, [one for plan in plans for one in write_statements(plan)])
        taken = dict.fromkeys(steps, Taken())
        for _ in range(WARM_UP):
            for step in steps.values():
                step()
        for _ in range(TRIES):  # in turns, so that all meet the same weather
            for name, step in steps.items():
                before, start = tree_cpu(), time.perf_counter()
                step()
                wait = time.perf_counter() - start
                taken[name] = taken[name].least(wait, tree_cpu() - before)
        taken = {name: replace(one, memory=most_memory(steps[name])) for name, one in taken.items()}
        for unit in TABLES:
            yield question, unit, taken[unit], taken["plain"]


def _plain(server: Server, question: str) -> Callable[[], object]:
    return lambda: server.plain(f"SELECT place, {question} FROM visits GROUP BY place")


def _asked(server: Server, statements: list[tuple[str, list[object]]]) -> Callable[[], object]:
    return lambda: [server.place.run(*one) for one in statements]


def _figure(engine: str, rows: int, found: Found) -> Figure:
    question, unit, ours, plain = found[0], found[1], found[2].wait, found[3].wait
    measure, target = f"{engine}, {rows:,} rows, unit = {unit}: {question}", f"≤ {MOST[unit]:g} ×"
    ratio, beside = f"{ours / plain:.2f} ×", f"the plain query {seconds(plain)}"
    return Figure(measure, seconds(ours), beside, ratio, target, ours <= MOST[unit] * plain)


def _used(found: list[Found]) -> str:
    """CPU time and memory, as a table."""
    columns = ("question", "unit", "CPU time", "of the plain query", "ratio", "memory", "of the plain query")
    lines = [
        [question, unit, seconds(ours.cpu), seconds(plain.cpu), f"{ours.cpu / plain.cpu:.2f} ×"]
        + [f"{one.memory / 2**30:.2f} GB" for one in (ours, plain)]
        for question, unit, ours, plain in found
    ]
    return "The server, what it starts and the curator together:\n\n" + as_markdown(columns, lines)


def _version(engine: str, server: Server) -> str:
    said = str(server.plain("SELECT version()")[0][0])
    return f"{engine} {said.removeprefix('PostgreSQL ').split()[0]}"


def main() -> None:
    """Measure one engine, print a table and put it on the page of benchmarks."""
    engine, rows = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000
    try:
        with tempfile.TemporaryDirectory() as folder, ENGINES[engine](Path(folder), rows) as server:
            found = list(measured(server))
            version = _version(engine, server)
    except Exception as problem:  # no server, no Java, not enough of the machine
        raise SystemExit(f"{engine} could not be measured: {type(problem).__name__}: {problem}") from problem
    figures = [_figure(engine, rows, one) for one in found]
    table = table_of({f"{rows:,} rows, {GROUPS} groups; what somebody waits, the least of {TRIES}": figures})
    table.title = f"Questions on rows that stay in {engine}, beside the plain query there"
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(table)
    console.print(_used(found))
    text = f"{markdown_of(table)}\n\n{_used(found)}"
    write_part("bench-engines", text, [version, *versions([None])], figures, part=engine)


if __name__ == "__main__":
    main()
