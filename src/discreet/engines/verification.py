"""Checks of a new table against what its policy promises; plans rely on them, so a table that fails is not taken in.

What is told names the column and no value. It depends on the rows, so it is for the owner.
"""

from __future__ import annotations

from discreet.catalog.table import Table
from discreet.catalog.unread_values import UnreadColumn
from discreet.engines.build import Build
from discreet.engines.identifier import quoted
from discreet.errors import InvalidValue

__all__ = ["unread_values", "verify"]


def verify(build: Build, table: Table) -> None:
    """Refuse a table that breaks a promise about missing or constant values."""
    _refuse_missing(build, table)
    _refuse_changing(build, table)


def unread_values(build: Build, table: Table) -> dict[str, UnreadColumn]:
    """Per column, what could not be read as its type, or may mean something else; others are not listed."""
    looks = ", ".join(f"histogram(unread{place})" for place in range(len(table.columns)))
    [found] = build.run(f"SELECT {looks} FROM stage.rows")
    told = {column.name: UnreadColumn.of(one or {}) for column, one in zip(table.columns, found, strict=True)}
    return {name: one for name, one in told.items() if one.count or one.doubtful}


def _refuse_missing(build: Build, table: Table) -> None:
    names = [column.name for column in table.columns if not column.may_be_missing]
    for name in _broken(build, names, "bool_or({0} IS NULL)", "fresh.rows"):
        rule = f"{table.name}.{name}: values must not be missing, as the policy says"
        raise InvalidValue(rule, "<a row without one of its type>", "say nullable: true or a default")


def _refuse_changing(build: Build, table: Table) -> None:
    names = [column.name for column in table.columns if column.constant_per_unit and not table.public]
    changes = ", ".join(
        f"min({name}) IS DISTINCT FROM max({name}) OR count({name}) NOT IN (0, count(*)) AS {name}"
        for name in map(quoted, names)
    )
    rows = f"(SELECT {changes} FROM fresh.rows GROUP BY _unit)"
    for name in _broken(build, names, "bool_or({0})", rows):
        rule = f"{table.name}.{name}: all rows of a unit must hold one value, as the policy says"
        raise InvalidValue(rule, "<a unit with two>", "drop constant_per_unit, or mend the rows")


def _broken(build: Build, names: list[str], test: str, rows: str) -> list[str]:
    """The columns for which the test holds."""
    if not names:
        return []
    [found] = build.run(f"SELECT {', '.join(test.format(quoted(name)) for name in names)} FROM {rows}")
    return [name for name, is_broken in zip(names, found, strict=True) if is_broken]
