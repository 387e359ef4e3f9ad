"""Conversions of expressions that no row can make fail, and that give what DuckDB gives.

Spark truncates where DuckDB rounds to even, and takes 2⁶³ for the largest integer. Each of the two reads other texts as
numbers and dates, so only columns are read from text, by rules of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from sqlglot import exp

from discreet.engines.spark.dates import date_text, timestamp_text
from discreet.engines.spark.types import NAMES, SHORT, WORD, literal, placeholder, wide_placeholder
from discreet.engines.translate.expression import ValueKind, WriterScope, Written
from discreet.engines.translate.rules import hash_as_number
from discreet.engines.translate.writer import Rule, StatementWriter, Untranslatable, digits_and_exponent, in_units

__all__ = ["CAST_RULES", "real"]


_MICROSECONDS = "86400000000L"
_EXACT = 2**53
"""No integer closer to zero is another one as a double."""
_TRUE = "'true', 't', 'yes', 'y', '1'"
_FALSE = "'false', 'f', 'no', 'n', '0'"


def _cast(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
    if isinstance(node.this, exp.Literal) and node.this.this == "NaN" and writer.type_of(node.to) is ValueKind.REAL:
        return Written("CAST('NaN' AS DOUBLE)", ValueKind.REAL)
    if (hashed := hash_as_number(node)) is not None:
        text = f"CAST(conv(left({writer.write(hashed, scope).text}, 8), 16, 10) AS BIGINT)"
        return Written(text, ValueKind.INTEGER, Fraction(0), Fraction(2**32 - 1))
    if (parts := digits_and_exponent(node)) is not None:
        steps, places = writer.write(parts[0], scope), parts[1]
        text = f"concat(CAST({steps.text} AS STRING), 'e-{places}')"
        return Written(f"try_cast({text} AS DOUBLE)", ValueKind.REAL, *in_units(steps, places))
    if writer.type_of(node.to) is ValueKind.WIDE and isinstance(node.this, exp.Placeholder):
        return wide_placeholder(writer, node.this, scope)
    wanted, given = writer.type_of(node.to), _unmoved(writer, node, scope) or writer.write(node.this, scope)
    is_short = node.to.this is exp.DataType.Type.INT
    is_date = wanted in (ValueKind.DATE, ValueKind.TIMESTAMP) and isinstance(
        node.this, exp.Literal
    )  # one of the plan's own
    if given.kind is ValueKind.NOTHING or is_date:
        return Written(f"CAST({given.text} AS {NAMES[wanted]})", wanted)
    if given.kind is wanted and not is_short:
        return given
    rule = _RULES.get((given.kind, wanted))
    if rule is None:
        raise Untranslatable(f"CAST of {given.kind.value} to {wanted.value}")
    converted = rule(given)
    return _shorten(converted) if is_short else converted


def _unmoved(writer: StatementWriter, node: Any, scope: WriterScope) -> Written | None:
    """An integer that is read as a real number and back, and is none other then."""
    if writer.type_of(node.to) is not ValueKind.INTEGER or not isinstance(node.this, exp.Cast):
        return None
    if writer.type_of(node.this.to) is not ValueKind.REAL:
        return None
    inner = writer.write(node.this.this, scope)
    is_exact = inner.kind is ValueKind.INTEGER and inner.largest is not None and inner.largest <= _EXACT
    return inner if is_exact else None


def _shorten(value: Written) -> Written:
    """Missing where 32 bits are too few."""
    if value.largest is not None and value.largest < SHORT:
        return value
    text = f"CASE WHEN {value.text} BETWEEN {-SHORT}L AND {SHORT - 1}L THEN {value.text} END"
    return Written(f"({text})", ValueKind.INTEGER, Fraction(-SHORT), Fraction(SHORT - 1))


def _attempt(writer: StatementWriter, node: exp.Try, scope: WriterScope) -> Written:
    """Everything is written so that it is missing where DuckDB would fail."""
    return writer.write(node.this, scope)


def _same(given: Written) -> Written:
    return given


def _plainly(wanted: ValueKind) -> Callable[[Written], Written]:
    return lambda given: Written(f"CAST({given.text} AS {NAMES[wanted]})", wanted, *given.ends)


def real(given: Written) -> Written:
    """A number as a double."""
    return given if given.kind is ValueKind.REAL else _plainly(ValueKind.REAL)(given)


def _round(given: Written) -> Written:
    """The nearest integer, the even one of two."""
    if given.low is not None and given.high is not None and max(-given.low, given.high) < WORD // 2:
        ends = Fraction(math.floor(given.low)), Fraction(math.ceil(given.high))
        return Written(f"CAST(rint({given.text}) AS BIGINT)", ValueKind.INTEGER, *ends)
    # 2^63 is no integer of 64 bits, but Spark makes the largest of it. NaN is greater than every number.
    inside = f"{given.text} >= {-WORD}D AND {given.text} < {WORD}D"
    return Written(f"(CASE WHEN {inside} THEN try_cast(rint({given.text}) AS BIGINT) END)", ValueKind.INTEGER)


def _widen(given: Written) -> Written:
    """A real number that is whole, as the same integer: Spark's own cast goes by the digits that are printed.

    A double of 2^62 and more is a multiple of 2^10.
    """
    x, wide = given.text, NAMES[ValueKind.WIDE]
    down = f"({x} * {2.0**-64!r}D)"
    above = f"(rint({down}) - (CASE WHEN rint({down}) > {down} THEN 1D ELSE 0D END))"
    rest = f"(({x} - {above} * {2**64}D) * {2.0**-10!r}D)"
    parts = [f"CAST(try_cast({part} AS BIGINT) AS {wide})" for part in (x, above, rest)]
    small = f"WHEN abs({x}) < {2**62}D THEN {parts[0]}"
    large = f"WHEN abs({x}) < 1e38D THEN try_add(try_multiply({parts[1]}, {2**64}BD), try_multiply({parts[2]}, 1024BD))"
    return Written(f"(CASE {small} {large} END)", ValueKind.WIDE, *given.ends)


def _narrow(given: Written) -> Written:
    return Written(f"try_cast({given.text} AS BIGINT)", ValueKind.INTEGER, *given.ends)


def _of_truth(wanted: ValueKind) -> Callable[[Written], Written]:
    return lambda given: Written(f"CAST({given.text} AS {NAMES[wanted]})", wanted, Fraction(0), Fraction(1))


def _truth_of_text(given: Written) -> Written:
    word = f"lower({given.text})"
    text = f"(CASE WHEN {word} IN ({_TRUE}) THEN TRUE WHEN {word} IN ({_FALSE}) THEN FALSE END)"
    return Written(text, ValueKind.BOOLEAN)


def _midnight(given: Written) -> Written:
    days = f"CAST(unix_date({given.text}) AS BIGINT)"
    return Written(f"timestamp_micros(try_multiply({days}, {_MICROSECONDS}))", ValueKind.TIMESTAMP)


_RULES: Mapping[tuple[ValueKind, ValueKind], Callable[[Written], Written]] = {
    (ValueKind.INTEGER, ValueKind.INTEGER): _same,
    (ValueKind.INTEGER, ValueKind.WIDE): _plainly(ValueKind.WIDE),
    (ValueKind.INTEGER, ValueKind.REAL): _plainly(ValueKind.REAL),
    (ValueKind.INTEGER, ValueKind.TEXT): lambda given: Written(f"CAST({given.text} AS STRING)", ValueKind.TEXT),
    (ValueKind.INTEGER, ValueKind.BOOLEAN): lambda given: Written(f"({given.text} <> 0L)", ValueKind.BOOLEAN),
    (ValueKind.WIDE, ValueKind.INTEGER): _narrow,
    (ValueKind.WIDE, ValueKind.REAL): _plainly(ValueKind.REAL),
    (ValueKind.WIDE, ValueKind.TEXT): lambda given: Written(f"CAST({given.text} AS STRING)", ValueKind.TEXT),
    (ValueKind.REAL, ValueKind.INTEGER): _round,
    (ValueKind.REAL, ValueKind.WIDE): _widen,
    (ValueKind.REAL, ValueKind.BOOLEAN): lambda given: Written(f"({given.text} <> 0D)", ValueKind.BOOLEAN),
    (ValueKind.BOOLEAN, ValueKind.INTEGER): _of_truth(ValueKind.INTEGER),
    (ValueKind.BOOLEAN, ValueKind.REAL): _of_truth(ValueKind.REAL),
    (ValueKind.BOOLEAN, ValueKind.TEXT): lambda given: Written(f"CAST({given.text} AS STRING)", ValueKind.TEXT),
    (ValueKind.TEXT, ValueKind.BOOLEAN): _truth_of_text,
    (ValueKind.DATE, ValueKind.TEXT): lambda given: Written(date_text(given.text), ValueKind.TEXT),
    (ValueKind.DATE, ValueKind.TIMESTAMP): _midnight,
    (ValueKind.TIMESTAMP, ValueKind.TEXT): lambda given: Written(timestamp_text(given.text), ValueKind.TEXT),
    (ValueKind.TIMESTAMP, ValueKind.DATE): lambda given: Written(f"CAST({given.text} AS DATE)", ValueKind.DATE),
}

CAST_RULES: Mapping[type[exp.Expr], Rule] = {
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Try: _attempt,
    exp.Literal: literal,
    exp.Placeholder: placeholder,
}
"""Conversions, attempts and constants."""
