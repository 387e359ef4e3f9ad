"""Spark's words for the types of expressions, and constants as it reads them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sqlglot import exp

from discreet.engines.parameters import ParameterValue
from discreet.engines.translate.expression import Ends, ValueKind, WriterScope, Written
from discreet.engines.translate.writer import StatementWriter, Untranslatable

__all__ = [
    "NAMES",
    "SHORT",
    "WORD",
    "constant",
    "find_known_ends",
    "literal",
    "negative_literal",
    "placeholder",
    "whole",
    "wide_placeholder",
]


NAMES: Mapping[ValueKind, str] = {
    ValueKind.INTEGER: "BIGINT",
    ValueKind.WIDE: "DECIMAL(38,0)",
    ValueKind.REAL: "DOUBLE",
    ValueKind.TEXT: "STRING",
    ValueKind.BOOLEAN: "BOOLEAN",
    ValueKind.DATE: "DATE",
    ValueKind.TIMESTAMP: "TIMESTAMP",
}
"""A timestamp is Spark's with a time zone, and the zone of the session is UTC: every function takes it."""

WORD = 2**63
SHORT = 2**31
_LARGEST = Fraction(2) ** 1000


def find_known_ends(ends: Ends) -> Ends:
    """Bounds of a real expression, unless it could have become infinite on the way."""
    low, high = ends
    return (None, None) if low is None or high is None or max(-low, high) > _LARGEST else ends


def whole(text: str, low: int | None = None, high: int | None = None) -> Written:
    """One of Spark's functions that return 32-bit integers, as an integer of 64 bits."""
    ends = (None if low is None else Fraction(low)), (None if high is None else Fraction(high))
    return Written(f"CAST({text} AS BIGINT)", ValueKind.INTEGER, *ends)


def literal(writer: StatementWriter, node: exp.Literal, scope: WriterScope) -> Written:
    """A constant of the plan. Spark's own reading of 1 has 32 bits, and of 0.5 is a decimal."""
    if node.is_string:
        return Written("'" + node.this.replace("\\", "\\\\").replace("'", "\\'") + "'", ValueKind.TEXT)
    return _number(node.this, node.is_int, 1)


def negative_literal(node: exp.Literal) -> Written:
    """The same below zero."""
    return _number(node.this, node.is_int, -1)


def _number(digits: str, is_whole: bool, sign: int) -> Written:
    mark = "-" if sign < 0 else ""
    if not is_whole:
        real = sign * Fraction(float(digits))
        return Written(f"({mark}{digits}D)", ValueKind.REAL, real, real)
    value = sign * Fraction(digits)
    if -WORD < value < WORD:
        return Written(f"({mark}{digits}L)", ValueKind.INTEGER, value, value)
    return Written(f"CAST({mark}{digits}BD AS DECIMAL(38,0))", ValueKind.WIDE, value, value)


_KINDS: tuple[tuple[type, ValueKind], ...] = (  # in this order: True is a number to Python, and a timestamp a date
    (bool, ValueKind.BOOLEAN),
    (int, ValueKind.INTEGER),
    (float, ValueKind.REAL),
    (str, ValueKind.TEXT),
)


def placeholder(writer: StatementWriter, node: exp.Placeholder, scope: WriterScope) -> Written:
    """A value that travels beside the statement; dates do so as text, which no time zone of Python's can move."""
    value = _value(writer, node)
    text = writer.parameter(int(node.name))
    if value is None:
        return Written(text, ValueKind.NOTHING)
    for type_, kind in _KINDS:
        if isinstance(value, type_):
            return Written(f"CAST({text} AS {NAMES[kind]})", kind, *_point(value))
    kind = ValueKind.TIMESTAMP if hasattr(value, "hour") else ValueKind.DATE
    return Written(f"CAST({text} AS {NAMES[kind]})", kind)


def wide_placeholder(writer: StatementWriter, node: exp.Placeholder, scope: WriterScope) -> Written:
    """A decimal in its steps that travels beside the statement; one of more than 64 bits does so as its digits."""
    value = _value(writer, node)
    ends: Ends = (None, None) if value is None else (Fraction(str(value)), Fraction(str(value)))
    return Written(f"CAST({writer.parameter(int(node.name))} AS {NAMES[ValueKind.WIDE]})", ValueKind.WIDE, *ends)


def _point(value: ParameterValue) -> Ends:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None, None
    if isinstance(value, int) and not -WORD <= value < WORD:
        raise Untranslatable("a number of more than 64 bits")
    return Fraction(value), Fraction(value)


def _value(writer: StatementWriter, node: exp.Placeholder) -> ParameterValue:
    number = int(node.name)
    if number > len(writer.values):
        raise Untranslatable("a parameter without a value")
    return writer.values[number - 1]


def constant(writer: StatementWriter, node: Any) -> ParameterValue:
    """The value of a part that has one, whatever the rows are."""
    while isinstance(node, (exp.Paren, exp.Cast)):
        node = node.this
    if not isinstance(node, exp.Placeholder):
        raise Untranslatable("something else in the place of a constant")
    return _value(writer, node)
