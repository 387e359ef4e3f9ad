"""Text, names and values of a statement: what is quoted into it, and what travels beside it. They never mix.

Values are bound in the few types that every engine knows. What cannot be bound is refused here, before any row is read,
so that no refusal can depend on the rows.

>>> print(quote('the "A" ward'), quote_text("it's"))
"the ""A"" ward" 'it''s'
>>> from fractions import Fraction
>>> [bind_parameter(value) for value in (7, True, Fraction(1, 3), "it's", None)]
[7, True, 0.3333333333333333, "it's", None]
>>> bind_parameter(2**127)
Traceback (most recent call last):
    ...
discreet.errors.InvalidValue: a bound integer must fit 128 bits, got 170141183460469231731687303715884105728
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from fractions import Fraction

from discreet.catalog.column import ColumnType, Value
from discreet.errors import InvalidType, InvalidValue

__all__ = ["DUCKDB_TYPES", "Bindings", "ParameterValue", "bind_parameter", "quote", "quote_text"]


DUCKDB_TYPES = {
    ColumnType.INTEGER: "BIGINT",
    ColumnType.REAL: "DOUBLE",
    ColumnType.TEXT: "VARCHAR",
    ColumnType.BOOLEAN: "BOOLEAN",
    ColumnType.DATE: "DATE",
    ColumnType.TIMESTAMP: "TIMESTAMP",
}


def quote(name: str) -> str:
    """``name`` as a quoted identifier."""
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """``text`` as a string; for paths of the owner where a statement takes no parameters, never for analysts' text."""
    return "'" + text.replace("'", "''") + "'"


class Bindings:
    """Values that travel beside a statement in the language of plans, in the order of their placeholders."""

    def __init__(self) -> None:
        self.parameters: list[object] = []

    def bind(self, value: Value | None, kind: ColumnType) -> str:
        """A placeholder for ``value``."""
        return self.bind_as(float(value) if isinstance(value, Fraction) else value, DUCKDB_TYPES[kind])

    def bind_as(self, value: object, name: str) -> str:
        """A placeholder for ``value``, which is of the type that the language of plans calls ``name``."""
        self.parameters.append(value)
        return f"CAST(${len(self.parameters)} AS {name})"


ParameterValue = bool | int | float | str | date | datetime | None
"""What an engine is handed: a timestamp has no time zone and is in UTC; a real number is a double."""

_WIDEST = 2**127


def bind_parameter(value: object) -> ParameterValue:
    """``value`` as one of the types that every engine knows, or a refusal."""
    match value:
        case None | bool():
            return value
        case int():
            return _integer(value)
        case float() | Fraction():
            return _real(value)
        case str():
            return _text(value)
        case datetime():
            return value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None, fold=0)
        case date():
            return value
    raise InvalidType("a bound value must be a number, text, truth value, date or timestamp", value)


def _integer(value: int) -> int:
    if not -_WIDEST <= value < _WIDEST:
        raise InvalidValue("a bound integer must fit 128 bits", value)
    return int(value)


def _real(value: float | Fraction) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InvalidValue("a bound real number must be finite as a double", value)
    return number


def _text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidValue("bound text must be valid Unicode", value, "it holds a lone surrogate") from None
    return str(value)
