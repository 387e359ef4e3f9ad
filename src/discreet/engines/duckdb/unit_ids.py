"""Ids of units: dense integers that stand for people, the same in every table of one kind of unit.

- A unit key is compared as the text of its declared type, so 7 in one table and '7' in another are one person.
- Ids are 1, 2, 3, … in the order of the ingests that first saw them, and within one ingest in the order of the keys.
  They stay with the person for the life of the store, also when the person's rows are gone; whoever was forgotten and
  comes back counts as somebody else. No id is used twice, because the last one is written down.
- A row without a key, or whose foreign key leads nowhere, is a unit of its own, with a negative id that is never used
  again. Such rows are not taken together, because they need not be of one person.
- Where every row is a unit, the id is the number of the row, from 1. Public rows have no unit.
- Units of a period, rows or persons, are numbered on where the period before ended, so that two periods share no id. A
  person in one period has one id in all tables of such persons.
- Where units may have several rows, every row also says how many (``_n``), so that not every question counts them, and
  the salt of its unit (``_salt``), by what names the unit and not by its id; see `discreet.engines.bounded_keys`.

Nothing is kept in the map of people before the new table has passed its checks.
"""

from __future__ import annotations

from pathlib import Path

from discreet.catalog.catalog import Catalog
from discreet.catalog.table import Table
from discreet.engines.bounded_keys import write_salt
from discreet.engines.duckdb.manifest import Stored
from discreet.engines.duckdb.store import TableFiles, lookup
from discreet.engines.duckdb.workbench import Build
from discreet.engines.parameters import quote, quote_text
from discreet.errors import InvalidValue

__all__ = [
    "ByKey",
    "ByParent",
    "Numbering",
    "RowByRow",
    "UnitsOfColumn",
    "last_id",
    "numbering",
    "place_column",
    "place_map",
    "use_ids",
]


_ROWS_OF_UNIT = "CAST(sum(n) OVER (PARTITION BY id) AS BIGINT) AS n"
"""Several keys may lead to one unit."""


_SALT = f"CAST({write_salt(['key'], 'CAST($1 AS VARCHAR)')} AS INTEGER)"
"""Of the unit with this key, which is text already."""


def last_id(build: Build, domain: str) -> int:
    """The last id of a domain that was ever used, as far as it was written down."""
    build.run("CREATE TABLE IF NOT EXISTS units._last (domain VARCHAR, id BIGINT)")
    return next((last for (last,) in build.run("SELECT id FROM units._last WHERE domain = ?", [domain.casefold()])), 0)


def use_ids(build: Build, domain: str, last: int) -> None:
    """Write down that ids of a domain up to this one are used, inside a transaction."""
    used = max(last, last_id(build, domain))
    build.run("DELETE FROM units._last WHERE domain = ?", [domain.casefold()])
    build.run("INSERT INTO units._last VALUES (?, ?)", [domain.casefold(), used])


def place_map(domain: str) -> str:
    """The table that maps the people of a domain to ids."""
    return f"units.{quote(f'_units_{domain.casefold()}')}"


class Numbering:
    """How the staged rows of one table get the ids of their units. This one gives none, for public rows."""

    domain: str | None = None
    """What kind of unit the ids number."""
    parent: Stored | None = None
    """The table in which units are looked up."""
    counted: bool = False
    """Whether the finished rows say how many rows their unit has."""
    salted: bool = False
    """Whether they say the salt of their unit."""
    place: int | None = None
    """The column that leads to the unit, by its place."""

    def __init__(self, secret: str) -> None:
        self.secret = secret
        """What salts are hashed with."""

    def prepare(self, build: Build, until: float) -> None:
        """Find the ids for the rows in ``stage.rows``."""

    def select(self, columns: str, joins: str = "") -> str:
        """The finished rows, in the order in which they are stored; ``joins`` find what else the columns name."""
        return f"SELECT {columns} FROM stage.rows r{joins}"

    def commit(self, build: Build) -> None:
        """Keep what was learnt about people."""


class RowByRow(Numbering):
    """Every row is a unit."""

    def __init__(self, domain: str, secret: str) -> None:
        self.domain = domain
        self.secret = secret

    def select(self, columns: str, joins: str = "") -> str:
        """The rows as they came, each with its number."""
        return f"SELECT r.rowid + 1 AS _unit, {columns} FROM stage.rows r{joins}"


