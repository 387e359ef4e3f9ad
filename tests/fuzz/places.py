"""Two neighbouring databases behind two engines of one kind, and perhaps a third with the same rows, shuffled."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.catalog.column import ColumnType
from discreet.catalog.table import Table
from discreet.curator.planner import Planner
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.engines.duckdb.snapshot import _result
from discreet.engines.duckdb.sources import DuckDBTable
from discreet.engines.engine import Engine, TableStore
from discreet.engines.parameters import bind_parameter
from discreet.engines.postgres.engine import PostgresEngine
from discreet.engines.spark.engine import SparkEngine
from discreet.query.run.measure import Run
from tests.engines.test_postgres import TYPES, as_reader, quoted
from tests.fuzz.worlds import FuzzWorld, Row, Rows, as_arrow
from tests.servers.postgres import PostgresServer

__all__ = ["DuckDBPlaces", "Pair", "Places", "PostgresPlaces", "SparkPlaces"]

_SECONDS = 30.0
"""So long no statement takes on so few rows, unless they become very many."""
_LONG_AGO = 1_700_000_000


@dataclass(frozen=True)
class Side:
    """One database, behind an engine."""

    engine: Engine
    planner: Planner
    run: Run
    """Runs a statement; what the database says of a failure is what is raised."""


@dataclass(frozen=True)
class Pair:
    """A world, taken in."""

    world: FuzzWorld
    here: Side
    there: Side
    shuffled: Side | None
    """The rows of the first in another order, read by more threads."""


class Places(ABC):
    """Where worlds can be taken in."""

    shuffles: bool = False
    """Whether a third database is taken in now and then."""
    needs_names: bool = True
    """Whether every row must name its unit itself."""

    def suits(self, world: FuzzWorld) -> bool:
        """Whether the world can be taken in here."""
        return not self.needs_names or all(not world.catalog.unit_path(t.name).steps for t in world.protected)

    @contextmanager
    def taken_in(self, world: FuzzWorld) -> Iterator[Pair]:
        """Both databases of a world; gone afterwards."""
        folder = Path(tempfile.mkdtemp(prefix="fuzz"))
        opened: list[TableStore] = []

        def side(name: str, rows: Rows, threads: int = 1) -> Side:
            place = self._opened(folder / name, threads)
            opened.append(place)
            place.store.share("the same on both sides")
            for table in world.taken_in:
                place.take_in(
                    table, self._source(world, folder / name, table, rows[table.name]), catalog=world.taken_in
                )
            snapshot = place.snapshot()
            return Side(snapshot, Planner(world.catalog, snapshot), self._run_of(snapshot))

        try:
            shuffled = side("shuffled", _shuffled(world), threads=4) if self.shuffles and world.seed % 4 == 0 else None
            yield Pair(world, side("here", world.here), side("there", world.there), shuffled)
        finally:
            for place in opened:
                place.close()
            shutil.rmtree(folder, ignore_errors=True)

    def _run_of(self, engine: Engine) -> Run:
        """How statements are run, without what hides the database's own words."""
        return lambda statement, values: engine._run(statement, [bind_parameter(value) for value in values])

    @abstractmethod
    def _opened(self, folder: Path, threads: int) -> TableStore: ...

    @abstractmethod
    def _source(self, world: FuzzWorld, folder: Path, table: Table, rows: list[Row]) -> Any: ...


def _shuffled(world: FuzzWorld) -> Rows:
    chance = random.Random(world.seed)
    return {name: chance.sample(rows, len(rows)) for name, rows in world.here.items()}


class DuckDBPlaces(Places):
    """In folders, with DuckDB."""

    shuffles = True
    needs_names = False

    def _opened(self, folder: Path, threads: int) -> TableStore:
        return DuckDBEngine(folder, threads=threads, memory_limit="1GB", timeout=_SECONDS)

    def _run_of(self, engine: Engine) -> Run:
        connection = engine._connection  # type: ignore[attr-defined]

        def run(statement: str, values: list[object]) -> pa.Table:
            """In this thread: one that waits for another takes as long as so small a statement."""
            return _result(connection.cursor(), statement, [bind_parameter(value) for value in values])

        return run

    def _source(self, world: FuzzWorld, folder: Path, table: Table, rows: list[Row]) -> Any:
        found = as_arrow(table, rows)
        if not world.collated:
            return found
        path = folder.with_name(f"{folder.name}-{table.name}.duckdb")
        with duckdb.connect(str(path)) as database:
            database.register("given", found)
            texts = [c.name for c in table.columns if c.type is ColumnType.TEXT]
            columns = ", ".join(
                f"{c.name} {'VARCHAR COLLATE NOCASE' if c.name in texts else _DUCKDB[c.type]}" for c in table.columns
            )
            database.execute(f"CREATE TABLE taken ({columns})")
            database.execute("INSERT INTO taken SELECT * FROM given")
        return DuckDBTable(path, "taken")


_DUCKDB = {
    ColumnType.INTEGER: "BIGINT",
    ColumnType.REAL: "DOUBLE",
    ColumnType.BOOLEAN: "BOOLEAN",
    ColumnType.DATE: "DATE",
    ColumnType.TIMESTAMP: "TIMESTAMP",
}


class PostgresPlaces(Places):
    """On a server that runs; columns may be of other types there."""

    def __init__(self, server: PostgresServer) -> None:
        self._server, self._numbers = server, count()
        self._urls: dict[Path, str] = {}

    def _opened(self, folder: Path, threads: int) -> TableStore:
        name = f"fuzz_{folder.name}"
        with psycopg.connect(self._server.url, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())
            connection.execute(f"CREATE DATABASE {name} STRATEGY file_copy".encode())
        self._urls[folder] = self._server.url.replace("/postgres?", f"/{name}?")
        return PostgresEngine(folder, as_reader(self._urls[folder]), timeout=_SECONDS)

    def _source(self, world: FuzzWorld, folder: Path, table: Table, rows: list[Row]) -> Any:
        columns = ", ".join(f"{quoted(c.name)} {self._native(world, table, c.name)}" for c in table.columns)
        name = f"public.{quoted(table.name)}"
        with psycopg.connect(self._urls[folder], autocommit=True) as connection:
            connection.execute(f"CREATE TABLE {name} ({columns})".encode())
            if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'reader'").fetchone():
                connection.execute("CREATE ROLE reader LOGIN")
            connection.execute(f"GRANT SELECT ON {name} TO reader".encode())
            with connection.cursor().copy(f"COPY {name} FROM STDIN".encode()) as copy:
                for row in rows:
                    copy.write_row(row)
        return name

    @staticmethod
    def _native(world: FuzzWorld, table: Table, column: str) -> str:
        plain = TYPES[next(c.type for c in table.columns if c.name == column)]
        return world.natives.get((table.name, column), plain)


class SparkPlaces(Places):
    """In Parquet files that Spark reads."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def _opened(self, folder: Path, threads: int) -> TableStore:
        return SparkEngine(folder, session=self._session, timeout=_SECONDS)

    def _source(self, world: FuzzWorld, folder: Path, table: Table, rows: list[Row]) -> Any:
        file = folder.with_name(f"{folder.name}-{table.name}.parquet")
        pq.write_table(as_arrow(table, rows), file)
        os.utime(file, (_LONG_AGO, _LONG_AGO))
        return str(file)
