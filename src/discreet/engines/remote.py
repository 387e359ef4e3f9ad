"""Tables that stay where they are, on a server: the folder remembers which, and what was seen of them.

Nothing is copied. A question is one statement that the server runs, and only its aggregates leave it. Two things are
different from rows that were taken in, because nobody keeps others from changing them:

- what a check would have seen once need not be so for the next question: a column that has one value per person
  (``constant_per_unit``) and a foreign key that leads to one person are refused here. A view can join the person in;
- rows without a person are left out, and not people of their own.

A table that grows has its rows there too, and its owner says which periods are closed; see `remote_periods`.

A version says when the owner last protected the table. Whoever asks the same question again before that is served the
answer that was given.
"""

from __future__ import annotations

import math
import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any, Self

from discreet.catalog.catalog import Catalog
from discreet.catalog.column import ColumnType
from discreet.catalog.period import Every, Period
from discreet.catalog.table import Table
from discreet.engines.duckdb.manifest import Manifest, Stored
from discreet.engines.duckdb.sources import SourceColumn, SourcePart, selection
from discreet.engines.duckdb.store import TableFiles, lookup
from discreet.engines.engine import OwnerLog, Progress, TableStore, Unread, tell
from discreet.engines.parameters import ParameterValue, bind_parameter
from discreet.engines.remote_periods import (
    Span,
    begin,
    check_unit,
    finish_close,
    list_spans,
    prepare_close,
    tables_read,
)
from discreet.engines.translate.expression import ValueKind, Written
from discreet.engines.translate.writer import SourceTable, StatementWriter, Untranslatable
from discreet.errors import InvalidType, InvalidValue, QueryRefused
from discreet.noise.source import fresh_id

__all__ = ["RemoteEngine", "describe_column"]


_MOST_KNOWN = 256
_NOTHING = " WHERE FALSE"


