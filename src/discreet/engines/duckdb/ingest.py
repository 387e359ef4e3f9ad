"""Taking in a table: cast totally, number the people, sort by person, check, and swap in one step.

Promise. For every source and at every moment, also at Ctrl-C, kill -9 or a power cut: readers see the whole old
version or the whole new one. Columns that the policy does not declare are never stored.

A new table is checked against what its policy promises; plans rely on that, so a table that fails is not taken in. What
is told names the column and no value. It depends on the rows, so it is for the owner.
"""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

import duckdb

from discreet.catalog.catalog import Catalog
from discreet.catalog.column import Column
from discreet.catalog.policy.read import UnreadColumn
from discreet.catalog.table import Table
from discreet.engines.bounded_keys import find_counted_columns, find_unlisted_columns
from discreet.engines.duckdb.manifest import Stored
from discreet.engines.duckdb.precompute_bounds import Marking
from discreet.engines.duckdb.snapshot import Settings
from discreet.engines.duckdb.sources import SourcePart, declare_columns, read_parts, selection, unreadable
from discreet.engines.duckdb.store import TableFiles
from discreet.engines.duckdb.unit_ids import Numbering, RowByRow, numbering
from discreet.engines.duckdb.workbench import Build, Scratch
from discreet.engines.engine import OwnerLog, Progress, Unread, tell
from discreet.engines.parameters import Bindings, quote
from discreet.engines.stored_columns import name_steps, name_within
from discreet.engines.value_grid import clamp_value, describe_limits, describe_steps, find_grid, in_steps
from discreet.errors import DiscreetError, InvalidValue, StoreError, UnreadableSource
from discreet.noise.source import fresh_id

__all__ = ["Embedded", "ingest", "unread_values", "verify"]


def verify(build: Build, table: Table) -> None:
    """Refuse a table that breaks a promise about missing or constant values."""
    _refuse_missing(build, table)
    _refuse_changing(build, table)


def unread_values(build: Build, table: Table) -> dict[str, UnreadColumn]:
    """Per column, what could not be read as its type, or may mean something else; others are not listed."""
    looks = ", ".join(f"histogram(unread{place})" for place in range(len(table.columns)))
    [found] = build.run(f"SELECT {looks} FROM stage.rows")
    told = {column.name: UnreadColumn.of(one or {}) for column, one in zip(table.columns, found, strict=True)}
    return {name: one for name, one in told.items() if one.count or one.doubtful}


def _refuse_missing(build: Build, table: Table) -> None:
    names = [column.name for column in table.columns if not column.may_be_missing]
    for name in _broken(build, names, "bool_or({0} IS NULL)", "fresh.rows"):
        rule = f"{table.name}.{name}: values must not be missing, as the policy says"
        raise InvalidValue(rule, "<a row without one of its type>", "say nullable: true or a default")


def _refuse_changing(build: Build, table: Table) -> None:
    names = [column.name for column in table.columns if column.constant_per_unit and not table.public]
    changes = ", ".join(
        f"min({name}) IS DISTINCT FROM max({name}) OR count({name}) NOT IN (0, count(*)) AS {name}"
        for name in map(quote, names)
    )
    rows = f"(SELECT {changes} FROM fresh.rows GROUP BY _unit)"
    for name in _broken(build, names, "bool_or({0})", rows):
        rule = f"{table.name}.{name}: all rows of a unit must hold one value, as the policy says"
        raise InvalidValue(rule, "<a unit with two>", "drop constant_per_unit, or mend the rows")


def _broken(build: Build, names: list[str], test: str, rows: str) -> list[str]:
    """The columns for which the test holds."""
    if not names:
        return []
    [found] = build.run(f"SELECT {', '.join(test.format(quote(name)) for name in names)} FROM {rows}")
    return [name for name, is_broken in zip(names, found, strict=True) if is_broken]


_LOADED, _NUMBERED, _SORTED = 0.45, 0.55, 0.95
"""The fractions of an ingest that are done after each step, from trials with ten million rows."""


class Embedded(Protocol):
    """What an ingest needs of the embedded engine."""

    store: TableFiles
    owner_log: OwnerLog | None

    def settings(self, spill: Path | None) -> Settings:
        """DuckDB's settings, with the folder where it may put what does not fit in memory."""


