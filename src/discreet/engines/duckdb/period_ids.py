"""Ids of units in a table that grows: numbered on from period to period, and never used twice.

- Where every row is a unit, rows are numbered from a counter of their own.
- Where a unit is a person in one period, every period has new ids, from a counter of the domain. Another table of such
  persons may have closed the period before; whoever is in it has the same id there.
- Where a unit is a person, ids are those of the map of people.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from discreet.engines.duckdb.growing import Growing
from discreet.engines.duckdb.manifest import Manifest
from discreet.engines.duckdb.unit_ids import ByKey, Numbering, RowByRow, UnitsOfColumn, last_id, place_map, use_ids
from discreet.engines.duckdb.workbench import Build
from discreet.engines.parameters import quote, quote_text

__all__ = ["PeopleInPeriod", "PeopleOverTime", "RowsOverTime", "drop_people", "number_period"]


class RowsOverTime(RowByRow):
    """Every row is a unit, and rows are numbered over all periods."""

    _before = 0

    def prepare(self, build: Build, until: float) -> None:
        """Find where numbers go on."""
        self._before = last_id(build, str(self.domain))

    def select(self, columns: str, joins: str = "") -> str:
        """The rows as they came, each with its number."""
        return f"SELECT {self._before} + r.rowid + 1 AS _unit, {columns} FROM stage.rows r{joins}"

    def commit(self, build: Build) -> None:
        """Use the numbers up."""
        [(rows,)] = build.run("SELECT count(*) FROM stage.rows")
        build.run("BEGIN")
        use_ids(build, str(self.domain), self._before + rows)
        build.run("COMMIT")


class PeopleOverTime(ByKey):
    """A column names the person, who may be in other periods too: no file knows how many rows a person has."""

    counted = False


class PeopleInPeriod(UnitsOfColumn):
    """A column names the person, and every period has units of its own."""

    def __init__(self, domain: str, place: int, secret: str, known: Sequence[tuple[Path, str]]) -> None:
        """``known`` are the files of the same period of other tables, and what they call the column."""
        super().__init__(domain, place, secret)
        self._known = known

    def prepare(self, build: Build, until: float) -> None:
        """Number the people of the period, as they are numbered in other tables, or anew."""
        super().prepare(build, until)
        build.run("CREATE TABLE stage.known (key VARCHAR, id BIGINT)")
        for file, column in self._known:
            build.run(f"ATTACH {quote_text(str(file))} AS other (READ_ONLY)")
            rows = f"SELECT DISTINCT CAST({quote(column)} AS VARCHAR) AS key, _unit FROM other.rows"
            build.run(f"INSERT INTO stage.known FROM ({rows}) ANTI JOIN stage.known USING (key)")
            build.run("DETACH other")
        build.run(
            f"CREATE TABLE stage.people AS SELECT key, row_number() OVER (ORDER BY key) + "
            f"{last_id(build, self.domain)} AS id FROM stage.keys ANTI JOIN stage.known USING (key)"
        )
        self.identify(build, "(FROM stage.known UNION ALL FROM stage.people)")

    def _keep(self, build: Build) -> None:
        [(last,)] = build.run("SELECT coalesce(max(id), 0) FROM stage.people")
        use_ids(build, self.domain, last)


def number_period(growing: Growing, period: str, manifest: Manifest, root: Path, secret: str) -> Numbering:
    """How the rows of a period get their units."""
    if growing.unit is None:
        return RowsOverTime(growing.domain, secret)
    place = list(growing.columns).index(growing.unit)
    if growing.per is None:
        return PeopleOverTime(growing.domain, place, secret)
    known = [
        (root / one.file, str(other.unit))
        for other in manifest.growing.values()
        if other.domain == growing.domain and other.name != growing.name
        for one in (*other.periods, *([] if other.closing is None else [other.closing.period]))
        if one.name == period
    ]
    return PeopleInPeriod(growing.domain, place, secret, known)


def drop_people(build: Build, domain: str, keys: Sequence[str]) -> None:
    """Take people out of the map; their ids stay used."""
    place = place_map(domain)
    build.run(f"CREATE TABLE IF NOT EXISTS {place} (key VARCHAR, id BIGINT)")
    [(last,)] = build.run(f"SELECT coalesce(max(id), 0) FROM {place}")
    build.run("BEGIN")
    use_ids(build, domain, last)
    build.run(f"DELETE FROM {place} WHERE list_contains($1, key)", [list(keys)])
    build.run("COMMIT")