class RemoteEngine(TableStore):
    """A folder whose tables are on a server."""

    writer: type[StatementWriter]
    """What writes statements for the server."""

    def __init__(
        self, folder: str | os.PathLike[str], *, timeout: float | None = None, owner_log: OwnerLog | None = None
    ) -> None:
        """Name the folder of the curator; see `DuckDBEngine` for ``timeout`` and ``owner_log``."""
        if timeout is not None and not 0 < timeout < math.inf:
            raise InvalidValue("timeout must be positive and finite", timeout, "leave it out to wait for ever")
        self.store = TableFiles(Path(folder))
        self.timeout = timeout
        self.owner_log = owner_log
        self._pinned: tuple[object, Manifest] | None = None
        self._latest: tuple[object, Self] | None = None
        self._known: dict[tuple[object, type[StatementWriter], bool, str, str], tuple[str, Sequence[Stored]]] = {}
        self._rehearsed: set[tuple[object, str]] = set()

    # What servers do differently.

    def found(self, table: Table, name: str) -> str:
        """The full name of a table or view; what the server must not be asked for the policy ``table`` is refused."""
        return name

    @abstractmethod
    def look(self, name: str) -> Mapping[str, str]:
        """The columns of a table or view on the server and their types, in its words; refused where there is none."""

    @abstractmethod
    def cast(self, given: SourceColumn, wanted: ColumnType) -> str | None:
        """A column as a declared type, by an expression that cannot fail; None where they have nothing in common."""

    def naming(self, given: SourceColumn, wanted: ColumnType) -> str | None:
        """The same for the column that names units; only which of its values are equal matters."""
        return self.cast(given, wanted)

    @abstractmethod
    def quoted(self, name: str) -> str:
        """A name between the server's quotes."""

    @abstractmethod
    def place(self, name: str) -> str:
        """The table with this name, as it is written after FROM."""

    @abstractmethod
    def row_number(self) -> str:
        """An expression that is different for every row of a table."""

    @abstractmethod
    def within(self, given: SourceColumn, wanted: ColumnType, spans: Sequence[Span]) -> str:
        """A condition that a date or timestamp, read as ``wanted``, lies in one of these; not met where it has none."""

    @abstractmethod
    def period_unit(self, person: str, moment: str, every: Every) -> str:
        """What names a person in one period, as text, from what names the person and from a date within the period."""

    # Reading.

    def snapshot(self) -> Self:
        """The engine with the tables as they were protected until now; the rows on the server are those of each run."""
        if self._pinned is not None:
            return self
        stamp = self.store.stamp()
        known = self._latest
        if known is None or known[0] != stamp:
            pinned = copy(self)
            pinned._pinned = (stamp, self.store.manifest())
            if stamp != self.store.stamp():
                return self.snapshot()  # somebody protected a table in between
            known = self._latest = (stamp, pinned)
        return known[1]

    def _manifest(self) -> tuple[object, Manifest]:
        """The tables, and what changes whenever one of them is protected again."""
        return self._pinned or (self.store.stamp(), self.store.manifest())

    def describe(self, table: str) -> Mapping[str, ColumnType]:
        """The names and types of a table's declared columns, in order."""
        return self.stored(table).types()

    def version(self, table: str) -> str:
        """When the table was last protected."""
        stored = self.stored(table)
        if stored.grows:
            raise AssertionError(f"{stored.name} grows: its periods have versions")
        return stored.version

    def stored(self, table: str) -> Stored:
        """A table as it was protected."""
        return lookup(self._manifest()[1], table)

    @property
    def secret(self) -> str:
        """What units' own orders are hashed with."""
        return self._manifest()[1].secret

    def check(self, statement: str, parameters: Sequence[object] = ()) -> None:
        """Refuse what cannot be asked on the server so that it means the same and cannot fail."""
        try:
            self.written(statement, parameters)
        except RecursionError:
            raise QueryRefused("the query is nested too deeply", "", "ask in several questions") from None
        except Untranslatable as what:
            rule = f"{type(self).dialect} cannot be asked for {what} so that it means the same as elsewhere"
            raise QueryRefused(rule, "", "say it in another way, or ask the owner for a column of it") from None

    def rehearse(self, statement: str, parameters: Sequence[object] = ()) -> None:
        """Let the server try the statement where every table is empty; once for the text that is written for it.

        A server that cannot be reached, or whose tables have changed, is no fault of the statement: that is said where
        it is run.
        """
        self.check(statement, parameters)
        values = [bind_parameter(value) for value in parameters]
        tried = self._manifest()[0], self.written(statement, parameters)
        if tried in self._rehearsed:
            return
        try:
            fault = self._fault_of(statement, values)
        except Exception as failure:
            tell(self.owner_log, failure)
            return
        if fault is not None:
            tell(self.owner_log, fault)
            rule = "the database cannot run this question, whatever the rows are"
            raise QueryRefused(rule, "", "say it in another way; nothing was spent")
        if len(self._rehearsed) >= _MOST_KNOWN:
            self._rehearsed.clear()
        self._rehearsed.add(tried)

    @abstractmethod
    def _fault_of(self, statement: str, values: Sequence[ParameterValue]) -> Exception | None:
        """What the server says against a statement that reads no row; may raise anything where it is not asked."""

    def written(self, statement: str, parameters: Sequence[object] = ()) -> str:
        """A statement of a plan in the server's language."""
        return self.translated(statement, [bind_parameter(value) for value in parameters])[0]

    def translated(
        self,
        statement: str,
        values: Sequence[ParameterValue],
        kind: type[StatementWriter] | None = None,
        *,
        empty: bool = False,
    ) -> tuple[str, Sequence[Stored]]:
        """The same, and the tables that it reads; what was checked a moment ago is not written again.

        Where it is for ``empty`` tables, it reads none of their rows.
        """
        kind = self.writer if kind is None else kind
        if empty and (emptied := self._empty(*self.translated(statement, values, kind))) is not None:
            return emptied
        stamp, manifest = self._manifest()
        key = (stamp, kind, empty, statement, repr(values))
        found = self._known.get(key)
        if found is None:
            tables = tables_read(manifest, statement)
            writer = kind({name: self._source(stored, empty) for name, stored in tables.items()}, values)
            found = writer.statement(statement), [tables[name] for name in sorted(writer.tables)]
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = found
        return found

    def _empty(self, text: str, used: Sequence[Stored]) -> tuple[str, Sequence[Stored]] | None:
        """A written statement over no rows, which is faster than to write it again; None where its text is another."""
        relations = [[self._source(stored, one).relation for one in (False, True)] for stored in used]
        for full, empty in dict(relations).items():  # two tables may be the same rows
            text = text.replace(full, empty)
        places = {f"FROM {self.place(stored.file)}" for stored in used}
        is_empty = all(0 < text.count(place) == text.count(f"{place}{_NOTHING}") for place in places)
        return (text, used) if is_empty else None

    def check_unchanged(self, stored: Stored, now: Mapping[str, str]) -> None:
        """Refuse to read a table whose columns are of other types by now: what is written for them could fail."""
        if dict(now) != dict(stored.native):
            raise ValueError(f"the columns of {stored.file} have changed; protect {stored.name} again")

    def _source(self, stored: Stored, empty: bool) -> SourceTable:
        """A query for the declared columns; everything in it follows from what was seen when it was protected."""
        casts = {name: self._cast(stored, name, kind) for name, kind in stored.types().items()}
        listed = [f"{cast} AS {self.quoted(name)}" for name, cast in casts.items()]
        columns = {name: Written(self.quoted(name), ValueKind(word)) for name, word in stored.columns.items()}
        kept, kind = "", None
        if stored.domain is not None:
            unit = self.row_number() if stored.unit is None else self._naming(stored, stored.unit)
            kept = "" if stored.unit is None else f" WHERE {unit} IS NOT NULL"
            kind = None if stored.unit is None else ValueKind(stored.columns[stored.unit])
            if stored.grows:
                unit, kept, kind = *self._by_period(stored, unit, kept), ValueKind.TEXT
            listed, columns = [f"{unit} AS _unit", *listed], {"_unit": Written("_unit", ValueKind.UNIT), **columns}
        kept = _NOTHING if empty else kept
        return SourceTable(f"SELECT {', '.join(listed)} FROM {self.place(stored.file)}{kept}", columns, kind)

    def _by_period(self, stored: Stored, person: str, kept: str) -> tuple[str, str]:
        """What names the unit of a row of a table that grows, and which rows are read: those of its periods."""
        growing = self._manifest()[1].growing[stored.name.casefold()]
        kind, spans = stored.types()[growing.time], list_spans(stored)
        moment, within = self._cast(stored, growing.time, kind), _NOTHING.removeprefix(" WHERE ")
        if spans:
            within = self.within(describe_column(stored, growing.time), kind, spans)
        return self.period_unit(person, moment, Every(growing.every)), f"{kept} AND ({within})"

    def _naming(self, stored: Stored, name: str) -> str:
        return _known(self.naming(describe_column(stored, name), stored.types()[name]))

    def _cast(self, stored: Stored, name: str, kind: ColumnType) -> str:
        return _known(self.cast(describe_column(stored, name), kind))

    # Protecting.

    def take_in(
        self,
        table: Table,
        source: Any,
        *,
        catalog: Catalog | None = None,
        progress: Progress | None = None,
        unread: Unread | None = None,
    ) -> str:
        """Protect the table or view ``source`` of the server under the policy ``table``; its rows stay there.

        No row is read, so ``unread`` is told nothing: what cannot be read as its type is missing when it is asked.
        """
        if table.time is not None:
            rule = f"{table.name}: a table that grows by periods begins, and is not taken in whole"
            raise InvalidValue(rule, "<time>", "protect it, and close its periods")
        with self.store.writing():
            stored = self._seen(table, source, catalog)
            self.store.manifest().check_name(table.name, grows=False)
            self.store.remember(stored)
        if progress is not None:
            progress(1.0)
        return stored.version

    def begin(self, table: Table, source: Any = None, *, catalog: Catalog | None = None) -> None:
        """Protect a table or view of the server whose periods the owner will close; its rows are added there."""
        check_unit(table)
        with self.store.writing():
            seen = self._seen(table, source, catalog)
            begin(self.store, table, seen, Catalog([table]) if catalog is None else catalog)

    def prepare_close(self, table: Table, period: Period, *, catalog: Catalog | None = None) -> str:
        """Say that the next period is closing; see `discreet.engines.remote_periods`."""
        with self.store.writing():
            version = f"{len(self.growing(table.name).periods) + 1}-{fresh_id()}"
            return prepare_close(self.store, table, period, catalog, version)

    def finish_close(self, table: str, period: Period) -> None:
        """Have questions read the period."""
        with self.store.writing():
            finish_close(self.store, table, period)

    def _seen(self, table: Table, source: Any, catalog: Catalog | None) -> Stored:
        """A table or view as the server has it, under a policy that can be kept there."""
        if not isinstance(source, str):
            rule = "a table that stays on a server is named, such as public.visits"
            raise InvalidType(rule, f"<{type(source).__name__}>", "or keep the rows in the folder")
        tables = Catalog([table]) if catalog is None else catalog.with_table(table)
        source = self.found(table, source)
        native = self.look(source)
        given = tuple(SourceColumn(name, name, kind) for name, kind in native.items())
        selection(table, SourcePart(given, source), self.cast)
        return self._stored(table, tables, source, native)

    def _stored(self, table: Table, catalog: Catalog, source: str, native: Mapping[str, str]) -> Stored:
        path, manifest = catalog.unit_path(table.name), self.store.manifest()
        if path is not None and path.steps:
            rule = f"{table.name}: on a server, a row must name its person itself"
            raise InvalidValue(rule, path.steps[0].column, "protect a view that joins the person in")
        for column in table.columns:
            if column.constant_per_unit and path is not None and path.column is not None:
                rule = f"{table.name}.{column.name}: on a server nobody sees to it that a person has one value"
                raise InvalidValue(rule, "constant_per_unit", "leave it out of the policy")
        unit = None if path is None or path.column is None else table.column(path.column)
        stored = Stored(
            name=table.name,
            version=f"{manifest.ingests + 1}-{fresh_id()}",
            file=source,
            columns={column.name: column.type.value for column in table.columns},
            domain=catalog.unit_domain(table.name),
            constant=[column.name for column in table.columns] if unit is None and path is not None else (),
            unit=None if unit is None else unit.name,
            native=dict(native),
        )
        _check_same_type(stored, manifest)
        return stored


def describe_column(stored: Stored, name: str) -> SourceColumn:
    """A declared column as the server has it."""
    (given,) = [one for one in stored.native if one.casefold() == name.casefold()]
    return SourceColumn(given, given, stored.native[given])


def _known(cast: str | None) -> str:
    if cast is None:
        raise AssertionError("it was checked when the table was protected")
    return cast


def _check_same_type(stored: Stored, manifest: Manifest) -> None:
    """People are found by one value in all their tables, so it must be of one type."""
    for other in [*manifest.tables.values(), *(one.stored() for one in manifest.growing.values())]:
        if stored.unit is None or other.unit is None or other.domain != stored.domain or other.name == stored.name:
            continue
        if other.columns[other.unit] != stored.columns[stored.unit]:
            rule = f"{stored.name}.{stored.unit}: on a server, what names a person must be of one type everywhere"
            raise InvalidValue(rule, stored.columns[stored.unit], f"in {other.name} it is {other.columns[other.unit]}")
