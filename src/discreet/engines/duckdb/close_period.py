"""Closing a period: its rows become a file that is read and never changes, but for who is to be forgotten.

Promise. Periods close in order, also when nobody came. At every moment, also at kill -9 or a power cut, a period is
open, closing or closed as a whole, and each of its rows is in it once. The order on disk is: files forced to the disk;
the manifest says *closing* with the root; the record in the ledger, by whoever asks for the close; the manifest says
*closed*. Before the manifest says *closing* nothing has happened, and a second try makes the files anew.

Where rows of a unit break a promise of the policy about the unit, all its rows are set aside: no other unit decides.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from discreet.catalog.catalog import Catalog
from discreet.catalog.period import MOST_PERIODS, Period
from discreet.catalog.table import Table
from discreet.engines.duckdb.append import find_growing, name_reason
from discreet.engines.duckdb.build_rows import NUMBERED, describe_rows, digest_columns, sort_rows
from discreet.engines.duckdb.erase import erase_from_periods, find_erased, forget_in_map, write_rows
from discreet.engines.duckdb.growing import Closing, Growing, OpenFile, StoredPeriod, name_growing, root_of
from discreet.engines.duckdb.ingest import Embedded, alone_with, verify
from discreet.engines.duckdb.period_ids import number_period
from discreet.engines.duckdb.store import TableFiles
from discreet.engines.duckdb.workbench import Build, Scratch
from discreet.engines.parameters import DUCKDB_TYPES, quote_text
from discreet.errors import InvalidValue, StoreError
from discreet.noise.source import fresh_id

__all__ = ["find_known_root", "finish_close", "prepare_close", "show_period", "verify_files"]


def prepare_close(engine: Embedded, table: Table, period: Period, *, catalog: Catalog | None = None) -> str:
    """Make the file of the next period, and return the root of all periods with it.

    Until `finish_close` nobody reads it. Asked again, it returns the same root.
    """

    def work() -> str:
        growing = find_growing(engine.store.manifest(), table, catalog)
        known = find_known_root(growing, period)
        if known is not None:
            return known
        return _prepared(engine, forget_in_map(engine, growing), table, period)

    return alone_with(engine, table.name, work)


def find_known_root(growing: Growing, period: Period) -> str | None:
    """The root of a period that is closing, or closed last; None for the next one, and a refusal for any other."""
    if growing.closing is not None and growing.closing.period.name == period.name:
        return growing.closing.root
    if growing.periods and growing.periods[-1].name == period.name:
        return growing.root()
    first = growing.next_period()
    if growing.closing is not None or first != period:
        is_closed = any(one.name == period.name for one in growing.periods)
        rule = f"{growing.name}: periods close in order, " + ("once" if is_closed else f"{first.name} comes first")
        raise InvalidValue(rule, period.name, f"close {first.name}")
    if len(growing.periods) >= MOST_PERIODS:
        rule = f"{growing.name}: a table has at most {MOST_PERIODS} periods"
        raise InvalidValue(rule, period.name, "begin another table, with longer periods")
    return None


def _prepared(engine: Embedded, growing: Growing, table: Table, period: Period) -> str:
    scratch = Scratch(engine.store.scratch)
    try:
        closing, fresh = _closing(engine, growing, table, period, scratch.path)
        engine.store.publish_growing(replace(growing, closing=closing), fresh)
    finally:
        scratch.close()
    return closing.root


def _closing(
    engine: Embedded, growing: Growing, table: Table, period: Period, scratch: Path
) -> tuple[Closing, dict[str, Path]]:
    """The close, and the files that it needs, by their names."""
    store = engine.store
    manifest, secret = store.manifest(), store.secret()
    numbers = number_period(growing, period.name, manifest, store.root, secret)
    with Build(scratch, store.units, engine.settings(scratch / "spill")) as build:
        erased, fresh = erase_from_periods(build, growing, store.root, scratch)
        opened, left = _gather(build, growing, period, store.root, scratch)
        set_aside = _keep(build, growing, table)
        numbers.prepare(build, NUMBERED)
        sort_rows(build, table, numbers)
        verify(build, table)
        digests = digest_columns(build, table)
        numbers.commit(build)
        made = build.finish()
    name = f"{growing.name}@{period.name}"
    rows = replace(describe_rows(table, numbers, len(growing.periods) + 1), name=name, digests=digests)
    start, end = period.start.isoformat(), period.end.isoformat()
    closed = StoredPeriod(period.name, start, end, hash_file(made), rows, set_aside)
    erased = {name: replace(one, digest=hash_file(fresh[one.file])) for name, one in erased.items()}
    root = root_of(growing.salt, [*(erased.get(one.name, one) for one in growing.periods), closed])
    return Closing(closed, root, erased, opened, len(growing.forget)), {**fresh, **left, rows.file: made}


def _gather(
    build: Build, growing: Growing, period: Period, root: Path, scratch: Path
) -> tuple[dict[str, OpenFile | None], dict[str, Path]]:
    """Put the rows of the period into ``stage.arrived``; what becomes of the files that they were in, and new ones."""
    names = [f"c{place}" for place in range(len(growing.columns))]
    types = [DUCKDB_TYPES[kind] for kind in growing.stored().types().values()]
    declared = ", ".join(f"{name} {kind}" for name, kind in zip(names, types, strict=True))
    build.run(f"CREATE TABLE stage.arrived ({declared})")
    opened: dict[str, OpenFile | None] = {}
    fresh: dict[str, Path] = {}
    for one in growing.open:
        if one.first < period.end.date().isoformat() or growing.forget:
            build.run(f"ATTACH {quote_text(str(root / one.file))} AS waiting (READ_ONLY)")
            opened[one.file] = _take(build, growing, period, one, fresh, scratch)
            build.run("DETACH waiting")
    return opened, fresh


def _take(
    build: Build, growing: Growing, period: Period, waiting: OpenFile, fresh: dict[str, Path], scratch: Path
) -> OpenFile | None:
    """Take the rows of the period out of a file; it is written anew where at least half of it is of no use any more."""
    names = list(growing.columns)
    time = f"c{names.index(growing.time)}"
    start, end = (f"DATE '{one.date().isoformat()}'" for one in (period.start, period.end))
    erased = find_erased(growing, None if growing.unit is None else f"c{names.index(growing.unit)}")
    build.run(
        f"INSERT INTO stage.arrived FROM waiting.rows WHERE {time} >= {start} AND {time} < {end} AND NOT {erased}"
    )
    later = f"{time} >= {end} AND NOT {erased}"
    [(rows, left, gone, first)] = build.run(
        f"SELECT count(*), count(*) FILTER ({later}), count(*) FILTER ({erased}), "
        f"CAST(min({time}) FILTER ({later}) AS DATE) FROM waiting.rows"
    )
    if not left:
        return None
    if not gone and 2 * left > rows:
        return replace(waiting, first=first.isoformat())
    file = f"open-{fresh_id()}.duckdb"
    fresh[file] = scratch / file
    write_rows(build, f"SELECT * FROM waiting.rows WHERE {later}", fresh[file])
    return OpenFile(file, first.isoformat())


def _keep(build: Build, growing: Growing, table: Table) -> int:
    """Put the rows that keep the promises of the policy into ``stage.rows``, and return how many do not."""
    unit = None if growing.unit is None else f"c{list(growing.columns).index(growing.unit)}"
    places = [place for place, column in enumerate(table.columns) if column.constant_per_unit]
    kept = f"SELECT * FROM stage.arrived WHERE {name_reason(table, growing)} IS NULL"
    if unit is not None and places:
        changes = " OR ".join(
            f"min(c{place}) IS DISTINCT FROM max(c{place}) OR count(c{place}) NOT IN (0, count(*))" for place in places
        )
        kept = (
            f"WITH kept AS ({kept}), broken AS (SELECT {unit} FROM kept GROUP BY {unit} HAVING {changes}) "
            f"SELECT * FROM kept ANTI JOIN broken USING ({unit})"
        )
    names = ", ".join(f"c{place}" for place in range(len(growing.columns)))
    build.run(f"CREATE TABLE stage.rows AS SELECT {names} FROM ({kept})")
    [(arrived, rows)] = build.run("SELECT (SELECT count(*) FROM stage.arrived), (SELECT count(*) FROM stage.rows)")
    return int(arrived - rows)


def finish_close(engine: Embedded, table: str, period: Period) -> None:
    """Have questions read the period that was prepared; where that is so already, nothing is done."""
    alone_with(engine, table, lambda: forget_in_map(engine, show_period(engine.store, table, period)))


def show_period(store: TableFiles, table: str, period: Period) -> Growing:
    """The table after the close that was prepared, which is done now unless it was before. Only for who is writing."""
    growing = name_growing(store.manifest().growing, table)
    if growing.closing is not None and growing.closing.period.name == period.name:
        growing = growing.closed()
        store.publish_growing(growing)
    elif not growing.periods or growing.periods[-1].name != period.name:
        rule = f"{growing.name}: a period is prepared before it is closed"
        raise InvalidValue(rule, period.name, "call prepare_close")
    return growing


def verify_files(growing: Growing, root: Path) -> None:
    """Refuse a store in which the file of a closed period is missing, or is not as it was closed."""
    for one in growing.periods:
        try:
            is_whole = hash_file(root / one.file) == one.digest
        except OSError:
            is_whole = False
        if not is_whole:
            rule = f"{growing.name}: the store must hold what was closed; {one.name} is missing or was changed"
            raise StoreError(rule, one.file, "put it back, from a backup")


def hash_file(path: Path) -> str:
    """The SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
