"""Conversions in statements: values that are bound, and casts that give NULL where PostgreSQL would raise."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sqlglot import exp

from discreet.engines.parameters import ParameterValue
from discreet.engines.postgres.dates import in_seconds, within_years, write_days, write_seconds
from discreet.engines.postgres.numbers import clamp_between, double, within_64_bits
from discreet.engines.postgres.texts import AS_CODE_POINTS, literal_text
from discreet.engines.translate.expression import Ends, ValueKind, WriterScope, Written
from discreet.engines.translate.rules import hash_as_number
from discreet.engines.translate.writer import Rule, StatementWriter, Untranslatable, digits_and_exponent, in_units

__all__ = ["CAST_RULES", "TYPES"]


TYPES = {
    ValueKind.INTEGER: "int8",
    ValueKind.REAL: "float8",
    ValueKind.TEXT: "text",
    ValueKind.BOOLEAN: "bool",
    ValueKind.DATE: "date",
    ValueKind.TIMESTAMP: "timestamp",
    ValueKind.WIDE: "numeric",
}
_FIRST, _LAST = -(2**63), 2**63 - 1
_LAST_DOUBLE = 2**63 - 1024
"""The largest double that fits 64 bits."""
_DOUBLED = "::float8"
_32_BITS = Fraction(0), Fraction(2**32 - 1)
_FIRST_SHORT, _LAST_SHORT = -(2**31), 2**31 - 1


def _cast(writer: Any, node: Any, scope: WriterScope) -> Written:
    kind = writer.type_of(node.to)
    if isinstance(node.this, exp.Placeholder):
        return _bound(writer, int(node.this.name), kind)
    if isinstance(node.this, exp.Literal):
        return _constant(node.this, kind)
    if (hashed := hash_as_number(node)) is not None:
        return Written(f"(('x' || left({writer.write(hashed, scope).text}, 8))::bit(32)::int8)", kind, *_32_BITS)
    if (parts := digits_and_exponent(node)) is not None:
        return _nearest(writer.write(parts[0], scope), parts[1])
    value = writer.write(node.this, scope)
    if node.to.this == exp.DataType.Type.INT and value.kind in (ValueKind.INTEGER, ValueKind.REAL):
        return _short(value)
    if value.kind is ValueKind.WIDE and kind is ValueKind.INTEGER and not isinstance(node, exp.TryCast):
        return Written(f"{value.text}::int8", kind, *value.ends)  # a plan casts so where it has moved it between ends
    return _convert(value, kind)


def _bound(writer: StatementWriter, number: int, kind: ValueKind) -> Written:
    if number > len(writer.values):
        raise Untranslatable("fewer values than places for them")
    value, place = writer.values[number - 1], f"{writer.parameter(number)}::{TYPES[kind]}"
    if kind is ValueKind.INTEGER and isinstance(value, int) and not _FIRST <= value <= _LAST:
        raise Untranslatable("integers of more than 64 bits")
    if kind is ValueKind.WIDE and isinstance(value, str):
        value = int(value)  # more digits than an integer of the server has
    if kind is not ValueKind.TEXT:
        point = _point(value)
        return Written(place, kind, point, point, whole=isinstance(value, int))
    if isinstance(value, str) and "\x00" in value:
        raise Untranslatable("text with the character NUL")
    return Written(f"({place} {AS_CODE_POINTS})", kind)


def _point(value: ParameterValue) -> Fraction | None:
    """The value as the server is handed it: a real number is a double already."""
    match value:
        case None | str() | bool():
            return None
        case datetime():
            return write_seconds(value)
        case date():
            return Fraction(write_days(value))
        case _:
            return Fraction(value)


def _constant(node: exp.Literal, kind: ValueKind) -> Written:
    if kind is ValueKind.DATE and node.is_string:
        day = Fraction(write_days(date.fromisoformat(node.this)))
        return Written(f"'{node.this}'::date", kind, day, day)
    if kind is ValueKind.TEXT and node.is_string:
        return Written(literal_text(node.this), kind)
    if kind is ValueKind.REAL and node.this == "NaN":
        return Written(double(math.nan), kind)
    if node.is_string or kind not in (ValueKind.INTEGER, ValueKind.REAL):
        raise Untranslatable(f"a constant of {kind.value}")
    value = Fraction(float(node.this)) if kind is ValueKind.REAL else Fraction(node.this)
    text = double(value) if kind is ValueKind.REAL else f"'{int(value)}'::int8"
    return Written(text, kind, value, value, whole=value.denominator == 1)


def _short(value: Written) -> Written:
    """An integer of 32 bits."""
    if clamp_between(value, _FIRST_SHORT, _LAST_SHORT):
        return Written(f"{_not_doubled(value)}::int4", ValueKind.INTEGER, *_rounded_ends(value))
    inside = f"{value.text} BETWEEN {_FIRST_SHORT} AND {_LAST_SHORT}"
    text = f"CASE WHEN {inside} THEN {value.text}::int4 END"
    return Written(text, ValueKind.INTEGER, Fraction(_FIRST_SHORT), Fraction(_LAST_SHORT))


def _convert(value: Written, kind: ValueKind) -> Written:
    if value.kind is kind:
        return value
    if value.kind is ValueKind.NOTHING:
        return Written(f"NULL::{TYPES[kind]}", kind)
    rule = _RULES.get((value.kind, kind))
    if rule is None:
        raise Untranslatable(f"{value.kind.value} read as {kind.value}")
    return rule(value)


def _whole_number(value: Written) -> Written:
    """Halves are rounded to even, by PostgreSQL as by plans."""
    if clamp_between(value, _FIRST, _LAST_DOUBLE):
        return Written(f"{_not_doubled(value)}::int8", ValueKind.INTEGER, *_rounded_ends(value))
    inside = f"{value.text} BETWEEN {double(_FIRST)} AND {double(_LAST_DOUBLE)}"
    return Written(f"CASE WHEN {inside} THEN {value.text}::int8 END", ValueKind.INTEGER)


def _nearest(steps: Written, places: int) -> Written:
    """The double that is nearest to a decimal, as PostgreSQL itself finds it."""
    unit = f"{Decimal(1).scaleb(-places):f}"
    return Written(f"({steps.text} * {unit})::float8", ValueKind.REAL, *in_units(steps, places))


def _wide_number(value: Written) -> Written:
    """A real number that is whole, as the same integer: PostgreSQL's own cast keeps 15 digits of it.

    A double of 2^62 and more is a multiple of 2^10.
    """
    x = value.text
    above = f"trunc({x} * {double(Fraction(1, 2**64))})"
    rest = f"({x} - {above} * {double(2**64)}) * {double(Fraction(1, 2**10))}"
    small = f"WHEN abs({x}) < {double(2**62)} THEN {x}::int8::numeric"
    large = f"WHEN abs({x}) < {double(10**38)} THEN {above}::int8::numeric * {2**64} + ({rest})::int8::numeric * 1024"
    return Written(f"CASE {small} {large} END", ValueKind.WIDE, *value.ends)


def _not_doubled(value: Written) -> str:
    """An integer that was made a double to become an integer again; small ones are the same before and after."""
    is_integer = value.whole and value.text.endswith(_DOUBLED) and not value.text.startswith("'")
    is_small = value.largest is not None and value.largest < 2**53
    return value.text.removesuffix(_DOUBLED) if is_integer and is_small else value.text


def _rounded_ends(value: Written) -> Ends:
    low, high = (None if end is None else Fraction(round(end)) for end in value.ends)
    return low, high


def _real_text(value: Written) -> Written:
    """The shortest digits that lead back to the number, laid out as plans expect: with a point, up to 16 digits."""
    x, plain = value.text, f"{value.text}::text"
    no_point = "CASE WHEN strpos({}, '.') > 0 THEN '' ELSE '.0' END"
    long = f"{plain}::numeric::text"
    texts = [
        f"WHEN {x} = 'NaN'::float8 THEN 'nan'",
        f"WHEN {x} = 'Infinity'::float8 THEN 'inf'",
        f"WHEN {x} = '-Infinity'::float8 THEN '-inf'",
        f"WHEN abs({x}) >= 1e15 AND abs({x}) < 1e16 THEN {long} || {no_point.format(long)}",
        f"WHEN strpos({plain}, '.') > 0 OR strpos({plain}, 'e') > 0 THEN {plain}",
    ]
    return Written(f"(CASE {' '.join(texts)} ELSE {plain} || '.0' END {AS_CODE_POINTS})", ValueKind.TEXT)


def _dated_text(value: Written) -> Written:
    within_years(value)
    return Written(f"({value.text}::text {AS_CODE_POINTS})", ValueKind.TEXT)


def _plain_text(value: Written) -> Written:
    return Written(f"({value.text}::text {AS_CODE_POINTS})", ValueKind.TEXT)


def _truth(value: Written) -> Written:
    return Written(f"({value.text} <> 0)", ValueKind.BOOLEAN)


def _truth_of_text(value: Written) -> Written:
    word = f"lower({value.text})"
    yes, no = "'true', 't', 'yes', 'y', '1'", "'false', 'f', 'no', 'n', '0'"
    return Written(f"CASE WHEN {word} IN ({yes}) THEN TRUE WHEN {word} IN ({no}) THEN FALSE END", ValueKind.BOOLEAN)


def _midnight(value: Written) -> Written:
    return Written(f"{value.text}::timestamp", ValueKind.TIMESTAMP, *in_seconds(value))


def _day(value: Written) -> Written:
    low, high = (None if end is None else Fraction(end // 86_400) for end in value.ends)
    return Written(f"{value.text}::date", ValueKind.DATE, low, high)


_RULES: Mapping[tuple[ValueKind, ValueKind], Callable[[Written], Written]] = {
    (ValueKind.INTEGER, ValueKind.REAL): lambda value: Written(
        f"{value.text}::float8", ValueKind.REAL, *value.ends, whole=True
    ),
    (ValueKind.WIDE, ValueKind.REAL): lambda value: Written(
        f"{value.text}::float8", ValueKind.REAL, *value.ends, whole=True
    ),
    (ValueKind.INTEGER, ValueKind.WIDE): lambda value: Written(f"{value.text}::numeric", ValueKind.WIDE, *value.ends),
    (ValueKind.WIDE, ValueKind.INTEGER): lambda value: Written(within_64_bits(value.text), ValueKind.INTEGER),
    (ValueKind.REAL, ValueKind.INTEGER): _whole_number,
    (ValueKind.REAL, ValueKind.WIDE): _wide_number,
    (ValueKind.BOOLEAN, ValueKind.INTEGER): lambda value: Written(
        f"{value.text}::int4", ValueKind.INTEGER, Fraction(0), Fraction(1)
    ),
    (ValueKind.BOOLEAN, ValueKind.REAL): lambda value: Written(
        f"{value.text}::int4::float8", ValueKind.REAL, Fraction(0), Fraction(1), whole=True
    ),
    (ValueKind.INTEGER, ValueKind.BOOLEAN): _truth,
    (ValueKind.REAL, ValueKind.BOOLEAN): _truth,
    (ValueKind.TEXT, ValueKind.BOOLEAN): _truth_of_text,
    (ValueKind.INTEGER, ValueKind.TEXT): _plain_text,
    (ValueKind.WIDE, ValueKind.TEXT): _plain_text,
    (ValueKind.BOOLEAN, ValueKind.TEXT): _plain_text,
    (ValueKind.REAL, ValueKind.TEXT): _real_text,
    (ValueKind.DATE, ValueKind.TEXT): _dated_text,
    (ValueKind.TIMESTAMP, ValueKind.TEXT): _dated_text,
    (ValueKind.DATE, ValueKind.TIMESTAMP): _midnight,
    (ValueKind.TIMESTAMP, ValueKind.DATE): _day,
}


def _literal(writer: StatementWriter, node: exp.Literal, scope: WriterScope) -> Written:
    if node.is_string:
        return Written(literal_text(node.this), ValueKind.TEXT)
    return _constant(node, ValueKind.INTEGER) if node.is_int else _constant(node, ValueKind.REAL)


CAST_RULES: Mapping[type[exp.Expr], Rule] = {exp.Cast: _cast, exp.TryCast: _cast, exp.Literal: _literal}
