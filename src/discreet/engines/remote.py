"""Tables that stay where they are, on a server: the folder remembers which, and what was seen of them.

Nothing is copied. A question is one statement that the server runs, and only its aggregates leave it. Two things are
different from rows that were taken in, because nobody keeps others from changing them:

- what a check would have seen once need not be so for the next question: a column that has one value per person
  (``constant_per_unit``) and a foreign key that leads to one person are refused here. A view can join the person in;
- rows without a person are left out, and not people of their own.

A version says when the owner last protected the table. Whoever asks the same question again before that is served the
answer that was given.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet.catalog.catalog import Catalog
from discreet.catalog.column import ColumnType
from discreet.catalog.table import Table
from discreet.engines.engine import OwnerLog, Place, Progress, Unread
from discreet.engines.manifest import Manifest, Stored
from discreet.engines.parameters import Bound, bound
from discreet.engines.part import Given, Part, selection
from discreet.engines.store import Store, lookup
from discreet.engines.translation.untranslatable import Untranslatable
from discreet.engines.translation.writer import Source, Writer
from discreet.engines.translation.written import Kind, Written
from discreet.errors import InvalidType, InvalidValue, QueryRefused
from discreet.noise.source import fresh_id

__all__ = ["RemoteEngine", "given_of"]

_MOST_KNOWN = 256


class RemoteEngine(Place):
    """A folder whose tables are on a server."""

    writer: type[Writer]
    """What writes statements for the server."""

    def __init__(
        self, folder: str | os.PathLike[str], *, timeout: float | None = None, owner_log: OwnerLog | None = None
    ) -> None:
        """Name the folder of the curator; see `DuckDBEngine` for ``timeout`` and ``owner_log``."""
        if timeout is not None and not timeout > 0:
            raise InvalidValue("timeout must be positive", timeout, "leave it out to wait for ever")
        self.store = Store(Path(folder))
        self.timeout = timeout
        self.owner_log = owner_log
        self._known: dict[tuple[object, type[Writer], str, str], tuple[str, Sequence[Stored]]] = {}

    # What servers do differently.

    def found(self, table: Table, name: str) -> str:
        """The full name of a table or view; what the server must not be asked for the policy ``table`` is refused."""
        return name

    @abstractmethod
    def look(self, name: str) -> Mapping[str, str]:
        """The columns of a table or view on the server and their types, in its words; refused where there is none."""

    @abstractmethod
    def cast(self, given: Given, wanted: ColumnType) -> str | None:
        """A column as a declared type, by an expression that cannot fail; None where they have nothing in common."""

    def naming(self, given: Given, wanted: ColumnType) -> str | None:
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

    # Reading.

    def describe(self, table: str) -> Mapping[str, ColumnType]:
        """The names and types of a table's declared columns, in order."""
        return self.stored(table).types()

    def version(self, table: str) -> str:
        """When the table was last protected."""
        return self.stored(table).version

    def stored(self, table: str) -> Stored:
        """A table as it was protected."""
        return lookup(self.store.manifest(), table)

    def check(self, statement: str, parameters: Sequence[object] = ()) -> None:
        """Refuse what cannot be asked on the server so that it means the same and cannot fail."""
        try:
            self.written(statement, parameters)
        except Untranslatable as what:
            rule = f"{type(self).dialect} answers what means the same there as everywhere, and cannot fail"
            raise QueryRefused(rule, str(what), "say it in another way") from None

    def written(self, statement: str, parameters: Sequence[object] = ()) -> str:
        """A statement of a plan in the server's language."""
        return self.translated(statement, [bound(value) for value in parameters])[0]

    def translated(
        self, statement: str, values: Sequence[Bound], kind: type[Writer] | None = None
    ) -> tuple[str, Sequence[Stored]]:
        """The same, and the tables that it reads; what was checked a moment ago is not written again."""
        kind = self.writer if kind is None else kind
        key = (self.store.stamp(), kind, statement, repr(values))
        found = self._known.get(key)
        if found is None:
            tables = {stored.name: stored for stored in self.store.manifest().tables.values()}
            writer = kind({name: self._source(stored) for name, stored in tables.items()}, values)
            found = writer.statement(statement), [tables[name] for name in sorted(writer.tables)]
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = found
        return found

    def check_unchanged(self, stored: Stored, now: Mapping[str, str]) -> None:
        """Refuse to read a table whose columns are of other types by now: what is written for them could fail."""
        if dict(now) != dict(stored.native):
            raise ValueError(f"the columns of {stored.file} have changed; protect {stored.name} again")

    def _source(self, stored: Stored) -> Source:
        """A query for the declared columns; everything in it follows from what was seen when it was protected."""
        casts = {name: self._cast(stored, name, kind) for name, kind in stored.types().items()}
        listed = [f"{cast} AS {self.quoted(name)}" for name, cast in casts.items()]
        columns = {name: Written(self.quoted(name), Kind(word)) for name, word in stored.columns.items()}
        kept, kind = "", None
        if stored.domain is not None:
            unit = self.row_number() if stored.unit is None else self._naming(stored, stored.unit)
            kept = "" if stored.unit is None else f" WHERE {unit} IS NOT NULL"
            listed, columns = [f"{unit} AS _unit", *listed], {"_unit": Written("_unit", Kind.UNIT), **columns}
            kind = None if stored.unit is None else Kind(stored.columns[stored.unit])
        return Source(f"SELECT {', '.join(listed)} FROM {self.place(stored.file)}{kept}", columns, kind)

    def _naming(self, stored: Stored, name: str) -> str:
        return _known(self.naming(given_of(stored, name), stored.types()[name]))

    def _cast(self, stored: Stored, name: str, kind: ColumnType) -> str:
        return _known(self.cast(given_of(stored, name), kind))

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
        if not isinstance(source, str):
            rule = "a table that stays on a server is named, such as public.visits"
            raise InvalidType(rule, f"<{type(source).__name__}>", "or keep the rows in the folder")
        tables = Catalog([table]) if catalog is None else catalog.with_table(table)
        with self.store.writing():
            source = self.found(table, source)
            native = self.look(source)
            given = tuple(Given(name, name, kind) for name, kind in native.items())
            selection(table, Part(given, source), self.cast)
            stored = self._stored(table, tables, source, native)
            self.store.remember(stored)
        if progress is not None:
            progress(1.0)
        return stored.version

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


def given_of(stored: Stored, name: str) -> Given:
    """A declared column as the server has it."""
    (given,) = [one for one in stored.native if one.casefold() == name.casefold()]
    return Given(given, given, stored.native[given])


def _known(cast: str | None) -> str:
    if cast is None:
        raise AssertionError("it was checked when the table was protected")
    return cast


def _check_same_type(stored: Stored, manifest: Manifest) -> None:
    """People are found by one value in all their tables, so it must be of one type."""
    for other in manifest.tables.values():
        if stored.unit is None or other.unit is None or other.domain != stored.domain or other.name == stored.name:
            continue
        if other.columns[other.unit] != stored.columns[stored.unit]:
            rule = f"{stored.name}.{stored.unit}: on a server, what names a person must be of one type everywhere"
            raise InvalidValue(rule, stored.columns[stored.unit], f"in {other.name} it is {other.columns[other.unit]}")
