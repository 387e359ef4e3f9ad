"""Forgetting a person in a table that grows: at the next close, and in all periods at once.

Seen by itself an erasure would tell that somebody was there; at a close, which happens anyway, there is nothing to see.
Versions of periods stay, and so do the ids of everybody else. All rows of the person go that are there at the close,
also those that wait for later periods and those that came since; rows that come after it are of somebody else.

The map of people forgets a person whom no table holds any more. While another table does, the person keeps the id, so
that nobody has two at once. The id is never given to anybody else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from discreet.catalog.column import ColumnType
from discreet.engines.casts import total_cast
from discreet.engines.duckdb.closed_database import open_closed_database
from discreet.engines.duckdb.growing import Growing, StoredPeriod, name_growing
from discreet.engines.duckdb.ingest import Embedded, alone_with
from discreet.engines.duckdb.manifest import Manifest
from discreet.engines.duckdb.period_ids import drop_people
from discreet.engines.duckdb.stored_table import Stored
from discreet.engines.duckdb.unit_ids import place_map
from discreet.engines.duckdb.workbench import Build, Scratch
from discreet.engines.parameters import quote, quote_text
from discreet.errors import InvalidValue
from discreet.noise.source import fresh_id

__all__ = ["erase_from_periods", "find_erased", "forget", "forget_in_map", "write_rows"]


def forget(engine: Embedded, table: str, unit_value: object) -> None:
    """Have a person forgotten at the next close; nobody is told whether there is such a person."""

    def work() -> None:
        growing = name_growing(engine.store.manifest().growing, table)
        key = _spell_key(growing, unit_value)
        pending = growing.forget if growing.closing is None else growing.forget[growing.closing.forgotten :]
        if key not in pending:
            engine.store.publish_growing(replace(growing, forget=(*growing.forget, key)))

    alone_with(engine, table, work)


def _spell_key(growing: Growing, value: object) -> str:
    """The text by which a unit is known."""
    if growing.unit is None:
        rule = f"{growing.name}: who is forgotten is named, and here every row is a unit"
        raise InvalidValue(rule, "<a value>", "only tables that name a person can forget one")
    kind = ColumnType(growing.columns[growing.unit])
    cast = total_cast("CAST($1 AS VARCHAR)", "VARCHAR", kind)
    with open_closed_database({}) as database:
        found = database.execute(f"SELECT CAST({cast} AS VARCHAR)", [str(value)]).fetchall()
    if found[0][0] is None:
        rule = f"{growing.name}: who is forgotten is named by a value of {growing.unit}"
        raise InvalidValue(rule, "<another value>", f"pass one that can be read as {kind.value}")
    return str(found[0][0])


def find_erased(growing: Growing, column: str | None) -> str:
    """A condition for the rows of those who are to be forgotten."""
    if column is None or not growing.forget:
        return "false"
    return f"(CAST({column} AS VARCHAR) IN ({', '.join(map(quote_text, growing.forget))}))"


def erase_from_periods(
    build: Build, growing: Growing, root: Path, scratch: Path
) -> tuple[dict[str, StoredPeriod], dict[str, Path]]:
    """The periods without those who are to be forgotten, by name, and their new files; others are not named.

    Their digests are still those of the files before.
    """
    erased: dict[str, StoredPeriod] = {}
    fresh: dict[str, Path] = {}
    if growing.unit is None or not growing.forget:
        return erased, fresh
    theirs = find_erased(growing, quote(growing.unit))
    for one in growing.periods:
        build.run(f"ATTACH {quote_text(str(root / one.file))} AS closed (READ_ONLY)")
        if build.run(f"SELECT 1 FROM closed.rows WHERE {theirs} LIMIT 1"):
            file = f"rows-{fresh_id()}.duckdb"
            fresh[file] = scratch / file
            write_rows(build, f"SELECT * FROM closed.rows WHERE NOT {theirs}", fresh[file])
            digests = _digests(build, growing, theirs)
            erased[one.name] = replace(one, rows=replace(one.rows, file=file, digests=digests))
        build.run("DETACH closed")
    return erased, fresh


def _digests(build: Build, growing: Growing, theirs: str) -> dict[str, str]:
    sums = ", ".join(f"coalesce(sum(hash({quote(name)})), 0)" for name in growing.columns)
    [(count, *found)] = build.run(f"SELECT count(*), {sums} FROM closed.rows WHERE NOT {theirs}")
    return {name: f"{count}-{one:x}" for name, one in zip(growing.columns, found, strict=True) if count}


def write_rows(build: Build, select: str, file: Path) -> None:
    """Write rows to a file of their own, in their order."""
    build.run("SET preserve_insertion_order = true")
    build.run(f"ATTACH {quote_text(str(file))} AS out")
    build.run(f"CREATE TABLE out.rows AS {select}")
    build.run("CHECKPOINT out")
    build.run("DETACH out")
    build.run("SET preserve_insertion_order = false")


def forget_in_map(engine: Embedded, growing: Growing) -> Growing:
    """Take those out of the map of people who are in no table any more. Only for who is writing."""
    if not growing.gone:
        return growing
    if growing.per is None:
        manifest, scratch = engine.store.manifest(), Scratch(engine.store.scratch)
        try:
            with Build(scratch.path, engine.store.units, engine.settings(scratch.path / "spill")) as build:
                ids = _find_ids(build, growing)
                held = _find_held(build, ids, _of_domain(manifest, growing.domain), engine.store.root)
                drop_people(build, growing.domain, [key for key, unit in ids.items() if unit not in held])
                build.finish()
        finally:
            scratch.close()
    growing = replace(growing, gone=())
    engine.store.publish_growing(growing)
    return growing


def _find_ids(build: Build, growing: Growing) -> dict[str, int]:
    place = place_map(growing.domain)
    build.run(f"CREATE TABLE IF NOT EXISTS {place} (key VARCHAR, id BIGINT)")
    return dict(build.run(f"SELECT key, id FROM {place} WHERE list_contains($1, key)", [list(growing.gone)]))


def _of_domain(manifest: Manifest, domain: str) -> Iterable[Stored]:
    closing = [one.closing for one in manifest.growing.values() if one.closing is not None]
    return [one for one in (*manifest.shown(), *(one.period.rows for one in closing)) if one.domain == domain]


def _find_held(build: Build, ids: dict[str, int], tables: Iterable[Stored], root: Path) -> set[int]:
    """Which of the ids have rows."""
    found: set[int] = set()
    for one in tables:
        build.run(f"ATTACH {quote_text(str(root / one.file))} AS held (READ_ONLY)")
        units = build.run("SELECT DISTINCT _unit FROM held.rows WHERE list_contains($1, _unit)", [list(ids.values())])
        found.update(unit for (unit,) in units)
        build.run("DETACH held")
    return found
