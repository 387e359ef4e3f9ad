"""Rows that stay in PostgreSQL. A question is one statement, in a transaction that cannot write, on one moment's rows.

The server needs a role that may read the protected tables and nothing else: superusers and roles that may write are
refused. Before every statement the tables are held against changes of their columns and compared with what was seen
when they were protected; so what is written for them stays true until the statement is over. Views must be such that a
second reading gives the same rows.

The server remembers the middle of the numbers that name people from when it last looked at the column. It parts people
into two halves of about the same size, each of which is one stretch of an index. Where the numbers have changed since
then the halves are less even; that changes how long a statement takes, and nothing that it says.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from threading import Event
from typing import Any, ClassVar, TypeVar

import psycopg
import pyarrow as pa
from psycopg import Connection
from psycopg.errors import InsufficientPrivilege
from psycopg.types.numeric import Float8, Int8

from discreet.catalog.column import ColumnType
from discreet.catalog.period import Every
from discreet.catalog.table import Table
from discreet.engines.duckdb.manifest import Stored
from discreet.engines.duckdb.sources import SourceColumn
from discreet.engines.engine import Capabilities, OwnerLog, Unsent, shield_errors
from discreet.engines.interrupt import run_attended
from discreet.engines.parameters import ParameterValue
from discreet.engines.postgres.columns import WHOLE, as_arrow, lie_within, read_declared
from discreet.engines.postgres.connections import Connections, ServerConnection
from discreet.engines.postgres.tables import (
    REMEDY,
    RULE,
    check_role,
    find_relation,
    is_plain,
    quote_name,
    read_columns,
    refusals,
    unsteady,
)
from discreet.engines.postgres.writer import HalvingWriter, KeepingWriter, PostgresWriter
from discreet.engines.remote import RemoteEngine, describe_column
from discreet.engines.remote_periods import Span
from discreet.engines.translate.writer import StatementWriter
from discreet.errors import InvalidValue, StoreError
from discreet.time_limits import ROWS_LOCK, ROWS_REACH

__all__ = ["PostgresEngine", "find_middle"]


_LOOK_UP = """
SELECT s.ends[cardinality(s.ends) / 2 + 1]
FROM (SELECT p.inherited, p.histogram_bounds::text::int8[] AS ends
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_stats p ON p.schemaname = n.nspname AND p.tablename = c.relname AND p.attname = $2
      WHERE c.oid = to_regclass($1) AND p.histogram_bounds IS NOT NULL) s
