"""Tables that grow on a server: their owner says which periods are closed, and questions read these by a condition.

Claim. A statement reads, of a table that grows, the rows of the periods that it names and no others. Each such row is a
row of one unit, a person in one period, and rows of one unit have one id in all statements and in all tables of its
people.

Proof. The rows of several periods are those that meet a condition on the time column, below everything else that a
statement says: its value lies in one of the half-open intervals of these periods. Where it is missing, or was read as
no date, the condition is not met. A unit's id is made of the start of the period, which follows from that value, and of
what names the person; the start is spelled without a blank, and one comes after it, so that two pairs have one id
only where they are equal.

Rows on a server change. A row that is moved from March to April is then a row of another unit, so that the budget of a
period holds for each unit whatever becomes of its rows; see `discreet.curator.periods`. That is not so where the unit
is a row, or a person in all periods: those are refused.

The root of a table says which periods its folder knows as closed. It commits to no row, for nobody keeps them as they
are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from discreet.catalog.catalog import Catalog
from discreet.catalog.period import Period
from discreet.catalog.table import Table
from discreet.engines.duckdb.append import describe_growing, find_growing
from discreet.engines.duckdb.close_period import find_known_root, show_period
from discreet.engines.duckdb.growing import Closing, Growing, root_of
from discreet.engines.duckdb.manifest import Manifest
from discreet.engines.duckdb.store import TableFiles
from discreet.engines.duckdb.stored_table import Stored, StoredPeriod, list_runs
from discreet.errors import InvalidValue

__all__ = ["Span", "begin", "check_unit", "finish_close", "list_spans", "prepare_close", "tables_read"]


Span = tuple[datetime, datetime]
"""From a moment to before another one, on the clock of the time column."""


def check_unit(table: Table) -> None:
    """Refuse a table whose units are not in one period for good where rows can be moved."""
    if table.time is None or table.unit_per is not None:
        return
    every = table.time.every.value
    if table.unit is None:
        rule = f"{table.name}: on a server, a row can be moved to another period, and would spend the budgets of both"
    else:
        rule = f"{table.name}: on a server, nobody sees to it that the rows of closed periods stay as they are"
    column = "patient_id" if table.unit is None else table.unit
    remedy = f"protect a person in one period, unit: {{column: {column}, per: {every}}}, or drop time"
    raise InvalidValue(rule, f"<unit: {table.unit or 'row'}>", remedy)


def begin(store: TableFiles, table: Table, seen: Stored, catalog: Catalog) -> None:
    """Have a table of a server grow, as it was ``seen`` there; the periods that are closed stay so.

    Only for who is writing.
    """
    manifest = store.manifest()
    manifest.check_name(table.name, grows=True)
    wanted = replace(describe_growing(table, catalog), file=seen.file, native=seen.native)
    known = manifest.growing.get(table.name.casefold())
    if known is None:
        store.publish_growing(wanted, is_new=True)
        return
    known.check_same(wanted)
    closing = known.closing and replace(known.closing, period=_moved(known.closing.period, seen))
    periods = tuple(_moved(one, seen) for one in known.periods)
    now = replace(known, file=seen.file, native=seen.native, periods=periods, closing=closing)
    if now != known:
        store.publish_growing(now)


def _moved(period: StoredPeriod, seen: Stored) -> StoredPeriod:
    """The same period, of the table as it is on the server by now."""
    return replace(period, rows=replace(period.rows, file=seen.file, native=seen.native))


def prepare_close(store: TableFiles, table: Table, period: Period, catalog: Catalog | None, version: str) -> str:
    """Say that a period is closing, and return the root with it; asked again, the same. Only for who is writing."""
    growing = find_growing(store.manifest(), table, catalog)
    known = find_known_root(growing, period)
    if known is not None:
        return known
    rows = replace(
        growing.stored(),
        name=f"{growing.name}@{period.name}",
        version=version,
        file=growing.file,
        complete=[growing.time],  # who has no date is in no period
        periods=(),
    )
    closed = StoredPeriod(period.name, period.start.isoformat(), period.end.isoformat(), digest="", rows=rows)
    root = root_of(growing.salt, [*growing.periods, closed])
    store.publish_growing(replace(growing, closing=Closing(closed, root)))
    return root


def finish_close(store: TableFiles, table: str, period: Period) -> None:
    """Have questions read the period; where they do already, nothing is done. Only for who is writing."""
    show_period(store, table, period)


def tables_read(manifest: Manifest, statement: str) -> Mapping[str, Stored]:
    """The tables of a folder that a statement can name, and those periods of tables that grow which it does name."""
    found = {stored.name: stored for stored in manifest.tables.values()}
    for growing in manifest.growing.values():
        for name in _names_in(statement, growing):
            stored = manifest.find(name)
            if stored is not None:
                found[name] = stored
    return found


def _names_in(statement: str, growing: Growing) -> set[str]:
    """What stands between quotes and begins as the name of a period of this table does."""
    parts = statement.split('"')
    return {part for part in parts if part.startswith(f"{growing.name}@")}


def list_spans(stored: Stored) -> list[Span]:
    """The instants of the periods of a table, as few intervals as there can be."""
    return [
        (datetime.fromisoformat(run[0].start), datetime.fromisoformat(run[-1].end)) for run in list_runs(stored.periods)
    ]
