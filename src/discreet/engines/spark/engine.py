"""Tables that stay in Spark: in its catalog, or in Parquet files that it reads. Only aggregates leave it.

Spark runs a statement on many machines and tries again what was lost on the way; a statement that fails for good ends
in the constant error. What a table holds may change between two questions, and what the columns are may not.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any, ClassVar

import pyarrow as pa

from discreet.catalog.column import ColumnType
from discreet.engines.attended import attended
from discreet.engines.engine import Capabilities, OwnerLog, tell
from discreet.engines.parameters import Bound
from discreet.engines.part import Given
from discreet.engines.remote import RemoteEngine
from discreet.engines.spark.columns import column_cast
from discreet.engines.spark.lost import in_a_sentence
from discreet.engines.spark.quiet import quiet
from discreet.engines.spark.session import connected, interrupt, kept, local, released, tagged
from discreet.engines.spark.writer import ROW_NUMBER, SparkWriter, quoted
from discreet.engines.translation.writer import Writer
from discreet.errors import DiscreetError, InvalidValue, StoreError
from discreet.noise.source import fresh_id

__all__ = ["SparkEngine"]

_PART = r"(?:`(?:[^`]|``)+`|[^`.\s]+)"
_NAME = re.compile(rf"{_PART}(?:\.{_PART})*")
_ABSENT = {"TABLE_OR_VIEW_NOT_FOUND", "PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA", "SCHEMA_NOT_FOUND"}


class SparkEngine(RemoteEngine):
    """A folder whose tables are in Spark."""

    dialect: ClassVar[str] = "spark"
    capabilities: ClassVar[Capabilities] = Capabilities(
        language_of_plans=False,
        wide_integer_sums=True,
        try_cast=True,
        try_expression=False,
        hash_function=None,
        sorted_by_unit=False,
        statement_timeout=True,
        pinned_snapshots=False,
    )
    writer: type[Writer] = SparkWriter

    def __init__(
        self,
        folder: str | os.PathLike[str],
        server: str | None = None,
        *,
        session: Any | None = None,
        timeout: float | None = None,
        owner_log: OwnerLog | None = None,
    ) -> None:
        """Name the folder of the curator, and where Spark is.

        ``server`` is a Spark Connect URL, ``sc://host:port``; without one it is ``session``, or the session of this
        process, which is started where there is none. See `DuckDBEngine` for ``timeout`` and ``owner_log``.
        """
        super().__init__(folder, timeout=timeout, owner_log=owner_log)
        if server is not None and session is not None:
            raise InvalidValue("Spark is named by a server or by a session", "<both>", "leave one out")
        self._server, self._given = server, session
        self._own: Any | None = None
        self._lock = threading.Lock()

    def _session(self) -> Any:
        with self._lock:
            self._own = kept(self._own)
            if self._own is None:
                self._own = local(self._given) if self._server is None else connected(self._server)
            return self._own

    # What Spark does differently.

    def look(self, name: str) -> Mapping[str, str]:
        """The columns of a table, view or folder of Parquet files and their types, in Spark's words."""
        place = self.place(name)
        try:
            with quiet():
                return _columns(self._session(), place)
        except DiscreetError:
            raise
        except Exception as failure:
            tell(self.owner_log, failure)
            absent = getattr(failure, "getCondition", lambda: None)() in _ABSENT
        if absent:
            remedy = "name it as in db.visits, or give a path; a temporary view belongs to one session alone"
            raise InvalidValue("Spark must have the table, or the files", name, remedy)
        raise StoreError("Spark must be able to read the table", name, "the owner log says what it said")

    def cast(self, given: Given, wanted: ColumnType) -> str | None:
        """A column as a declared type, by an expression that cannot fail."""
        return column_cast(quoted(given.label), given.native, wanted)

    def quoted(self, name: str) -> str:
        """A name between Spark's quotes."""
        return quoted(name)

    def place(self, name: str) -> str:
        """The table with this name, or the Parquet files at this path."""
        if "/" in name or name.endswith(".parquet"):
            return f"parquet.{quoted(name)}"
        if _NAME.fullmatch(name) is None:
            raise InvalidValue("a table of Spark is named as in db.visits", name, "or is a path of Parquet files")
        return ".".join(part if part[0] == "`" else quoted(part) for part in re.findall(_PART, name))

    def row_number(self) -> str:
        """A number for every row; it is another one when a row is read again, which `SparkWriter` sees to."""
        return ROW_NUMBER

    # Running.

    def _run(self, statement: str, values: Sequence[Bound]) -> pa.Table:
        text, used = self.translated(statement, values)
        session, tag = self._session(), f"discreet-{fresh_id()}"

        def work() -> pa.Table:
            for stored in used:
                self.check_unchanged(stored, _columns(session, self.place(stored.file)))
            return session.sql(text, args=_arguments(values)).toArrow()

        try:
            found = attended(_tagged(session, tag, work), lambda: interrupt(session, tag), self.timeout)
        except Exception as failure:
            raise in_a_sentence(failure) from None
        return _without_zones(found)

    def close(self) -> None:
        """Let go of a server; a session of this process stays."""
        with self._lock:
            own, self._own = self._own, None
        if own is not None:
            released(own)


def _columns(session: Any, place: str) -> Mapping[str, str]:
    fields = session.sql(f"SELECT * FROM {place} LIMIT 0").schema.fields
    return {field.name: field.dataType.simpleString() for field in fields}


def _tagged(session: Any, tag: str, work: Callable[[], pa.Table]) -> Callable[[], pa.Table]:
    """The work, so that it can be interrupted by its tag."""

    def call() -> pa.Table:
        with quiet(), tagged(session, tag):
            return work()

    return call


def _arguments(values: Sequence[Bound]) -> dict[str, Any]:
    """Dates travel as text: Python would move them by the time zone of the machine."""
    return {f"p{k}": str(value) if isinstance(value, date) else value for k, value in enumerate(values, start=1)}


def _without_zones(table: pa.Table) -> pa.Table:
    """Timestamps are in UTC everywhere, and say nothing about it."""
    for k, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            table = table.set_column(k, field.name, table.column(k).cast(pa.timestamp("us")))
    return table
