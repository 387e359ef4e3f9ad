"""Beginning a table that grows, and appending rows to it.

Promise. An append takes in every row that it can and sets the others aside one by one. Which it is follows from the row
and from the periods that are closed, never from other rows; so whatever a row holds, the append does not fail, and the
next period is not missing because of one person. A source that cannot be read as rows is refused whole. The reason that
the owner is told is the first that holds: the row has no date, or no person; it lies before the first period, in one
that takes no more rows (it is late), or after the last that there can be; something is missing that must not be.

An append has an id. The same rows under the same id again change nothing, so that a nightly job can be repeated after
a crash; other rows under it are refused. Rows are the same in any order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

from discreet.catalog.catalog import Catalog
from discreet.catalog.period import MOST_PERIODS, TimeColumn
from discreet.catalog.policy.read import UnreadColumn
from discreet.catalog.table import Table
from discreet.engines.duckdb.build_rows import find_parts, stage_rows, unread_values
from discreet.engines.duckdb.growing import Appended, Growing, OpenFile
from discreet.engines.duckdb.ingest import Embedded, alone_with
from discreet.engines.duckdb.manifest import Manifest
from discreet.engines.duckdb.unit_ids import place_column
from discreet.engines.duckdb.workbench import Build, Scratch
from discreet.engines.engine import Progress, Unread
from discreet.engines.parameters import quote_text
from discreet.errors import InvalidValue
from discreet.noise.source import fresh_id

__all__ = ["append", "begin", "describe_growing", "find_growing", "name_reason"]


_STAGED = 0.6


def begin(engine: Embedded, table: Table, *, catalog: Catalog | None = None) -> None:
    """Make a table that grows, without rows and without a closed period; where it is there, see that it is the same."""
    growing = describe_growing(table, Catalog([table]) if catalog is None else catalog.with_table(table))

    def work() -> None:
        manifest = engine.store.manifest()
        manifest.check_name(table.name, grows=True)
        known = manifest.growing.get(table.name.casefold())
        if known is not None:
            known.check_same(growing)
            return
        engine.store.publish_growing(growing, is_new=True)

    alone_with(engine, table.name, work)


def describe_growing(table: Table, catalog: Catalog) -> Growing:
    """A table that begins to grow under a policy."""
    path, domain, time = catalog.unit_path(table.name), catalog.unit_domain(table.name), table.time
    if time is None or path is None or domain is None or path.steps:
        rule = f"{table.name}: a table that grows by periods says its time, and a row names its person itself"
        raise InvalidValue(rule, None, 'state time: {"column": "admitted", "every": "week", "from": "2026-01-05"}')
    return Growing(
        name=table.name,
        columns={column.name: column.type.value for column in table.columns},
        domain=domain,
        unit=None if path.column is None else table.columns[place_column(table, path.column)].name,
        per=None if table.unit_per is None else table.unit_per.value,
        time=table.columns[place_column(table, time.column)].name,
        every=time.every.value,
        since=time.first.isoformat(),
        salt=fresh_id() + fresh_id(),
    )


def find_growing(manifest: Manifest, table: Table, catalog: Catalog | None) -> Growing:
    """The table as it is stored; refused where it did not begin, or began under another policy."""
    found = manifest.growing.get(table.name.casefold())
    if found is None:
        raise InvalidValue("a table that grows begins before rows are appended", table.name, "protect it first")
    found.check_same(describe_growing(table, Catalog([table]) if catalog is None else catalog.with_table(table)))
    return found


def append(
    engine: Embedded,
    table: Table,
    source: Any,
    *,
    id: str,  # noqa: A002  as owners say it
    catalog: Catalog | None = None,
    progress: Progress | None = None,
    unread: Unread | None = None,
) -> Appended:
    """Take the rows of ``source``, and say what became of them: for the owner's eyes alone.

    A source is whatever can be taken in; see `ingest`. ``unread`` is told of what could not be read as its type.
    """
    if not id.strip():
        raise InvalidValue("an append has an id, by which it is known when it is repeated", id, 'write id="2026-02-16"')

    def work() -> tuple[Appended, Mapping[str, UnreadColumn]]:
        growing = find_growing(engine.store.manifest(), table, catalog)
        scratch = Scratch(engine.store.scratch)
        try:
            return _append(engine, growing, table, source, id, scratch.path, progress, unread is not None)
        finally:
            scratch.close()

    done, counts = alone_with(engine, table.name, work)
    if progress is not None:
        progress(1.0)
    if unread is not None:
        unread(counts)
    return done


def _append(
    engine: Embedded,
    growing: Growing,
    table: Table,
    source: Any,
    name: str,
    scratch: Path,
    progress: Progress | None,
    is_flagged: bool,
) -> tuple[Appended, Mapping[str, UnreadColumn]]:
    with Build(scratch, engine.store.units, engine.settings(scratch / "spill"), progress) as build:
        stage_rows(build, table, find_parts(build, table, source, scratch), is_flagged)
        counts = unread_values(build, table) if is_flagged else {}
        digest, known = _digest(build, len(table.columns)), growing.appends.get(name)
        if known is not None:
            return _repeated(growing, name, known, digest), counts
        build.report(_STAGED)
        done, first = _sift(build, table, growing, name)
        fresh = build.finish()
    file = f"open-{fresh_id()}.duckdb"
    opened = [] if first is None else [OpenFile(file, first.isoformat())]
    said = {"digest": digest, "rows": done.rows, "set_aside": dict(done.set_aside)}
    growing = replace(growing, open=(*growing.open, *opened), appends={**growing.appends, name: said})
    engine.store.publish_growing(growing, {file: fresh} if opened else {})
    return done, counts


def _repeated(growing: Growing, name: str, known: Mapping[str, Any], digest: str) -> Appended:
    if known["digest"] != digest:
        rule = f"{growing.name}: an append of this id was made, with other rows"
        raise InvalidValue(rule, name, "give these rows an id of their own")
    return Appended(name, known["rows"], known["set_aside"], is_repeated=True)


def _digest(build: Build, columns: int) -> str:
    """What the staged rows come to in any order: their number and two sums of hashes."""
    texts = [f"CAST(c{place} AS VARCHAR)" for place in range(columns)]
    spelled = " || ".join(f"coalesce(length({text}) || ':' || {text}, '-')" for text in texts)
    sums = ", ".join(f"coalesce(sum(md5_number_{half}(spelled)), 0)" for half in ("lower", "upper"))
    [(count, *found)] = build.run(f"SELECT count(*), {sums} FROM (SELECT {spelled} AS spelled FROM stage.rows)")
    return "-".join([str(count), *(f"{one:x}" for one in found)])


def _sift(build: Build, table: Table, growing: Growing, name: str) -> tuple[Appended, date | None]:
    """Write the rows that are taken to ``fresh.rows``, by time; and the first day of them."""
    named = ", ".join(f"c{place}" for place in range(len(table.columns)))
    time = f"c{list(growing.columns).index(growing.time)}"
    build.run(f"CREATE TABLE stage.sifted AS SELECT {named}, {name_reason(table, growing)} AS reason FROM stage.rows")
    build.run("SET preserve_insertion_order = true")
    build.run(f"CREATE TABLE fresh.rows AS SELECT {named} FROM stage.sifted WHERE reason IS NULL ORDER BY {time}")
    build.run("SET preserve_insertion_order = false")
    found = dict(build.run("SELECT reason, count(*) FROM stage.sifted WHERE reason IS NOT NULL GROUP BY reason"))
    [(rows, first)] = build.run(f"SELECT count(*), CAST(min({time}) AS DATE) FROM fresh.rows")
    [(staged,)] = build.run("SELECT count(*) FROM stage.rows")
    if rows + sum(found.values()) != staged:
        raise AssertionError(f"every row must be taken or set aside, got {rows} and {found} of {staged}")
    return Appended(name, rows, dict(sorted(found.items()))), first


def name_reason(table: Table, growing: Growing) -> str:
    """An expression that says why a row is set aside, from the row alone; NULL where it is taken."""
    places = {name: f"c{place}" for place, name in enumerate(growing.columns)}
    time, until, end = places[growing.time], growing.closed_until, _end(growing.calendar)
    missing = [f"c{place} IS NULL" for place, column in enumerate(table.columns) if not column.may_be_missing]
    tests = {
        "no date": f"{time} IS NULL",
        "no person": None if growing.unit is None else f"{places[growing.unit]} IS NULL",
        "before": f"{time} < {_day(growing.calendar.first)}",
        "late": None if until is None else f"{time} < {_day(until)}",
        "after": None if end is None else f"{time} >= {_day(end)}",
        "missing": " OR ".join(missing) or None,
    }
    found = (f"WHEN {test} THEN {quote_text(reason)}" for reason, test in tests.items() if test is not None)
    return f"CASE {' '.join(found)} END"


def _day(day: date) -> str:
    return f"DATE '{day.isoformat()}'"


@lru_cache
def _end(calendar: TimeColumn) -> date | None:
    """The day after the last period that there can be; None where the calendar ends before."""
    day = calendar.first
    try:
        for _ in range(MOST_PERIODS):
            day = calendar.every.next(day)
    except OverflowError:
        return None
    return day
