"""Truncation: before a join, rows beyond a number are left out, so that what one unit becomes has a bound.

Which rows of a unit are kept depends on the unit alone: the first in its own order of their values
(`discreet.engines.bounded_keys`). Rows of equal values stand for each other, so they are kept in the one spelling of
these values: which of them comes first can depend on who else is there, and so can numbers of units and the places of
rows in a table.

Public rows are limited where they can change between planning and running: the number that was counted then is the
number that is kept, whatever is there by now.
"""

from __future__ import annotations

from dataclasses import replace

from discreet.engines.bounded_keys import spell_value, turn_order, write_number
from discreet.query.bind.contribution import Truncation
from discreet.query.bind.relation import Names, Privacy, Relation, RowCounts, list_unit_columns
from discreet.query.expressions.expression import Field, Statement, canonical

__all__ = ["limit_rows_per_key", "one_per_key", "truncate_rows"]


def truncate_rows(rows: Relation, names: Names) -> Relation:
    """At most the usual number of rows of each unit; the rows of all who have no more are as they were."""
    if rows.privacy is None:
        raise AssertionError("public rows belong to nobody")
    most = rows.privacy.contribution.usual
    kept = _first(rows, [], most, names)
    left_out = Truncation(rows.privacy.tables, most)
    contribution = rows.privacy.contribution.truncated
    return replace(kept, privacy=replace(_noted(rows.privacy, left_out), contribution=contribution))


def one_per_key(rows: Relation, key: Field, names: Names) -> Relation:
    """One row of each unit for every value of a key: all rows, where the key is one."""
    if rows.privacy is None or key.column is None:
        raise AssertionError("the key is a column of a protected table")
    left_out = Truncation(rows.privacy.tables, 1, key.column[1])
    return replace(_first(rows, [key], 1, names), privacy=_noted(rows.privacy, left_out))


def _noted(privacy: Privacy, left_out: Truncation) -> Privacy:
    return replace(privacy, truncated=tuple(dict.fromkeys((*privacy.truncated, left_out))))


def _first(rows: Relation, keys: list[Field], most: int, names: Names) -> Relation:
    """The first rows of each unit and values of the keys, so many at most, in an order of their own."""
    inner, outer, place = names.new("r"), names.new("r"), names.new("n")
    fields = [field.name for _, field in rows.columns]

    def first_of(source: str, statement: Statement) -> str:
        above = list_unit_columns(statement)
        with statement.salting():
            below = rows.write(statement)
        apart = ", ".join(["_unit", *(canonical(key).write(statement) for key in keys)])
        nth = f"row_number() OVER (PARTITION BY {apart} ORDER BY {_own_order(rows, statement)}) AS {place}"
        ranked = f"SELECT {', '.join([*above, *fields])}, {nth} FROM ({below}) {inner}{source}"
        kept = ", ".join([*above, *(_as_spelled(field, statement) for _, field in rows.columns)])
        return f"SELECT {kept} FROM ({ranked}) {outer} WHERE {place} <= {most}"

    def write(statement: Statement) -> str:
        if not statement.counted or rows.tallied is RowCounts.NOTHING:
            return first_of("", statement)
        # Who has no more rows in the whole table has no more here, and is not looked at further.
        listed = ", ".join([*list_unit_columns(statement), *fields])
        others = f"SELECT {listed} FROM ({rows.write(statement)}) {inner} WHERE _n <= {most}"
        return f"{others} UNION ALL {first_of(f' WHERE _n > {most}', statement)}"

    return replace(rows, write=write, tallied=RowCounts.NOTHING, stepped=frozenset())


def _as_spelled(field: Field, statement: Statement) -> str:
    """A column in the one spelling of its values: 0.0 and -0.0 are equal, and their reciprocals are not."""
    spelled = canonical(field)
    return field.name if spelled is field else f"{spelled.write(statement)} AS {field.name}"


def _own_order(rows: Relation, statement: Statement) -> str:
    """The unit's own order of rows by all their values; those that are equal in it are equal."""
    values = [(canonical(field).write(statement), field.type) for _, field in rows.columns]
    number = write_number([spell_value(value, kind) for value, kind in values], statement.bind_secret())
    return ", ".join([turn_order("_salt", number), *(value for value, _ in values)])


def limit_rows_per_key(rows: Relation, keys: list[Field], most: int, names: Names) -> Relation:
    """Of public rows with the same keys, so many at most."""
    inner, outer, place = names.new("r"), names.new("r"), names.new("n")
    listed = ", ".join(field.name for _, field in rows.columns)

    def write(statement: Statement) -> str:
        by = ", ".join(dict.fromkeys(canonical(key).write(statement) for key in keys))
        nth = f"row_number() OVER (PARTITION BY {by} ORDER BY {listed}) AS {place}"
        ranked = f"SELECT {listed}, {nth} FROM ({rows.write(statement)}) {inner}"
        return f"SELECT {listed} FROM ({ranked}) {outer} WHERE {place} <= {most}"

    return replace(rows, write=write)