def ingest(
    engine: Embedded,
    table: Table,
    source: Any,
    progress: Progress | None = None,
    *,
    catalog: Catalog | None = None,
    unread: Unread | None = None,
) -> str:
    """Take in ``source`` as the new version of ``table`` and return the version's id.

    A source is a path, folder or pattern of CSV or Parquet files, a `CSVFiles`, a `DuckDBTable`, an Arrow table,
    dataset or reader, a pandas or Polars frame, or any object with Arrow's stream interface. ``catalog`` holds the
    tables that foreign keys lead to; they are taken in first. ``unread`` is told once the table is taken in.
    """
    tables = Catalog([table]) if catalog is None else catalog.with_table(table)
    with engine.store.writing():
        numbers = numbering(table, tables, engine.store)
        try:
            return _ingest(engine, table, source, numbers, progress, unread)
        except DiscreetError:
            raise
        except Exception as failure:
            if _is_ctrl_c(failure):
                raise KeyboardInterrupt from None
            tell(engine.owner_log, failure)
            refusal = _refusal(table, failure)
    # Outside the except block, so that no traceback goes on to print the database's words, which can hold cells.
    raise refusal


def _ingest(
    engine: Embedded,
    table: Table,
    source: Any,
    numbers: Numbering,
    progress: Progress | None,
    unread: Unread | None,
) -> str:
    scratch = Scratch(engine.store.scratch)
    try:
        settings = engine.settings(scratch.path / "spill")
        with Build(scratch.path, engine.store.units, settings, progress) as build:
            _load(build, table, _parts(build, table, source, scratch.path), unread is not None)
            numbers.prepare(build, _NUMBERED)
            _sort(build, table, numbers)
            verify(build, table)
            counts = {} if unread is None else unread_values(build, table)
            digests = _digests(build, table)
            numbers.commit(build)
            fresh = build.finish()
        stored = replace(_stored(engine, table, numbers), digests=digests)
        engine.store.publish(stored, fresh, numbers.secret)
    finally:
        scratch.close()
    if progress is not None:
        progress(1.0)
    if unread is not None:
        unread(counts)
    return stored.version


def _parts(build: Build, table: Table, source: Any, scratch: Path) -> list[SourcePart]:
    return read_parts(source, declare_columns(table), build.connection, spelled=table.csv, scratch=scratch)


def _load(build: Build, table: Table, parts: list[SourcePart], is_flagged: bool) -> None:
    """Stage the rows, cast; every part is checked against the policy before the first is read."""
    casts = [selection(table, part) for part in parts]
    for number, (part, columns) in enumerate(zip(parts, casts, strict=True)):
        named = _named(columns, "c")
        if is_flagged:  # it takes a tenth longer
            named += _named(unreadable(table, part, columns), "unread")
        select = f"SELECT {', '.join(named)}"
        write = "INSERT INTO stage.rows" if number else "CREATE TABLE stage.rows AS"
        until = _LOADED * (number + 1) / len(parts)
        try:
            build.run(f"{write} {select} FROM {part.relation}", until=until)
        except duckdb.Error:
            if part.patient_relation is None or (part.open_quotes and build.run(part.open_quotes)):
                raise
            build.run(f"{write} {select} FROM {part.patient_relation}", until=until)


def _digests(build: Build, table: Table) -> dict[str, str]:
    """Per column, how many values there are and the sum of their hashes; none where there is no row."""
    sums = ", ".join(f"coalesce(sum(hash(c{place})), 0)" for place in range(len(table.columns)))
    [(count, *found)] = build.run(f"SELECT count(*), {sums} FROM stage.rows")
    return {column.name: f"{count}-{one:x}" for column, one in zip(table.columns, found, strict=True) if count}


def _named(columns: list[str], letter: str) -> list[str]:
    return [f"{column} AS {letter}{place}" for place, column in enumerate(columns)]


