"""Tables that stay in Spark: in its catalog, or in Parquet files that it reads. Only aggregates leave it.

Spark runs a statement on many machines and tries again what was lost on the way; a statement that fails for good ends
in the constant error. What a table holds may change between two questions, and what the columns are may not.

When a part of Spark was lost in the middle of a question, the owner hears a sentence instead of a page.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from glob import glob
from hashlib import sha256
from typing import Any, ClassVar

import pyarrow as pa

from discreet.catalog.column import ColumnType
from discreet.catalog.period import Every
from discreet.catalog.table import Table
from discreet.engines.duckdb.manifest import Stored
from discreet.engines.duckdb.sources import SourceColumn
from discreet.engines.engine import Capabilities, OwnerLog, Unsent, shield_errors, tell
from discreet.engines.interrupt import run_attended
from discreet.engines.parameters import ParameterValue
from discreet.engines.remote import RemoteEngine
from discreet.engines.remote_periods import Span
from discreet.engines.spark.columns import column_cast, lie_within
from discreet.engines.spark.session import (
    connect_session,
    interrupt,
    keep_session,
    local,
    quicken,
    quiet,
    release_session,
    tag_session,
)
from discreet.engines.spark.tables import files_at_rest, find_folder, frame_of_files, rows_kept
from discreet.engines.spark.writer import (
    HINT,
    ROW_NUMBER,
    ApartWriter,
    Readings,
    SparkWriter,
    count_readings,
    quote_in_spark,
)
from discreet.engines.translate.writer import StatementWriter
from discreet.errors import DiscreetError, InvalidValue, StoreError
from discreet.noise.source import fresh_id

__all__ = ["SparkEngine", "in_a_sentence"]


_EXECUTOR = re.compile(r"ExecutorLostFailure \(executor \S+ exited")


def in_a_sentence(failure: Exception) -> Exception:
    """The sentence, or the failure itself where nothing was lost."""
    if isinstance(failure, ConnectionError) or type(failure).__name__ == "Py4JNetworkError":
        rule = "Java must run for as long as the Spark of this process is asked"
        return StoreError(rule, "<ended>", "start this process again")
    status = getattr(failure, "getGrpcStatusCode", lambda: None)()
    if getattr(status, "name", None) == "UNAVAILABLE":
        rule = "the server of Spark Connect must be reachable"
        return StoreError(rule, "<lost in the middle of a question>", "lift the suspension once it is back")
    if _EXECUTOR.search(str(failure)):
        rule = "Spark must keep its executors until a question is answered"
        return StoreError(rule, "<lost more often than Spark tries>", "lift the suspension once they are back")
    return failure


_PART = r"(?:`(?:[^`]|``)+`|[^`.\s]+)"
_NAME = re.compile(rf"{_PART}(?:\.{_PART})*")
_NONE: Mapping[str, str | None] = {}
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
        takes_rows=False,
        pinned_snapshots=False,
    )
    writer: type[StatementWriter] = SparkWriter

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

        ``server`` is a Spark Connect URL, ``sc://host:port``; without one, or with ``spark``, it is ``session``, or the
        session of this process, which is started where there is none. See `DuckDBEngine` for ``timeout`` and
        ``owner_log``.
        """
        super().__init__(folder, timeout=timeout, owner_log=owner_log)
        if server is not None and session is not None:
            raise InvalidValue("Spark is named by a server or by a session", "<both>", "leave one out")
        self._server, self._given = None if server == "spark" else server, session
        self._own: list[Any] = [None]
        """The session; in a list, because snapshots of the engine have the same one."""
        self._lock = threading.Lock()

    def _session(self) -> Any:
        with self._lock:
            self._own[0] = keep_session(self._own[0])
            if self._own[0] is None:
                self._own[0] = quicken(local(self._given) if self._server is None else connect_session(self._server))
            return self._own[0]

    # What Spark does differently.

    def found(self, table: Table, name: str) -> str:
        """The full name: a path from here must be one from everywhere, or other files would be read elsewhere."""
        _check_name(name)
        if not _is_path(name) or name.startswith("/") or ":" in name.partition("/")[0]:
            return name
        if self._server is not None:
            remedy = "begin with /, or with a scheme such as s3a:"
            raise InvalidValue("a path on a server of Spark Connect must be a whole one", name, remedy)
        return os.path.abspath(name) if os.path.exists(name) or glob(name) else name

    def look(self, name: str) -> Mapping[str, str]:
        """The columns of a table, view or folder of Parquet files and their types, in Spark's words."""
        _check_name(name)
        try:
            with quiet():
                return _columns(_frame(self._session(), name))
        except DiscreetError:
            raise
        except Exception as failure:
            said = in_a_sentence(failure)
            tell(self.owner_log, said)
            absent = getattr(failure, "getCondition", lambda: None)() in _ABSENT
        if isinstance(said, DiscreetError):
            raise said
        if absent:
            remedy = "name it as in db.visits, or give a path; a temporary view belongs to one session alone"
            raise InvalidValue("Spark must have the table, or the files", name, remedy)
        raise StoreError(
            "Spark must be able to read the table", name, "--verbose, or owner.log in the folder, says what it said"
        )

    def cast(self, given: SourceColumn, wanted: ColumnType) -> str | None:
        """A column as a declared type, by an expression that cannot fail."""
        return column_cast(quote_in_spark(given.label), given.native, wanted)

    def quoted(self, name: str) -> str:
        """A name between Spark's quotes."""
        return quote_in_spark(name)

    def place(self, name: str) -> str:
        """What stands for a table or files in a statement: the name of a view, which is made for one run."""
        return f"IDENTIFIER(:{_mark(name)})"

    def row_number(self) -> str:
        """A number for every row; it is another one when a row is read again, which `SparkWriter` sees to."""
        return ROW_NUMBER

    def within(self, given: SourceColumn, wanted: ColumnType, spans: Sequence[Span]) -> str:
        """A condition on the column itself, where it is a date or timestamp, so that files can be passed over."""
        return lie_within(quote_in_spark(given.label), given.native, wanted, spans)

    def period_unit(self, person: str, moment: str, every: Every) -> str:
        """The number of the first day of the period, and the person."""
        day = f"CAST({moment} AS DATE)"
        first = day if every is Every.DAY else f"trunc({day}, '{every.value}')"
        return f"concat(CAST(unix_date({first}) AS STRING), ' ', CAST({person} AS STRING))"

    # Running.

    def reach(self) -> None:
        """Refuse where there is no session."""
        shield_errors(self._reached, self.owner_log)

    def _reached(self) -> Any:
        """A session, before anything is asked of it."""
        try:
            with quiet():
                return self._session()
        except Exception as failure:
            raise Unsent from in_a_sentence(failure)

    def _run(self, statement: str, values: Sequence[ParameterValue]) -> pa.Table:
        session = self._reached()
        try:
            with quiet():
                return self._attended_answer(session, statement, values)
        except Exception as failure:
            raise in_a_sentence(failure) from None

    def _fault_of(self, statement: str, values: Sequence[ParameterValue]) -> Exception | None:
        """What Spark says when it reads the statement and looks at its types; it runs nothing and opens no file."""
        from pyspark.errors import AnalysisException  # noqa: PLC0415  needs an extra

        _, used = self.translated(statement, values)
        apart = _may_read_twice(count_readings(statement), used) and count_readings(statement).apart
        with quiet(), self._empty_views(self._session(), used) as views:
            for kind in (SparkWriter, *([ApartWriter] if apart else ())):
                text, _ = self.translated(statement, values, kind, empty=True)
                try:
                    _ = self._session().sql(text, args={**_arguments(values), **views}).schema
                except AnalysisException as failure:
                    return failure
        return None

    @contextmanager
    def _empty_views(self, session: Any, used: Sequence[Stored]) -> Iterator[Mapping[str, str]]:
        """A view without rows in the place of every table, with its columns as they were when it was protected."""
        views: dict[str, str] = {}
        try:
            for stored in used:
                views[_mark(stored.file)] = view = f"discreet_{fresh_id()}"
                columns = ", ".join(f"{quote_in_spark(name)} {kind}" for name, kind in stored.native.items())
                session.createDataFrame([], columns).createOrReplaceTempView(view)
            yield views
        finally:
            for view in views.values():
                session.catalog.dropTempView(view)

    def _attended_answer(self, session: Any, statement: str, values: Sequence[ParameterValue]) -> pa.Table:
        tag = f"discreet-{fresh_id()}"
        work = _tag(session, tag, lambda: self._answer(session, statement, values))
        return _without_zones(run_attended(work, lambda: interrupt(session, tag), self.timeout))

    def _answer(self, session: Any, statement: str, values: Sequence[ParameterValue]) -> pa.Table:
        text, used = self.translated(statement, values)
        readings = count_readings(statement)
        found = self._answer_of_files(session, statement, values) if _may_read_twice(readings, used) else None
        if found is not None:
            return found
        with self._views(session, used, kept=readings.repeated) as views:
            return session.sql(text, args={**_arguments(values), **views}).toArrow()

    def _answer_of_files(self, session: Any, statement: str, values: Sequence[ParameterValue]) -> pa.Table | None:
        """The answer of a statement that reads files twice; None where they may have changed in between."""
        text, used = self.translated(statement, values, ApartWriter if count_readings(statement).apart else SparkWriter)
        folders = {stored.file: _folder(session, stored.file) for stored in used}
        paths = [path for path in folders.values() if path is not None]
        before = files_at_rest(session, paths) if len(paths) == len(folders) else None
        if before is None:
            return None
        hinted = text if before.are_small else text.replace(HINT, "")
        with self._views(session, used, folders=folders) as views:
            found: pa.Table = session.sql(hinted, args={**_arguments(values), **views}).toArrow()
        return found if files_at_rest(session, paths) == before else None

    @contextmanager
    def _views(
        self, session: Any, used: Sequence[Stored], *, kept: bool = False, folders: Mapping[str, str | None] = _NONE
    ) -> Iterator[Mapping[str, str]]:
        """A view of every table that is read, by its mark: the columns that are checked are those that are read."""
        views: dict[str, str] = {}
        try:
            for name in sorted({stored.file for stored in used}):
                views[_mark(name)] = view = f"discreet_{fresh_id()}"
                _frame(session, name, folders.get(name)).createOrReplaceTempView(view)
            for stored in used:
                self.check_unchanged(stored, _columns(session.table(views[_mark(stored.file)])))
            for view in views.values() if kept else ():
                rows_kept(session.table(view)).createOrReplaceTempView(view)
            yield views
        finally:
            for view in views.values():
                session.catalog.dropTempView(view)

    def close(self) -> None:
        """Let go of a server; a session of this process stays."""
        with self._lock:
            own, self._own[0] = self._own[0], None
        if own is not None:
            release_session(own)


