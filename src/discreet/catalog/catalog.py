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

The way from a row to the person it belongs to, along declared foreign keys.

A table that names its unit column is there at once. A table without one follows its foreign key to a protected table:
items → orders → customers. Where the key ends on the unit column itself, the key's own column holds the same value,
so that no join is needed: ``orders.customer_id`` is ``customers.id``.

A row must belong to one person. Two foreign keys that lead to people, or a circle, are refused, because bounding one
of the two would leave the other without protection.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass

from discreet.catalog.budget import Budget
from discreet.catalog.column import Column
from discreet.catalog.names import suggestion
from discreet.catalog.problems import Complaints
from discreet.catalog.table import ForeignKey, Table
from discreet.errors import InvalidValue, PolicyError, Problem

__all__ = ["Catalog", "UnitPath", "Units", "are_one_name", "fold_name"]


def fold_name(name: str) -> str:
    """The name as it is compared: SQL does not regard case."""
    return name.casefold()


@dataclass(frozen=True)
class UnitPath:
    """How to find the unit of a row."""

    table: Table
    """Where the row is."""
    steps: tuple[ForeignKey, ...]
    """The joins to make, in order; none when the row itself names its unit or is its own."""
    holder: Table
    """The table at the end of the steps, which has the unit column."""
    column: str | None
    """The unit column of the holder; None when every row of the table is a unit of its own."""


class Units:
    """The paths and the unit domains of a set of tables, by folded name."""

    def __init__(self, tables: Mapping[str, Table]) -> None:
        self.tables = tables

    def path(self, table: Table, trail: tuple[str, ...] = ()) -> UnitPath:
        """How to find the unit of a row of a protected ``table``."""
        if table.unit is not None:
            return UnitPath(table, (), table, table.unit)
        leads = self._leads(table)
        if not leads:
            return UnitPath(table, (), table, None)
        if len(leads) > 1:
            rule = f"{table.name}: a row must belong to one person, so one foreign key may lead to a protected table"
            names = ", ".join(key.column for _, key in leads)
            raise _refusal(table, leads[1][0], rule, names, "say unit: with the column of the person, or keep one key")
        return self._along(table, *leads[0], (*trail, table.name))

    def domain(self, table: Table, trail: tuple[str, ...] = ()) -> str:
        """What the people of a table are called: by a name of their own, or by the column that names them.

        The domain of a unit column that is a foreign key to another unit column is the domain of the other.
        """
        path = self.path(table)
        if path.column is None:
            return f"rows of {table.name}"
        known = None if path.holder.unit_name is None else path.holder.unit_name.casefold()
        for place, key in self._aliases(path.holder, path.column):
            other = self.tables[fold_name(key.table)]
            _refuse_circle(path.holder, place, (*trail, path.holder.name), other)
            beyond = self.domain(other, (*trail, path.holder.name))
            if known is not None and beyond != known:
                rule = f"{path.holder.name}: the unit must be of one kind"
                remedy = "link the two by a foreign key, give both the same unit name, or keep one"
                raise _refusal(path.holder, place, rule, f"<{known} and {beyond}>", remedy)
            known = beyond
        return f"{path.holder.name}.{path.column}" if known is None else known

    def _aliases(self, table: Table, column: str) -> list[tuple[int, ForeignKey]]:
        """The foreign keys by which a unit column names the unit of another table."""
        keys = [(place, key) for place, key in self._leads(table) if fold_name(key.column) == fold_name(column)]
        return [
            (place, key) for place, key in keys if self._is_unit(self.tables[fold_name(key.table)], key.other_column)
        ]

    def _is_unit(self, table: Table, column: str) -> bool:
        path = self.path(table)
        return not path.steps and path.column is not None and fold_name(path.column) == fold_name(column)

    def _leads(self, table: Table) -> list[tuple[int, ForeignKey]]:
        """The foreign keys of a table that lead to protected tables, with their places."""
        keys = enumerate(table.foreign_keys)
        return [(place, key) for place, key in keys if not self.tables[fold_name(key.table)].public]

    def _along(self, table: Table, place: int, key: ForeignKey, trail: tuple[str, ...]) -> UnitPath:
        other = self.tables[fold_name(key.table)]
        _refuse_circle(table, place, trail, other)
        beyond = self.path(other, trail)
        if beyond.column is None:
            rule = f"{table.name}: a foreign key must lead to a table that names its unit"
            remedy = f"say unit: {key.other_column} in the policy of {other.name}"
            raise _refusal(table, place, rule, f"<{other.name}, where every row is a unit>", remedy)
        if not beyond.steps and fold_name(beyond.column) == fold_name(key.other_column):
            column = table.column(key.column)
            return UnitPath(table, (), table, key.column if column is None else column.name)
        return UnitPath(table, (key, *beyond.steps), beyond.holder, beyond.column)


def _refuse_circle(table: Table, place: int, trail: tuple[str, ...], other: Table) -> None:
    if other.name in trail:
        circle = " → ".join([*trail[trail.index(other.name) :], other.name])
        rule = f"{table.name}: foreign keys must lead to a person, not in a circle"
        raise _refusal(table, place, rule, f"<{circle}>", "say unit: in one of these tables and drop its foreign key")


def _refusal(table: Table, place: int, rule: str, value: str, remedy: str) -> PolicyError:
    return PolicyError([Problem(rule, value, remedy, (table.name, "foreign_keys", place))])


_DEFAULT_SCHEMAS = ("main", "public")
"""What DuckDB and PostgreSQL call the schema of a table that names none."""


