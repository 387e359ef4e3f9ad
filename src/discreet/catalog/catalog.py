"""The catalog: all tables of a curator, checked against each other.

>>> from discreet.catalog.column import Column, ColumnType
>>> from discreet.catalog.table import Budget, Table
>>> visits = Table("visits", (Column("patient_id", ColumnType.INTEGER),), unit="patient_id", budget=Budget(1))
>>> catalog = Catalog([visits])
>>> catalog.table("VISITS") is visits, catalog.unit_domain("main.visits")
(True, 'visits.patient_id')
>>> catalog.table("visit")
Traceback (most recent call last):
    ...
discreet.errors.InvalidValue: a table must have a policy, got 'visit'; did you mean 'visits'?
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy

from discreet.catalog.column import Column
from discreet.catalog.complaints import Complaints
from discreet.catalog.suggestion import suggestion
from discreet.catalog.table import ForeignKey, Table
from discreet.catalog.unit_path import UnitPath, Units, folded
from discreet.errors import InvalidValue

__all__ = ["Catalog", "are_one_name"]

_DEFAULT_SCHEMAS = ("main", "public")
"""What DuckDB and PostgreSQL call the schema of a table that names none."""


class Catalog:
    """The tables of a curator, each with its policy. A catalog does not change; adding a table makes another one."""

    def __init__(self, tables: Iterable[Table] = ()) -> None:
        self._tables: dict[str, Table] = {}
        found = Complaints()
        for table in tables:
            first = self._tables.setdefault(folded(table.name), table)
            if first is not table:
                found.say(
                    (table.name, "table"), "tables must have different names, also without regard to case", table.name
                )
        self._units = Units(self._tables)
        self._check_keys(found)
        found.refuse_any()  # paths are followed only where every key leads somewhere
        self._domains = self._checked_domains(found)
        found.refuse_any()
        self.nameable: dict[str, Table] = self._tables
        """The tables that questions may name, by their folded names."""

    def __iter__(self) -> Iterator[Table]:
        return iter(self._tables.values())

    def __len__(self) -> int:
        return len(self._tables)

    def __contains__(self, name: str) -> bool:
        return self.find(name) is not None

    # Looking up ---------------------------------------------------------------------------------------------------

    def find(self, name: str) -> Table | None:
        """The one table that ``name`` can mean, without regard to case; None where there is none, or more than one.

        ``main.visits`` finds a table registered as ``visits``, because main is where a table without a schema lives;
        ``visits`` finds one registered as ``sales.visits`` when no other schema has one.
        """
        return _found(name, self._tables)

    def named(self, name: str) -> Table | None:
        """The one table that ``name`` can mean in a question."""
        return _found(name, self.nameable)

    def seen_by(self, analyst: str) -> Catalog:
        """The same catalog, in which questions find tables whose policies name an analyst, and public ones, alone."""
        seen = copy(self)
        seen.nameable = {key: table for key, table in self._tables.items() if table.public or analyst in table.analysts}
        return seen

    def table(self, name: str) -> Table:
        """The table that ``name`` means; tables without a policy are refused, never taken for public."""
        table = self.find(name)
        if table is None:
            raise InvalidValue("a table must have a policy", name, suggestion(name, (t.name for t in self)))
        return table

    def with_table(self, table: Table) -> Catalog:
        """The catalog with one table more, or with a new policy for a table of the same name."""
        return Catalog((self._tables | {folded(table.name): table}).values())

    def without(self, name: str) -> Catalog:
        """The catalog with one table less."""
        gone = self.table(name)
        return Catalog(table for table in self if table is not gone)

    # Whose rows they are ------------------------------------------------------------------------------------------

    def unit_path(self, name: str) -> UnitPath | None:
        """How to find the person a row belongs to; None for a public table."""
        table = self.table(name)
        return None if table.public else self._units.path(table)

    def unit_domain(self, name: str) -> str | None:
        """The name of the kind of unit, such as ``customers.id`` or ``rows of visits``; None for a public table."""
        return self._domains.get(folded(self.table(name).name))

    def same_unit(self, first: str, second: str) -> bool:
        """Whether one person's rows are found by one value in both tables.

        Foreign keys say so. Equal names of unit columns do not: ``id`` may number patients here and nurses there.
        """
        domain = self.unit_domain(first)
        return domain is not None and domain == self.unit_domain(second)

    # Checks across tables -----------------------------------------------------------------------------------------

    def _check_keys(self, found: Complaints) -> None:
        for table in self:
            for place, key in enumerate(table.foreign_keys):
                self._check_key(table, key, (table.name, "foreign_keys", place), found)
            for column in table.columns:
                self._check_keys_from(table, column, found)

    def _check_keys_from(self, table: Table, column: Column, found: Complaints) -> None:
        """Keys are listed by a column of a public table, of the same type."""
        if column.key_table is None:
            return
        path, (name, listed) = (table.name, "columns", column.name, "keys_from"), column.key_table
        other = self.find(name)
        if other is None or not other.public:
            remedy = "protect the list of keys as a public table first"
            found.say(path, f"{table.name}.{column.name}: keys_from must name a public table", name, remedy)
            return
        target = other.column(listed)
        if target is None:
            remedy = suggestion(listed, (one.name for one in other.columns))
            found.say(path, f"{table.name}.{column.name}: keys_from must name a column of {other.name}", listed, remedy)
        elif target.type is not column.type:
            rule = f"{table.name}.{column.name}: keys_from must name a column of the same type"
            found.say(
                path, rule, f"<{column.type.value} and {target.type.value}>", "state the same type in both policies"
            )

    def _check_key(self, table: Table, key: ForeignKey, path: tuple[str | int, ...], found: Complaints) -> None:
        other = self._tables.get(folded(key.table))
        if other is None:
            remedy = suggestion(key.table, (t.name for t in self))
            rule = f"{table.name}: a foreign key must lead to a table with a policy"
            return found.say((*path, "table"), rule, key.table, remedy)
        column, target = table.column(key.column), other.column(key.other_column)
        if target is None:
            remedy = suggestion(key.other_column, (c.name for c in other.columns))
            rule = f"{table.name}: a foreign key must lead to a column of {other.name}"
            found.say((*path, "other_column"), rule, key.other_column, remedy)
        elif column is not None and column.type is not target.type:
            rule = f"{table.name}: a foreign key must join columns of one type"
            found.say(
                path, rule, f"<{column.type.value} and {target.type.value}>", "state the same type in both policies"
            )
        if table.public and not other.public:
            rule = f"{table.name}: a public table must not lead to a protected one"
            found.say(path, rule, other.name, "protect it, or drop the foreign key")
        return None

    def _checked_domains(self, found: Complaints) -> dict[str, str]:
        domains: dict[str, str] = {}
        first_of: dict[str, Table] = {}
        for table in self:
            named = None if table.public else found.checked((), self._units.domain, table)
            if named is None:
                continue
            domain = f"rows of {named[0]}" if named[1] is None else f"{named[0]}.{named[1]}"
            domains[folded(table.name)] = domain
            self._check_neighbours(table, first_of.setdefault(domain, table), domain, found)
        return domains

    @staticmethod
    def _check_neighbours(table: Table, first: Table, domain: str, found: Complaints) -> None:
        if table.neighbours is not first.neighbours:
            rule = f"{table.name}: tables of one unit must agree on neighbours"
            remedy = f"{first.name} says {first.neighbours} for {domain}"
            found.say((table.name, "neighbours"), rule, str(table.neighbours), remedy)


def are_one_name(first: str, second: str) -> bool:
    """Whether two names can mean one table: without regard to case, and with or without the default schema.

    >>> are_one_name("Visits", "visits"), are_one_name("main.visits", "VISITS"), are_one_name("a.visits", "visits")
    (True, True, False)
    """
    one, other = folded(first), folded(second)
    return one == other or any(one == f"{schema}.{other}" or other == f"{schema}.{one}" for schema in _DEFAULT_SCHEMAS)


def _found(name: str, tables: dict[str, Table]) -> Table | None:
    wanted = folded(name)
    if wanted in tables:
        return tables[wanted]
    schema, dot, bare = wanted.rpartition(".")
    if dot:
        return tables.get(bare) if schema in _DEFAULT_SCHEMAS else None
    within = [table for key, table in tables.items() if key.rpartition(".")[2] == wanted]
    return within[0] if len(within) == 1 else None
