"""Multiplicity: how many rows of a public relation can have the same values, and so meet one private row in a join.

Anybody may know it. For a table it is counted (`discreet.query.bind.public_tables`); for what is made of tables
it is bounded by what is known of these, so that no join of public tables is run to find it out. Values are those that
are compared in a join, which meets no missing ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from discreet.query.expressions.expression import Field
from discreet.query.parse.places import refuse

__all__ = ["Alike", "CountAlike", "count_of_nothing", "of_pairs", "of_renamed", "of_table"]


CountAlike = Callable[[str, tuple[str, ...]], int]
"""The most rows of a public table with the same values in these columns, none of them missing; all rows for none."""
Alike = Callable[[frozenset[str]], int]
"""The same for a public relation and fields of it, by name: at least one, and perhaps more than there are."""


def count_of_nothing(table: str, columns: tuple[str, ...]) -> int:
    """Refuses: what is not known must not be taken for small."""
    rule = f"how many rows of {table} one row can meet must be known before they are joined"
    raise refuse(None, rule, "plan where public tables can be read")


def of_table(table: str, columns: Mapping[str, str], count: CountAlike) -> Alike:
    """Of a table whose ``columns`` are known by the names of fields."""
    return lambda fields: max(1, count(table, tuple(column for name, column in columns.items() if name in fields)))


def of_renamed(alike: Alike, names: Mapping[str, str]) -> Alike:
    """Of the same rows with other fields: new names and old ones of those that are passed on.

    What was computed says nothing: rows that differ in it may be alike in the rest, and fewer fields count more rows.
    """
    return lambda fields: alike(frozenset(names[field] for field in fields if field in names))


def of_pairs(left: Alike, right: Alike, pairs: Iterable[tuple[Field, Field]], mine: frozenset[str], kind: str) -> Alike:
    """Of the pairs of a join by these equal fields; ``mine`` are the fields of the left side.

    A pair with given values has a left row with those of the left, and for each of them a right row with those of the
    right that also equals it in the join; or the other way round, where the left has none of them. A row that an outer
    join keeps alone has no values of the other side.
    """
    equal = [(a.name, b.name) for a, b in pairs]
    of_left, of_right = frozenset(a for a, _ in equal), frozenset(b for _, b in equal)

    def alike(fields: frozenset[str]) -> int:
        here, there = fields & mine, fields - mine
        if here and there:
            also = frozenset(a for a, b in equal if b in there)
            return left(here | also) * right(there | of_right)
        if there:
            return right(there) * left(of_left)
        alone = right(there) if not here and kind in ("RIGHT", "FULL") else 0
        return left(here) * right(of_right) + alone

    return alike