class Catalog:
    """The tables of a curator, each with its policy. A catalog does not change; adding a table makes another one."""

    def __init__(self, tables: Iterable[Table] = ()) -> None:
        self._tables: dict[str, Table] = {}
        found = Complaints()
        for table in tables:
            first = self._tables.setdefault(fold_name(table.name), table)
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
        return Catalog((self._tables | {fold_name(table.name): table}).values())

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
        """The name of the kind of unit, such as ``customers.id`` or ``rows of visits``; None for a public table.

        A person in one period is a unit of another kind than the person: ``customers.id per month``.
        """
        return self._domains.get(fold_name(self.table(name).name))

    def person_domain(self, name: str) -> str | None:
        """The name of the kind of people, over all periods; None for a public table."""
        table = self.table(name)
        domain = self.unit_domain(name)
        return domain if domain is None or table.unit_per is None else domain.removesuffix(_per(table))

    def same_unit(self, first: str, second: str) -> bool:
        """Whether one person's rows are found by one value in both tables.

        Foreign keys say so. Equal names of unit columns do not: ``id`` may number patients here and nurses there.
        """
        domain = self.unit_domain(first)
        return domain is not None and domain == self.unit_domain(second)

    def unit_budget(self, domain: str) -> Budget | None:
        """What the people of a domain may lose in all, where a policy says it."""
        return self._unit_budgets.get(domain)

    def tables_by_unit(self) -> dict[str, list[Table]]:
        """The protected tables of every kind of unit: those that foreign keys join are about the same people."""
        found: dict[str, list[Table]] = {}
        for table in self:
            domain = self.unit_domain(table.name)
            if domain is not None:
                found.setdefault(domain, []).append(table)
        return found

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
        other = self._tables.get(fold_name(key.table))
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
        granted: dict[str, Table] = {}
        limited: dict[str, Table] = {}
        for table in self:
            domain = None if table.public else found.checked((), self._units.domain, table)
            if domain is None:
                continue
            domain += _per(table)
            domains[fold_name(table.name)] = domain
            if table.lifetime is not None:
                self._check_lifetime(table, limited.setdefault(domain.removesuffix(_per(table)), table), found)
            self._check_neighbours(table, first_of.setdefault(domain, table), domain, found)
            self._check_time(table, first_of[domain], found)
            if table.unit_budget is not None:
                self._check_unit_budget(table, granted.setdefault(domain, table), domain, found)
        self._unit_budgets = {domain: table.unit_budget for domain, table in granted.items()}
        return domains

    @staticmethod
    def _check_unit_budget(table: Table, first: Table, domain: str, found: Complaints) -> None:
        if table.unit_budget != first.unit_budget and table.unit_budget and first.unit_budget:
            rule = f"{table.name}: what the people of {domain} may lose in all must be said once"
            remedy = f"{first.name} says {first.unit_budget.loss!r}"
            found.say((table.name, "unit", "budget"), rule, f"<{table.unit_budget.loss!r}>", remedy)

    def _check_time(self, table: Table, first: Table, found: Complaints) -> None:
        """A table that grows names its people itself, and tables of one person and period grant the same."""
        if table.time is not None and table.unit is None and self._units.path(table).column is not None:
            rule = f"{table.name}: a table that grows by periods names the person of a row itself"
            remedy = "say unit: with the column of the person, or drop time"
            found.say((table.name, "time"), rule, "<a foreign key>", remedy)
        through = [one for one in self._steps(table) if one.time is not None]
        if through:
            rule = f"{table.name}: a foreign key must not lead to the person through a table that grows"
            remedy = "say unit: with the column of the person"
            found.say((table.name, "foreign_keys", 0), rule, through[0].name, remedy)
        if table.unit_per is not None and table.budget != first.budget:
            rule = f"{table.name}: tables about the same people and periods must state one budget"
            found.say((table.name, "budget"), rule, "<another one>", f"state that of {first.name}")

    def _steps(self, table: Table) -> list[Table]:
        """The tables that are joined to find the person of a row."""
        return [self._tables[fold_name(step.table)] for step in self._units.path(table).steps]

    @staticmethod
    def _check_lifetime(table: Table, first: Table, found: Complaints) -> None:
        if table.lifetime and first.lifetime and table.lifetime != first.lifetime:
            rule = f"{table.name}: what a person may lose over all periods must be the same in every table"
            remedy = f"{first.name} says {first.lifetime.loss!r}"
            found.say((table.name, "budget", "lifetime"), rule, f"<{table.lifetime.loss!r}>", remedy)

    @staticmethod
    def _check_neighbours(table: Table, first: Table, domain: str, found: Complaints) -> None:
        if table.neighbours is not first.neighbours:
            rule = f"{table.name}: tables of one unit must agree on neighbours"
            remedy = f"{first.name} says {first.neighbours} for {domain}"
            found.say((table.name, "neighbours"), rule, str(table.neighbours), remedy)


def _per(table: Table) -> str:
    """What a kind of unit is called beside its people, where it is one of them in one period."""
    return "" if table.unit_per is None else f" per {table.unit_per.value}"


def are_one_name(first: str, second: str) -> bool:
    """Whether two names can mean one table: without regard to case, and with or without the default schema.

    >>> are_one_name("Visits", "visits"), are_one_name("main.visits", "VISITS"), are_one_name("a.visits", "visits")
    (True, True, False)
    """
    one, other = fold_name(first), fold_name(second)
    return one == other or any(one == f"{schema}.{other}" or other == f"{schema}.{one}" for schema in _DEFAULT_SCHEMAS)


def _found(name: str, tables: dict[str, Table]) -> Table | None:
    wanted = fold_name(name)
    if wanted in tables:
        return tables[wanted]
    schema, dot, bare = wanted.rpartition(".")
    if dot:
        return tables.get(bare) if schema in _DEFAULT_SCHEMAS else None
    within = [table for key, table in tables.items() if key.rpartition(".")[2] == wanted]
    return within[0] if len(within) == 1 else None
