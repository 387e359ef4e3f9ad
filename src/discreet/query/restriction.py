"""Restrictions: rows of people with certain keys alone, so that questions about others do not concern them.

A column with one value per person divides people into parts that cannot meet. Where a condition of WHERE demands that
such a column equals listed constants, a person with another value, or with none, has no row that remains.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from discreet.catalog.column import ColumnType, Value
from discreet.query.expression import Call, Constant, Expression, Field

__all__ = ["Part", "Restriction", "restrictions_of"]

_KINDS = (ColumnType.TEXT, ColumnType.INTEGER, ColumnType.BOOLEAN, ColumnType.DATE)
"""Types whose equality is that of their spelling; 0.0 and -0.0 are equal and spelled differently."""

Part = tuple[str, str, str]
"""A protected table, its column, and the bounds and default that its values are moved to.

With other bounds a person can have another key, so what was asked under both is about everybody.
"""


@dataclass(frozen=True)
class Restriction:
    """Only people whose column has one of these keys."""

    part: Part
    keys: frozenset[str]
    """The keys as they are spelled."""

    def is_apart_from(self, other: Restriction) -> bool:
        """Whether nobody can be in both."""
        return self.part == other.part and not self.keys & other.keys


def restrictions_of(condition: Expression) -> tuple[Restriction, ...]:
    """What a condition demands of columns that divide people."""
    if isinstance(condition, Field):
        return _demanded(condition, [Constant.of(True)])
    if not isinstance(condition, Call):
        return ()
    if condition.template == "{0} AND {1}":
        return tuple(found for part in condition.arguments for found in restrictions_of(part))
    first, *others = condition.arguments
    if condition.template.startswith("{0} IN (") or condition.template == "{0} = {1}":
        return _demanded(first, others) or (_demanded(others[0], [first]) if len(others) == 1 else ())
    if condition.template == "{0} IS TRUE":
        return _demanded(first, [Constant.of(True)])
    if condition.template in ("NOT {0}", "{0} IS FALSE"):
        return _demanded(first, [Constant.of(False)])
    return ()


def _demanded(field: Expression, values: list[Expression]) -> tuple[Restriction, ...]:
    if not isinstance(field, Field) or field.divides is None or field.type not in _KINDS:
        return ()
    if not all(isinstance(value, Constant) and value.type is field.type for value in values):
        return ()
    constants = [value.value for value in values if isinstance(value, Constant)]
    return (Restriction(field.divides, frozenset(_spelled(value) for value in constants if value is not None)),)


def _spelled(value: Value) -> str:
    return value.isoformat() if isinstance(value, (date, datetime)) else str(value)
