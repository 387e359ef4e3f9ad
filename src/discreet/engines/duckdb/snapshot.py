"""The store as it was at one moment, opened for questions and for nothing else.

An in-memory DuckDB attaches the current files read-only and shows each table under its own name. Then it is
closed for good: no file or network access, no extensions, no Python variables as tables, no further settings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import ClassVar

import duckdb
import pyarrow as pa
from duckdb import sqltypes

from discreet.catalog.column import ColumnType
from discreet.engines.duckdb.manifest import Manifest, Stored
from discreet.engines.duckdb.store import lookup
from discreet.engines.engine import Capabilities, Engine, OwnerLog, tell
from discreet.engines.interrupt import run_attended
from discreet.engines.parameters import ParameterValue, bind_parameter, quote, quote_text
from discreet.errors import QueryRefused

__all__ = ["CLOSED_TO_EXTENSIONS", "DuckDBSnapshot", "Settings"]


Settings = dict[str, str | bool | int | float | list[str]]

CLOSED_TO_EXTENSIONS: Settings = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",  # or FROM names could find variables of the Python program
}
_EMPTY = "_without_rows"
"""The schema in which every table is there and has no rows."""
_MOST_REHEARSED = 256
_CLOSE_THE_DOORS = (
    "SET TimeZone = 'UTC'",
    "SET preserve_insertion_order = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)


class DuckDBSnapshot(Engine):
    """One version of every table."""

    dialect: ClassVar[str] = "duckdb"
    capabilities: ClassVar[Capabilities] = Capabilities(
        language_of_plans=True,
        wide_integer_sums=True,
        try_cast=True,
        try_expression=True,
        hash_function="hash",
        sorted_by_unit=True,
        statement_timeout=True,
        takes_rows=True,
        pinned_snapshots=True,
    )

    def __init__(
        self,
        manifest: Manifest,
        folder: Path,
        settings: Settings,
        timeout: float | None = None,
        owner_log: OwnerLog | None = None,
    ) -> None:
        self.manifest = manifest
        self.timeout = timeout
        self.owner_log = owner_log
        self._connection = duckdb.connect(":memory:", config={**settings, **CLOSED_TO_EXTENSIONS})
        self._without_rows, self._rehearsing = self._connection.cursor(), Lock()
        self._rehearsed: set[tuple[str, tuple[type, ...]]] = set()
        self._unnamed: dict[str, str] = {}
        """The rows that have no name in the database yet, by the names that they get."""
        self._naming = Lock()
        try:
            self._open(folder)
        except BaseException:
            self._connection.close()
            raise

    def _open(self, folder: Path) -> None:
        self._connection.execute(f"CREATE SCHEMA {_EMPTY}")
        for place, stored in enumerate(self.manifest.shown()):
            if self.manifest.is_stale(stored):
                continue  # who does not ask for its version first finds no such table
            self._connection.execute(f"ATTACH {quote_text(str(folder / stored.file))} AS t{place} (READ_ONLY)")
            self._unnamed[quote(stored.name)] = f"t{place}.main.rows"
        self._name(quote(stored.name) for stored in self.manifest.tables.values())
        self._without_rows.execute(f"SET search_path = '{_EMPTY}'")
        for statement in _CLOSE_THE_DOORS:
            self._connection.execute(statement)

    def _name_periods(self, statement: str) -> None:
        """Give the periods that a statement reads their names: of a thousand, most statements read few."""
        with self._naming:
            self._name([name for name in self._unnamed if name in statement])

    def _name(self, names: Iterable[str]) -> None:
        for name in names:
            rows = self._unnamed.pop(name, None)
            if rows is not None:
                self._connection.execute(f"CREATE VIEW {name} AS FROM {rows}")
                self._connection.execute(f"CREATE TABLE {_EMPTY}.{name} AS FROM {rows} LIMIT 0")

    def describe(self, table: str) -> Mapping[str, ColumnType]:
        """The names and types of a table's declared columns, in order."""
        return lookup(self.manifest, table).types()

    def version(self, table: str) -> str:
        """The ingest that a table came from."""
        stored = lookup(self.manifest, table)
        if stored.grows:
            raise AssertionError(f"{stored.name} grows: its periods have versions")
        return stored.version

    def stored(self, table: str) -> Stored:
        """A table as it was taken in: whose rows they are, and what was checked about them."""
        return lookup(self.manifest, table)

    @property
    def secret(self) -> str:
        """What units' own orders are hashed with."""
        return self.manifest.secret

    def rehearse(self, statement: str, parameters: Sequence[object] = ()) -> None:
        """Run the statement where every table is empty: what fails there fails whatever the rows are.

        Which types its values have decides about that, so a statement is tried once for them.
        """
        values = [bind_parameter(value) for value in parameters]
        shape = (statement, tuple(type(value) for value in values))
        if shape in self._rehearsed:
            return
        try:
            self._name_periods(statement)
            with self._rehearsing:
                _result(self._without_rows, statement, values)
                if len(self._rehearsed) >= _MOST_REHEARSED:
                    self._rehearsed.clear()
                self._rehearsed.add(shape)
        except duckdb.Error as failure:
            tell(self.owner_log, failure)
            rule = "the database cannot run this question, whatever the rows are"
            raise QueryRefused(rule, "", "say it in another way; nothing was spent") from None

    def _run(self, statement: str, values: Sequence[ParameterValue]) -> pa.Table:
        self._name_periods(statement)
        cursor = self._connection.cursor()  # of its own, so that runs on several threads do not meet
        try:
            return run_attended(lambda: _result(cursor, statement, values), cursor.interrupt, self.timeout)
        finally:
            cursor.close()

    def close(self) -> None:
        """Let go of the files."""
        self._connection.close()


def _result(cursor: duckdb.DuckDBPyConnection, statement: str, values: Sequence[ParameterValue]) -> pa.Table:
    parsed = cursor.extract_statements(statement)
    if [one.type for one in parsed] != [duckdb.StatementType.SELECT]:
        raise ValueError("a run must be one SELECT")
    return cursor.sql(parsed[0], params=[_typed(value) for value in values]).to_arrow_table()


def _typed(value: ParameterValue) -> object:
    """DuckDB would bind 5 as a 32-bit integer, and 5 + 2147483647 would be an error."""
    if isinstance(value, int) and not isinstance(value, bool):
        return duckdb.Value(value, sqltypes.BIGINT if -(2**63) <= value < 2**63 else sqltypes.HUGEINT)
    if isinstance(value, datetime):
        return duckdb.Value(value, sqltypes.TIMESTAMP)
    return value