ORDER BY s.inherited DESC LIMIT 1
"""


def find_middle(connection: Connection[Any], place: str, column: str) -> int | None:
    """The middle of a column of whole numbers; None where the server knows none, or does not tell."""
    with suppress(InsufficientPrivilege), connection.transaction():  # what fails is not to end the whole transaction
        found = connection.execute(_LOOK_UP, (place, column)).fetchone()
        return None if found is None else int(found[0])
    return None


T = TypeVar("T")

_SETTINGS = {
    "search_path": "pg_catalog",
    "TimeZone": "'UTC'",
    "DateStyle": "'ISO, YMD'",
    "IntervalStyle": "'postgres'",
    "extra_float_digits": "1",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
    "row_security": "off",
    "idle_in_transaction_session_timeout": "'60s'",
}
"""All that an answer could depend on; with row security off, the server refuses to hide rows instead of hiding them."""
_OF_THE_STATEMENT = ("22", "42", "0A", "54")
_FORBIDDEN = "42501"
"""States of the server: classes that are about a statement, and a right that the role has lost."""


class PostgresEngine(RemoteEngine):
    """A folder whose tables are on a PostgreSQL server."""

    dialect: ClassVar[str] = "postgres"
    capabilities: ClassVar[Capabilities] = Capabilities(
        language_of_plans=False,
        wide_integer_sums=True,
        try_cast=True,
        try_expression=True,
        hash_function=None,
        sorted_by_unit=False,
        statement_timeout=True,
        takes_rows=False,
        pinned_snapshots=False,
    )
    writer: type[StatementWriter] = PostgresWriter

    def __init__(
        self,
        folder: str | os.PathLike[str],
        server: str,
        *,
        timeout: float | None = None,
        owner_log: OwnerLog | None = None,
    ) -> None:
        """Name the folder of the curator and the server, such as ``postgresql://curator@db.example/clinic``.

        Nothing is connected until a table is protected or asked about. ``timeout`` is in seconds, for the server and
        for whoever waits; see `DuckDBEngine`.
        """
        super().__init__(folder, timeout=timeout, owner_log=owner_log)
        self._connections = Connections(server, timeout)

    # Protecting ---------------------------------------------------------------------------------------------------

    def found(self, table: Table, name: str) -> str:
        """The name with its schema and between quotes."""
        with refusals():
            place, has_addresses, what = self._asked(lambda connection: _looked_up(connection, name))
        if what is not None:
            raise InvalidValue(f"{table.name}: {RULE}", f"<{what}>", REMEDY)
        if table.unit is None and not table.public and not has_addresses:
            rule = f"{table.name}: where every row is a unit, rows must be those of a table"
            raise InvalidValue(rule, name, "name the column that tells units apart, or protect the table")
        return place

    def look(self, name: str) -> Mapping[str, str]:
        """The columns of a table or view on the server and their types."""
        with refusals():
            return self._asked(lambda connection: read_columns(connection, name))

    def cast(self, given: SourceColumn, wanted: ColumnType) -> str | None:
        """A column as a declared type, by an expression that cannot fail; None where they have nothing in common."""
        return read_declared(quote_name(given.label), given.native, wanted)

    def naming(self, given: SourceColumn, wanted: ColumnType) -> str | None:
        """Whole numbers keep their size, for an index holds them as they are."""
        is_whole = wanted is ColumnType.INTEGER and given.native in WHOLE
        return quote_name(given.label) if is_whole else self.cast(given, wanted)

    def quoted(self, name: str) -> str:
        """A name between double quotes."""
        return quote_name(name)

    def place(self, name: str) -> str:
        """Names are stored with their schema and between quotes."""
        return name

    def row_number(self) -> str:
        """The address of a row, which is the same all through a transaction."""
        return "(tableoid::text || ctid::text)"

    def within(self, given: SourceColumn, wanted: ColumnType, spans: Sequence[Span]) -> str:
        """A condition on the column itself, where it is a date or timestamp, so that an index on it can be used."""
        return lie_within(quote_name(given.label), given.native, wanted, spans)

    def period_unit(self, person: str, moment: str, every: Every) -> str:
        """The first day of the period, as ISO 8601 writes it, and the person."""
        first = f"date_trunc('{every.value}', {moment}::timestamp)::date"
        return f"""(({first}::text || ' ' || {person}::text) COLLATE "C")"""

    # Reading ------------------------------------------------------------------------------------------------------

    def reach(self) -> None:
        """Refuse where no connection answers, also where the server holds it and says nothing."""
        seconds = ROWS_REACH if self.timeout is None else min(self.timeout, ROWS_REACH)
        shield_errors(lambda: self._asked_unless(Event(), lambda one: one.execute("SELECT 1"), seconds), self.owner_log)

    def _run(self, statement: str, values: Sequence[ParameterValue]) -> pa.Table:
        sent = Event()
        return self._asked_unless(sent, lambda connection: self._answer(connection, statement, values, sent))

    def _fault_of(self, statement: str, values: Sequence[ParameterValue]) -> Exception | None:
        """What the server says when it runs the statement over no rows, and that is not about itself."""
        sent = Event()
        try:
            self._asked(lambda connection: self._answer(connection, statement, values, sent, empty=True))
        except psycopg.Error as failure:
            if sent.is_set() and _is_of_the_statement(failure):
                return failure
            raise
        except (ValueError, TypeError, ArithmeticError) as failure:  # of a result that nobody could read
            if sent.is_set():
                return failure
            raise
        return None

    def _asked_unless(self, sent: Event, work: Callable[[Connection[Any]], T], seconds: float | None = None) -> T:
        """The same as `_asked`, but what goes wrong before something was ``sent`` that reads rows says so."""
        try:
            return self._asked(work, seconds)
        except Exception as failure:  # the work has ended by now, also where its time was over
            if sent.is_set():
                raise
            raise Unsent from failure

    def _asked(self, work: Callable[[Connection[Any]], T], seconds: float | None = None) -> T:
        """What comes of ``work`` on a connection; who waits hears when the time is over, also if the server hangs."""
        line = ServerConnection()

        def call() -> T:
            with self._connections.lent(line) as connection:
                return work(connection)

        try:
            return run_attended(call, line.interrupt, seconds or self.timeout)
        except psycopg.Error:
            if not line.is_cut:
                raise
        rule = "the server must answer in time, or give up a question when it is asked to"
        raise StoreError(rule, "<neither>", "see whether it hangs; the connection was given up")

    def _answer(
        self,
        connection: Connection[Any],
        statement: str,
        values: Sequence[ParameterValue],
        sent: Event,
        *,
        empty: bool = False,
    ) -> pa.Table:
        _, used = self.translated(statement, values)
        connection.execute(self._opening(used).encode())
        for stored in used:
            self.check_unchanged(stored, read_columns(connection, stored.file))
            if (what := unsteady(connection, stored.file)) is not None:
                raise ValueError(f"{stored.file} has become a view with {what}: {RULE}; {REMEDY}")
        text, values = self._said(connection, statement, values, used, empty)
        sent.set()  # before it is: from here on, rows may have been read
        cursor = connection.execute(text.encode(), [_typed(value) for value in values] or None, binary=True)
        result = as_arrow(cursor.description or (), cursor.fetchall())
        connection.execute("COMMIT")
        return result

    def _said(
        self,
        connection: Connection[Any],
        statement: str,
        values: Sequence[ParameterValue],
        used: Sequence[Stored],
        empty: bool,
    ) -> tuple[str, Sequence[ParameterValue]]:
        """The statement as suits the tables that it reads, and its values."""
        write = partial(self.translated, statement, values, empty=empty)
        if not all(is_plain(connection, stored.file) for stored in used):
            return write(kind=KeepingWriter)[0], values
        text, halving = (write(kind=kind)[0] for kind in (PostgresWriter, HalvingWriter))
        middle = _middle(connection, used) if halving != text else None
        return (text, values) if middle is None else (halving, [*values, middle])

    def _opening(self, used: Sequence[Stored]) -> str:
        """The start of a transaction; tables are locked as every reader locks them, from now until its end."""
        waits = min(self.timeout or ROWS_LOCK, ROWS_LOCK)
        limits = {
            "lock_timeout": str(max(1, round(waits * 1000))),
            "statement_timeout": str(0 if self.timeout is None else max(1, round(self.timeout * 1000))),
        }
        settings = [f"SET LOCAL {name} = {value}" for name, value in {**_SETTINGS, **limits}.items()]
        locks = [f"LOCK TABLE {self.place(stored.file)} IN ACCESS SHARE MODE" for stored in used]
        return "; ".join(["BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY", *settings, *locks])

    def close(self) -> None:
        """Let go of the connections; the next question makes new ones."""
        self._connections.close()


def _is_of_the_statement(failure: psycopg.Error) -> bool:
    """Whether a server that is well would always say so: a mistake in the text, in a value, or too much of either."""
    state = failure.sqlstate or ""
    return state[:2] in _OF_THE_STATEMENT and state != _FORBIDDEN


def _looked_up(connection: Connection[Any], name: str) -> tuple[str, bool, str | None]:
    """The full name of a table, whether its rows have addresses, and what keeps it from being the same twice."""
    place, has_addresses = find_relation(connection, name)
    check_role(connection, place)
    return place, has_addresses, unsteady(connection, place)


def _middle(connection: Connection[Any], used: Sequence[Stored]) -> int | None:
    """The middle of the people of the one table that is read, where the server knows it."""
    if len(used) != 1 or used[0].unit is None:
        return None
    given = describe_column(used[0], used[0].unit)
    return find_middle(connection, used[0].file, given.label) if given.native in WHOLE else None


def _typed(value: ParameterValue) -> object:
    """Numbers in the types that statements cast them from."""
    if isinstance(value, int) and not isinstance(value, bool):
        return Int8(value) if -(2**63) <= value < 2**63 else value
    return Float8(value) if isinstance(value, float) else value