def _is_path(name: str) -> bool:
    return "/" in name or name.endswith(".parquet")


def _check_name(name: str) -> None:
    if not _is_path(name) and _NAME.fullmatch(name) is None:
        raise InvalidValue("a table of Spark is named as in db.visits", name, "or is a path of Parquet files")


def _frame(session: Any, name: str, folder: str | None = None) -> Any:
    """All of a table, a view or files, as they are now; of a table that is a folder, its files."""
    if _is_path(name):
        return frame_of_files(session, name)
    # With a condition, or else to drop a view of it would drop the rows that the owner has cached of the table.
    table = session.sql(f"SELECT * FROM {_address(name)} WHERE TRUE")
    return table if folder is None else frame_of_files(session, folder, table.schema)


def _address(name: str) -> str:
    return ".".join(part if part[0] == "`" else quote_in_spark(part) for part in re.findall(_PART, name))


def _folder(session: Any, name: str) -> str | None:
    """Where the files are that a statement may read twice."""
    return name if _is_path(name) else find_folder(session, _address(name))


def _mark(name: str) -> str:
    """The parameter of a statement that stands for a table."""
    return f"t{sha256(name.encode()).hexdigest()}"


def _columns(frame: Any) -> Mapping[str, str]:
    return {field.name: field.dataType.simpleString() for field in frame.schema.fields}


def _may_read_twice(readings: Readings, used: Sequence[Stored]) -> bool:
    """Whether a statement reads rows twice, or is faster when it does."""
    are_named = all(stored.domain is None or stored.unit is not None for stored in used)
    return readings.repeated or (readings.apart and are_named)


def _tag(session: Any, tag: str, work: Callable[[], pa.Table]) -> Callable[[], pa.Table]:
    """The work, so that it can be interrupted by its tag."""

    def call() -> pa.Table:
        with quiet(), tag_session(session, tag):
            return work()

    return call


def _arguments(values: Sequence[ParameterValue]) -> dict[str, Any]:
    """Dates travel as text: Python would move them by the time zone of the machine."""
    return {f"p{k}": str(value) if isinstance(value, date) else value for k, value in enumerate(values, start=1)}


def _without_zones(table: pa.Table) -> pa.Table:
    """Timestamps are in UTC everywhere, and say nothing about it."""
    for k, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            table = table.set_column(k, field.name, table.column(k).cast(pa.timestamp("us")))
    return table
