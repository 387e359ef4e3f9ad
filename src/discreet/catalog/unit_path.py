"""The way from a row to the person it belongs to, along declared foreign keys.

A table that names its unit column is there at once. A table without one follows its foreign key to a protected table:
items → orders → customers. Where the key ends on the unit column itself, the key's own column holds the same value,
so that no join is needed: ``orders.customer_id`` is ``customers.id``.

A row must belong to one person. Two foreign keys that lead to people, or a circle, are refused, because bounding one
of the two would leave the other without protection.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.catalog.table import ForeignKey, Table
from discreet.errors import PolicyError, Problem

__all__ = ["UnitPath", "Units", "folded"]


def folded(name: str) -> str:
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

    def domain(self, table: Table, trail: tuple[str, ...] = ()) -> tuple[str, str | None]:
        """The table and the column that give the unit its name, in the spelling of their policies.

        The domain of a unit column that is a foreign key to another unit column is the domain of the other.
        """
        path = self.path(table)
        if path.column is None:
            return table.name, None
        named: tuple[str, str | None] = (path.holder.name, path.column)
        for count, (place, key) in enumerate(self._aliases(path.holder, path.column)):
            other = self.tables[folded(key.table)]
            _refuse_circle(path.holder, place, (*trail, path.holder.name), other)
            beyond = self.domain(other, (*trail, path.holder.name))
            if count and beyond != named:
                rule = f"{path.holder.name}: the unit must be of one kind"
                kinds = f"<{_kind(named)} and {_kind(beyond)}>"
                raise _refusal(path.holder, place, rule, kinds, "link the two by a foreign key, or keep one")
            named = beyond
        return named

    def _aliases(self, table: Table, column: str) -> list[tuple[int, ForeignKey]]:
        """The foreign keys by which a unit column names the unit of another table."""
        keys = [(place, key) for place, key in self._leads(table) if folded(key.column) == folded(column)]
        return [(place, key) for place, key in keys if self._is_unit(self.tables[folded(key.table)], key.other_column)]

    def _is_unit(self, table: Table, column: str) -> bool:
        path = self.path(table)
        return not path.steps and path.column is not None and folded(path.column) == folded(column)

    def _leads(self, table: Table) -> list[tuple[int, ForeignKey]]:
        """The foreign keys of a table that lead to protected tables, with their places."""
        keys = enumerate(table.foreign_keys)
        return [(place, key) for place, key in keys if not self.tables[folded(key.table)].public]

    def _along(self, table: Table, place: int, key: ForeignKey, trail: tuple[str, ...]) -> UnitPath:
        other = self.tables[folded(key.table)]
        _refuse_circle(table, place, trail, other)
        beyond = self.path(other, trail)
        if beyond.column is None:
            rule = f"{table.name}: a foreign key must lead to a table that names its unit"
            remedy = f"say unit: {key.other_column} in the policy of {other.name}"
            raise _refusal(table, place, rule, f"<{other.name}, where every row is a unit>", remedy)
        if not beyond.steps and folded(beyond.column) == folded(key.other_column):
            column = table.column(key.column)
            return UnitPath(table, (), table, key.column if column is None else column.name)
        return UnitPath(table, (key, *beyond.steps), beyond.holder, beyond.column)


def _kind(named: tuple[str, str | None]) -> str:
    return ".".join(part for part in named if part)


def _refuse_circle(table: Table, place: int, trail: tuple[str, ...], other: Table) -> None:
    if other.name in trail:
        circle = " → ".join([*trail[trail.index(other.name) :], other.name])
        rule = f"{table.name}: foreign keys must lead to a person, not in a circle"
        raise _refusal(table, place, rule, f"<{circle}>", "say unit: in one of these tables and drop its foreign key")


def _refusal(table: Table, place: int, rule: str, value: str, remedy: str) -> PolicyError:
    return PolicyError([Problem(rule, value, remedy, (table.name, "foreign_keys", place))])