def _sort(build: Build, table: Table, numbers: Numbering) -> None:
    # A plain copy keeps the order of the staged rows; a sort makes an order of its own.
    build.run("SET preserve_insertion_order = true")
    marking = _marking(table, numbers)
    names = [quote(column.name) for column in table.columns]
    # Marks are made under names of our own: a column that its owner called rowid would hide the places of rows.
    columns = [f"r.c{place}" + ("" if marking.is_needed else f" AS {name}") for place, name in enumerate(names)]
    bindings, grids = Bindings(), _grids(table, numbers)
    for place, column in enumerate(table.columns):
        if column.bounds is not None:
            columns.append(f"{clamp_value(column, f'r.c{place}', bindings.bind)} AS {name_within(place)}")
        if column in grids:
            real = f"CAST({name_within(place)} AS DOUBLE)"
            columns.append(f"CAST({in_steps(real, *grids[column])} AS INTEGER) AS {name_steps(place)}")
    select = numbers.select(", ".join(columns + marking.columns()), marking.joins(build, table, numbers.secret))
    if marking.is_needed:
        build.run(f"CREATE TABLE stage.sorted AS {select}", bindings.parameters, until=(_NUMBERED + _SORTED) / 2)
        renamed = ", ".join(f"c{place} AS {name}" for place, name in enumerate(names))
        build.run(
            f"CREATE TABLE fresh.rows AS SELECT *{marking.left_out()} RENAME ({renamed}) FROM stage.sorted LIMIT 0"
        )
        marking.write(build, _SORTED)
    else:
        build.run(f"CREATE TABLE fresh.rows AS {select}", bindings.parameters, until=_SORTED)
    _check_complete(build)


def _check_complete(build: Build) -> None:
    """A row that is lost or doubled on the way may depend on the rows of other people."""
    [(staged, stored)] = build.run("SELECT (SELECT count(*) FROM stage.rows), (SELECT count(*) FROM fresh.rows)")
    if staged != stored:
        raise AssertionError(f"every row that was read must be stored once, got {stored:,} of {staged:,}")


def _marking(table: Table, numbers: Numbering) -> Marking:
    """Which columns are marked; where a unit has one row, there is nothing to say."""
    kinds = (find_unlisted_columns(table), find_counted_columns(table)) if numbers.counted else ([], [])
    held, alike = ([place for place in places if place != numbers.place] for places in kinds)
    return Marking(held, alike, table.most_groups)


def _grids(table: Table, numbers: Numbering) -> dict[Column, tuple[Fraction, Fraction]]:
    """The columns that are kept in steps too; where units may have several rows, the grid depends on the price."""
    found = {column: find_grid(column) for column in table.columns if isinstance(numbers, RowByRow)}
    return {column: grid for column, grid in found.items() if grid is not None}


def _stored(engine: Embedded, table: Table, numbers: Numbering) -> Stored:
    unique, marking = fresh_id(), _marking(table, numbers)
    parent = numbers.parent
    return Stored(
        name=table.name,
        version=f"{engine.store.manifest().ingests + 1}-{unique}",
        file=f"rows-{unique}.duckdb",
        columns={column.name: column.type.value for column in table.columns},
        domain=numbers.domain,
        parent=None if parent is None else parent.name,
        parent_version=None if parent is None else parent.version,
        counted=numbers.counted,
        salted=numbers.counted,
        held={table.columns[place].name: marking.most for place in marking.held},
        alike={table.columns[place].name: describe_limits(table.columns[place]) for place in marking.alike},
        limits={column.name: describe_limits(column) for column in table.columns if column.bounds is not None},
        steps={
            column.name: describe_steps(describe_limits(column), *grid)
            for column, grid in _grids(table, numbers).items()
        },
        constant=[column.name for column in table.columns if column.constant_per_unit or isinstance(numbers, RowByRow)],
        complete=[column.name for column in table.columns if not column.may_be_missing],  # `verify` refuses any other
    )


def _is_ctrl_c(failure: Exception) -> bool:
    """Whether DuckDB made an error of its own out of Ctrl-C, as it does in statements that nobody attends."""
    return isinstance(failure, (duckdb.InterruptException, RuntimeError)) and "interrupted" in str(failure).lower()


def _refusal(table: Table, failure: Exception) -> StoreError:
    """What the owner is told: where, never which words."""
    line = re.search(r"CSV Error on Line: (\d+)", str(failure))
    if line is not None:
        rule = f"{table.name}: the rows of a CSV file must have the fields of its header, with quotes closed"
        return UnreadableSource(
            rule, f"<line {line[1]}>", "mend the line; --verbose, or owner.log in the folder, has more"
        )
    if "No space left" in str(failure):
        rule = f"{table.name}: the disk of the store must have room; nothing was changed"
        return StoreError(rule, "<no space left>", "make room, and take in again")
    if isinstance(failure, OSError):
        return StoreError(f"{table.name}: the store's folder must be writable", f"<{type(failure).__name__}>")
    return StoreError(
        f"{table.name}: could not be taken in, and nothing was changed",
        None,
        "--verbose, or owner.log in the folder, says why",
    )
