"""Rows on their way into a file: staged with casts that cannot fail, numbered, sorted by unit, and marked.

A table that is taken in whole and a period of one that grows are made by the same steps.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb

from discreet.catalog.column import Column
from discreet.catalog.policy.read import UnreadColumn
from discreet.catalog.table import Table
from discreet.engines.bounded_keys import find_counted_columns, find_unlisted_columns
from discreet.engines.duckdb.precompute_bounds import Marking
from discreet.engines.duckdb.sources import SourcePart, declare_columns, read_parts, selection, unreadable
from discreet.engines.duckdb.stored_table import Stored
from discreet.engines.duckdb.unit_ids import Numbering, RowByRow
from discreet.engines.duckdb.workbench import Build
from discreet.engines.parameters import Bindings, quote
from discreet.engines.stored_columns import name_steps, name_within
from discreet.engines.value_grid import clamp_value, describe_limits, describe_steps, find_grid, in_steps
from discreet.noise.source import fresh_id

__all__ = [
    "NUMBERED",
    "describe_rows",
    "digest_columns",
    "find_parts",
    "sort_rows",
    "stage_rows",
    "unread_values",
]


LOADED, NUMBERED, SORTED = 0.45, 0.55, 0.95
"""The fractions of an ingest that are done after each step, from trials with ten million rows."""


def unread_values(build: Build, table: Table) -> dict[str, UnreadColumn]:
    """Per column, what could not be read as its type, or may mean something else; others are not listed."""
    looks = ", ".join(f"histogram(unread{place})" for place in range(len(table.columns)))
    [found] = build.run(f"SELECT {looks} FROM stage.rows")
    told = {column.name: UnreadColumn.of(one or {}) for column, one in zip(table.columns, found, strict=True)}
    return {name: one for name, one in told.items() if one.count or one.doubtful}


def find_parts(build: Build, table: Table, source: Any, scratch: Path) -> list[SourcePart]:
    """The rows of a source, by shape."""
    return read_parts(source, declare_columns(table), build.connection, spelled=table.csv, scratch=scratch)


def stage_rows(build: Build, table: Table, parts: list[SourcePart], is_flagged: bool) -> None:
    """Stage the rows, cast; every part is checked against the policy before the first is read."""
    casts = [selection(table, part) for part in parts]
    for number, (part, columns) in enumerate(zip(parts, casts, strict=True)):
        named = _named(columns, "c")
        if is_flagged:  # it takes a tenth longer
            named += _named(unreadable(table, part, columns), "unread")
        select = f"SELECT {', '.join(named)}"
        write = "INSERT INTO stage.rows" if number else "CREATE TABLE stage.rows AS"
        until = LOADED * (number + 1) / len(parts)
        try:
            build.run(f"{write} {select} FROM {part.relation}", until=until)
        except duckdb.Error:
            if part.patient_relation is None or (part.open_quotes and build.run(part.open_quotes)):
                raise
            build.run(f"{write} {select} FROM {part.patient_relation}", until=until)


def digest_columns(build: Build, table: Table) -> dict[str, str]:
    """Per column, how many values there are and the sum of their hashes; none where there is no row."""
    sums = ", ".join(f"coalesce(sum(hash(c{place})), 0)" for place in range(len(table.columns)))
    [(count, *found)] = build.run(f"SELECT count(*), {sums} FROM stage.rows")
    return {column.name: f"{count}-{one:x}" for column, one in zip(table.columns, found, strict=True) if count}


def _named(columns: list[str], letter: str) -> list[str]:
    return [f"{column} AS {letter}{place}" for place, column in enumerate(columns)]


def sort_rows(build: Build, table: Table, numbers: Numbering) -> None:
    """Write the staged rows to ``fresh.rows``: numbered, sorted by unit, and with what is computed in advance."""
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
        build.run(f"CREATE TABLE stage.sorted AS {select}", bindings.parameters, until=(NUMBERED + SORTED) / 2)
        renamed = ", ".join(f"c{place} AS {name}" for place, name in enumerate(names))
        build.run(
            f"CREATE TABLE fresh.rows AS SELECT *{marking.left_out()} RENAME ({renamed}) FROM stage.sorted LIMIT 0"
        )
        marking.write(build, SORTED)
    else:
        build.run(f"CREATE TABLE fresh.rows AS {select}", bindings.parameters, until=SORTED)
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


def describe_rows(table: Table, numbers: Numbering, ingest: int) -> Stored:
    """What is known of rows that were written by `sort_rows`, in the ingest of this number."""
    unique, marking = fresh_id(), _marking(table, numbers)
    parent = numbers.parent
    return Stored(
        name=table.name,
        version=f"{ingest}-{unique}",
        file=f"rows-{unique}.duckdb",
        columns={column.name: column.type.value for column in table.columns},
        domain=numbers.domain,
        parent=None if parent is None else parent.name,
        parent_version=None if parent is None else parent.version,
        counted=numbers.counted,
        salted=numbers.salted,
        held={table.columns[place].name: marking.most for place in marking.held},
        alike={table.columns[place].name: describe_limits(table.columns[place]) for place in marking.alike},
        limits={column.name: describe_limits(column) for column in table.columns if column.bounds is not None},
        steps={
            column.name: describe_steps(describe_limits(column), *grid)
            for column, grid in _grids(table, numbers).items()
        },
        constant=[column.name for column in table.columns if column.constant_per_unit or isinstance(numbers, RowByRow)],
        complete=[column.name for column in table.columns if not column.may_be_missing],  # no other was let in
    )
