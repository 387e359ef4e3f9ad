"""Taking in a table: cast totally, number the people, sort by person, check, and swap in one step.

Promise. For every source and at every moment, also at Ctrl-C, kill -9 or a power cut: readers see the whole old
version or the whole new one. Columns that the policy does not declare are never stored.

A new table is checked against what its policy promises; plans rely on that, so a table that fails is not taken in. What
is told names the column and no value. It depends on the rows, so it is for the owner.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

import duckdb

from discreet.catalog.catalog import Catalog
from discreet.catalog.table import Table
from discreet.engines.duckdb.build_rows import (
    NUMBERED,
    describe_rows,
    digest_columns,
    find_parts,
    sort_rows,
    stage_rows,
    unread_values,
)
from discreet.engines.duckdb.snapshot import Settings
from discreet.engines.duckdb.store import TableFiles
from discreet.engines.duckdb.unit_ids import Numbering, numbering
from discreet.engines.duckdb.workbench import Build, Scratch
from discreet.engines.engine import OwnerLog, Progress, Unread, tell
from discreet.engines.parameters import quote
from discreet.errors import DiscreetError, InvalidValue, StoreError, UnreadableSource

__all__ = ["Embedded", "alone_with", "ingest", "verify"]


T = TypeVar("T")


def verify(build: Build, table: Table) -> None:
    """Refuse a table that breaks a promise about missing or constant values."""
    _refuse_missing(build, table)
    _refuse_changing(build, table)


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
    if table.time is not None:
        rule = f"{table.name}: the rows of a table that grows by periods are appended"
        raise InvalidValue(rule, "<rows to take in whole>", "append them, or drop time from the policy")

    def work() -> str:
        numbers = numbering(table, tables, engine.store)
        engine.store.manifest().check_name(table.name, grows=False)
        return _ingest(engine, table, source, numbers, progress, unread)

    return alone_with(engine, table.name, work)


def alone_with(engine: Embedded, table: str, work: Callable[[], T]) -> T:
    """The result of ``work``, which writes to the store and is alone in it; or a refusal that quotes no value."""
    with engine.store.writing():
        try:
            return work()
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
            stage_rows(build, table, find_parts(build, table, source, scratch.path), unread is not None)
            numbers.prepare(build, NUMBERED)
            sort_rows(build, table, numbers)
            verify(build, table)
            counts = {} if unread is None else unread_values(build, table)
            digests = digest_columns(build, table)
            numbers.commit(build)
            fresh = build.finish()
        stored = replace(describe_rows(table, numbers, engine.store.manifest().ingests + 1), digests=digests)
        engine.store.publish(stored, fresh, numbers.secret)
    finally:
        scratch.close()
    if progress is not None:
        progress(1.0)
    if unread is not None:
        unread(counts)
    return stored.version


def _is_ctrl_c(failure: Exception) -> bool:
    """Whether DuckDB made an error of its own out of Ctrl-C, as it does in statements that nobody attends."""
    return isinstance(failure, (duckdb.InterruptException, RuntimeError)) and "interrupted" in str(failure).lower()


def _refusal(table: str, failure: Exception) -> StoreError:
    """What the owner is told: where, never which words."""
    line = re.search(r"CSV Error on Line: (\d+)", str(failure))
    if line is not None:
        rule = f"{table}: the rows of a CSV file must have the fields of its header, with quotes closed"
        return UnreadableSource(
            rule, f"<line {line[1]}>", "mend the line; --verbose, or owner.log in the folder, has more"
        )
    if "No space left" in str(failure):
        rule = f"{table}: the disk of the store must have room; nothing was changed"
        return StoreError(rule, "<no space left>", "make room, and take in again")
    if isinstance(failure, OSError):
        return StoreError(f"{table}: the store's folder must be writable", f"<{type(failure).__name__}>")
    return StoreError(
        f"{table}: could not be taken in, and nothing was changed",
        None,
        "--verbose, or owner.log in the folder, says why",
    )