class UnitsOfColumn(Numbering):
    """Units that the values of one column lead to, through ``stage.ids``."""

    counted = True
    salted = True

    def __init__(self, domain: str, place: int, secret: str) -> None:
        self.domain: str = domain
        self.place = place
        self.secret = secret
        self._column = f"c{place}"
        self._folded = domain.casefold()
        self._own = -1  # the highest negative id that was never used

    def select(self, columns: str, joins: str = "") -> str:
        """The rows sorted by unit."""
        # Who is not named has one row, whose salt decides nothing.
        of_unit = [f"coalesce(i.id, {self._own} - r.rowid) AS _unit", "coalesce(i.n, 1) AS _n"][: 1 + self.counted]
        return (
            f"SELECT {', '.join(of_unit)}, coalesce(i.salt, 1) AS _salt, {columns} "
            f"FROM stage.rows r LEFT JOIN stage.ids i ON r.{self._column} = i.value{joins} ORDER BY _unit"
        )

    def prepare(self, build: Build, until: float) -> None:
        """Find the different keys, as values and as text, and how many rows have each."""
        build.run("CREATE TABLE IF NOT EXISTS units._domains (domain VARCHAR, own BIGINT)")
        for (own,) in build.run("SELECT own FROM units._domains WHERE domain = ?", [self._folded]):
            self._own = own
        build.run(
            f"CREATE TABLE stage.keys AS SELECT {self._column} AS value, CAST(value AS VARCHAR) AS key, count(*) AS n "
            f"FROM stage.rows WHERE value IS NOT NULL GROUP BY value",
            until=until,
        )

    def identify(self, build: Build, ids: str) -> None:
        """Write down the id, the number of rows and the salt for every value, from the ids of keys."""
        build.run(
            f"CREATE TABLE stage.ids AS SELECT value, id, {_ROWS_OF_UNIT}, {_SALT} AS salt FROM stage.keys "
            f"JOIN {ids} USING (key)",
            [self.secret],
        )

    def commit(self, build: Build) -> None:
        """Use up as many negative ids as there are rows, needed or not: there are enough of them."""
        build.run("BEGIN")
        self._keep(build)
        build.run("DELETE FROM units._domains WHERE domain = ?", [self._folded])
        build.run("INSERT INTO units._domains SELECT ?, ? - count(*) FROM stage.rows", [self._folded, self._own])
        build.run("COMMIT")

    def _keep(self, build: Build) -> None:
        """Keep new people, inside the transaction."""


class ByKey(UnitsOfColumn):
    """A column names the person."""

    @property
    def _map(self) -> str:
        return place_map(self.domain)

    def prepare(self, build: Build, until: float) -> None:
        """Look up the people who are known and number the new ones."""
        super().prepare(build, until)
        build.run(f"CREATE TABLE IF NOT EXISTS {self._map} (key VARCHAR, id BIGINT)")
        build.run(
            f"CREATE TABLE stage.people AS SELECT key, row_number() OVER (ORDER BY key) + "
            f"(SELECT greatest(coalesce(max(id), 0), {last_id(build, self.domain)}) FROM {self._map}) AS id "
            f"FROM stage.keys ANTI JOIN {self._map} USING (key)"
        )
        self.identify(build, f"(FROM {self._map} UNION ALL FROM stage.people)")

    def _keep(self, build: Build) -> None:
        build.run(f"INSERT INTO {self._map} FROM stage.people")
        [(last,)] = build.run("SELECT coalesce(max(id), 0) FROM stage.people")
        use_ids(build, self.domain, last)


class ByParent(UnitsOfColumn):
    """A foreign key leads to a row of another table, and that row's unit is ours."""

    def __init__(self, domain: str, place: int, secret: str, parent: Stored, column: str, file: Path) -> None:
        super().__init__(domain, place, secret)
        self.parent: Stored = parent
        self._parent_column = column
        self._file = file

    def prepare(self, build: Build, until: float) -> None:
        """Look the keys up in the parent; a key that leads to two people is refused."""
        super().prepare(build, until)
        build.run(f"ATTACH {quote_text(str(self._file))} AS parent (READ_ONLY)")
        key = quote(self._parent_column)
        # A parent whose rows are units, or that an earlier release took in, has no salts: then what leads to it has.
        salt = "min(_salt)" if self.parent.salted else _SALT
        build.run(
            f"CREATE TABLE stage.ids AS SELECT value, id, last, {_ROWS_OF_UNIT}, salt FROM stage.keys JOIN ("
            f"SELECT CAST({key} AS VARCHAR) AS key, min(_unit) AS id, max(_unit) AS last, {salt} AS salt "
            f"FROM parent.rows WHERE {key} IS NOT NULL GROUP BY 1) USING (key)",
            [] if self.parent.salted else [self.secret],
        )
        if build.run("SELECT 1 FROM stage.ids WHERE id <> last LIMIT 1"):
            rule = f"{self.parent.name}.{self._parent_column}: a foreign key must lead to one person"
            raise InvalidValue(rule, "<a value that rows of two people share>", "its values must differ between people")


def numbering(table: Table, catalog: Catalog, store: TableFiles) -> Numbering:
    """How the rows of ``table`` get their units, by its policy alone."""
    path, domain, secret = catalog.unit_path(table.name), catalog.unit_domain(table.name), store.secret()
    if path is None or domain is None:
        return Numbering(secret)
    if path.steps:
        step = path.steps[0]
        parent = lookup(store.manifest(), step.table)
        if parent.grows:
            rule = f"{table.name}: people are found through a table that is taken in whole"
            raise InvalidValue(rule, parent.name, "say unit: with the column of the person")
        named = catalog.table(step.table).column(step.other_column)
        column = step.other_column if named is None else named.name
        return ByParent(domain, place_column(table, step.column), secret, parent, column, store.root / parent.file)
    return RowByRow(domain, secret) if path.column is None else ByKey(domain, place_column(table, path.column), secret)


def place_column(table: Table, column: str) -> int:
    """Which of the columns has this name, from 0."""
    return next(place for place, one in enumerate(table.columns) if one.name.casefold() == column.casefold())
