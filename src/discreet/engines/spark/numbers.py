"""Arithmetic and mathematics: what a plan attempts is attempted, whatever is known of its values.

A plan's own weights and steps, which stand in no TRY, are plain where the statement itself keeps them inside 64 bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from sqlglot import exp

from discreet.engines.spark.casts import real
from discreet.engines.spark.dates import days, is_span, move_time
from discreet.engines.spark.types import WORD, find_known_ends, negative_literal
from discreet.engines.translate.expression import Ends, ValueKind, WriterScope, Written, hull
from discreet.engines.translate.writer import Rule, StatementWriter, Untranslatable

__all__ = ["NUMBER_FUNCTIONS", "NUMBER_RULES"]


_INFINITY = "CAST('Infinity' AS DOUBLE)"
_CONSTANT = (exp.Literal, exp.Neg)


def _both(writer: StatementWriter, node: Any, scope: WriterScope) -> tuple[Written, Written, ValueKind]:
    """Two numbers, and the type of what they make together."""
    first, second = writer.write(node.this, scope), writer.write(node.expression, scope)
    kinds = {first.kind, second.kind}
    for kind in (ValueKind.REAL, ValueKind.WIDE):
        if kind in kinds and all(each.is_number for each in kinds):
            return first, second, kind
    if kinds == {ValueKind.INTEGER}:
        return first, second, ValueKind.INTEGER
    raise Untranslatable(f"arithmetic of {first.kind.value} and {second.kind.value}")


def _arithmetic(symbol: str, attempt: str, ends_of: Callable[[Written, Written], Ends]) -> Rule:
    def rule(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
        if is_span(node.expression):
            return move_time(writer, node, scope)
        first, second, kind = _both(writer, node, scope)
        ends = ends_of(first, second)
        if kind is ValueKind.REAL:
            return Written(f"({first.text} {symbol} {second.text})", kind, *find_known_ends(ends))
        if kind is ValueKind.INTEGER and _fits(ends) and not _is_attempted(node):
            return Written(f"({first.text} {symbol} {second.text})", kind, *ends)
        return Written(f"{attempt}({first.text}, {second.text})", kind, *_within(kind, ends))

    return rule


def _subtract(writer: StatementWriter, node: exp.Sub, scope: WriterScope) -> Written:
    """A difference of numbers, or of two dates in days; Spark counts days in 32 bits."""
    if not is_span(node.expression):
        first, second = writer.write(node.this, scope), writer.write(node.expression, scope)
        if first.kind is second.kind is ValueKind.DATE:
            return Written(f"({days(first)} - {days(second)})", ValueKind.INTEGER, Fraction(-(2**32)), Fraction(2**32))
    return _DIFFERENCE(writer, node, scope)


def _is_attempted(node: exp.Expr) -> bool:
    return isinstance(node.parent, exp.Try)


def _fits(ends: Ends) -> bool:
    low, high = ends
    return low is not None and high is not None and low >= -WORD and high < WORD


def _within(kind: ValueKind, ends: Ends) -> Ends:
    """What does not fit 64 bits is missing, so what is there does."""
    low, high = ends
    if kind is not ValueKind.INTEGER:
        return ends
    return (None if low is None else max(low, Fraction(-WORD))), (
        None if high is None else min(high, Fraction(WORD - 1))
    )


def _divide(writer: StatementWriter, node: exp.Div, scope: WriterScope) -> Written:
    first, second, _ = _both(writer, node, scope)
    return Written(f"try_divide({real(first).text}, {real(second).text})", ValueKind.REAL)


def _divided_whole(writer: StatementWriter, node: exp.IntDiv, scope: WriterScope) -> Written:
    first, second, kind = _both(writer, node, scope)
    if kind is ValueKind.WIDE:
        return _cut_off(first, second)
    if kind is not ValueKind.INTEGER:
        raise Untranslatable("// of numbers that are not whole")
    is_positive = first.low is not None and first.low >= 0 and second.low is not None and second.low >= 0
    if is_positive and not _is_attempted(node):
        text = f"({first.text} div NULLIF({second.text}, 0L))"  # only the least integer divided by -1 does not fit
        return Written(text, ValueKind.INTEGER, Fraction(0), first.high)
    others = f"{first.text} div NULLIF(NULLIF({second.text}, 0L), -1L)"
    text = f"COALESCE(CASE WHEN {second.text} = -1L THEN try_subtract(0L, {first.text}) END, {others})"
    largest = first.largest
    return Written(text, ValueKind.INTEGER, *((None, None) if largest is None else (-largest, largest)))


def _cut_off(first: Written, second: Written) -> Written:
    """A decimal in its steps, divided by a power of ten.

    Spark's own quotient has 64 bits. A product with a decimal fraction keeps six digits after the point at least, and
    the product with a multiple of the power is whole.
    """
    places = 0 if second.point is None else len(str(second.point)) - 1
    if second.point != 10**places or not places:
        raise Untranslatable("// of decimals by what is no power of ten")
    multiple = f"try_subtract({first.text}, {first.text} % {second.text})"
    quotient = f"try_multiply({multiple}, {'0.' + '0' * (places - 1) + '1'}BD)"
    return Written(f"try_cast({quotient} AS DECIMAL(38,0))", ValueKind.WIDE)


def _remainder(writer: StatementWriter, node: exp.Mod, scope: WriterScope) -> Written:
    first, second, kind = _both(writer, node, scope)
    if kind is ValueKind.WIDE:
        return Written(f"({first.text} % NULLIF({second.text}, 0BD))", ValueKind.WIDE)
    if kind is not ValueKind.INTEGER:
        raise Untranslatable("% of numbers that are not whole")
    divisor, ends = (
        f"NULLIF({second.text}, 0L)",
        (None, None) if second.largest is None else (-second.largest, second.largest),
    )
    is_edge = _is_least(first) and (second.low is None or second.low <= -1)
    if is_edge or _is_attempted(node):  # DuckDB has no answer there, Spark has 0
        divisor = f"(CASE WHEN {first.text} > {-WORD + 1}L - 1L OR {second.text} <> -1L THEN {divisor} END)"
    return Written(f"({first.text} % {divisor})", ValueKind.INTEGER, *ends)


def _is_least(value: Written) -> bool:
    return value.low is None or value.low <= -WORD


def _negative(writer: StatementWriter, node: exp.Neg, scope: WriterScope) -> Written:
    if isinstance(node.this, exp.Literal):
        return negative_literal(node.this)
    value = writer.write(node.this, scope)
    low, high = value.ends
    ends = (None if high is None else -high), (None if low is None else -low)
    if value.kind is ValueKind.REAL:
        return Written(f"(- {value.text})", ValueKind.REAL, *ends)
    if value.kind is ValueKind.WIDE:
        return Written(_opposite(value), ValueKind.WIDE, *ends)
    if value.kind is ValueKind.INTEGER:
        return Written(f"try_subtract(0L, {value.text})", ValueKind.INTEGER, *ends)
    raise Untranslatable(f"- of {value.kind.value}")


def _opposite(wide: Written) -> str:
    """A decimal below zero, or above it: Spark's own minus sign and `abs` keep 34 digits of 38."""
    return f"try_subtract(CAST(0 AS DECIMAL(38,0)), {wide.text})"


def _absolute(writer: StatementWriter, node: exp.Abs, scope: WriterScope) -> Written:
    value = _number(writer, node, scope, ValueKind.WIDE)
    ends = (None, None) if value.largest is None else (Fraction(0), value.largest)
    if value.kind is ValueKind.WIDE:
        return Written(
            f"(CASE WHEN {value.text} < 0 THEN {_opposite(value)} ELSE {value.text} END)", ValueKind.WIDE, *ends
        )
    if value.kind is ValueKind.REAL or not (_is_least(value) or _is_attempted(node)):
        return Written(f"abs({value.text})", value.kind, *ends)
    return Written(f"abs(NULLIF({value.text}, {-WORD + 1}L - 1L))", value.kind, *ends)


def _number(writer: StatementWriter, node: Any, scope: WriterScope, *more: ValueKind) -> Written:
    value = writer.write(node.this, scope)
    if value.kind not in (ValueKind.INTEGER, ValueKind.REAL, *more):
        raise Untranslatable(f"a function of {value.kind.value}")
    return value


# Rounding. Spark's floor and ceil return an integer, also for NaN; its round goes by the digits that are printed.


def _outward(value: Written) -> Ends:
    low, high = value.ends
    return (None if low is None else Fraction(math.floor(low))), (None if high is None else Fraction(math.ceil(high)))


def _floor(writer: StatementWriter, node: exp.Floor, scope: WriterScope) -> Written:
    value = real(_number(writer, node, scope))
    near = f"rint({value.text})"
    return Written(
        f"({near} - (CASE WHEN {near} > {value.text} THEN 1D ELSE 0D END))", ValueKind.REAL, *_outward(value)
    )


def _ceiling(writer: StatementWriter, node: exp.Ceil, scope: WriterScope) -> Written:
    value = real(_number(writer, node, scope))
    near = f"rint({value.text})"
    return Written(
        f"({near} + (CASE WHEN {near} < {value.text} THEN 1D ELSE 0D END))", ValueKind.REAL, *_outward(value)
    )


def _truncate(writer: StatementWriter, node: exp.Trunc, scope: WriterScope) -> Written:
    value = _number(writer, node, scope)
    if value.kind is ValueKind.INTEGER:
        return value
    near = f"rint({value.text})"
    above = f"WHEN {value.text} > 0D AND {near} > {value.text} THEN 1D"
    below = f"WHEN {value.text} < 0D AND {near} < {value.text} THEN -1D"
    return Written(f"({near} - (CASE {above} {below} ELSE 0D END))", ValueKind.REAL, *_outward(value))


def _round(writer: StatementWriter, node: exp.Round, scope: WriterScope) -> Written:
    value = _number(writer, node, scope)
    digits = node.args.get("decimals")
    if digits is None:
        return (
            value if value.kind is ValueKind.INTEGER else Written(_away(value.text), ValueKind.REAL, *_outward(value))
        )
    if not isinstance(digits, exp.Literal) or not digits.is_int:
        raise Untranslatable("ROUND to digits that are not constant")
    factor = f"{10 ** int(digits.this)}D"
    value = real(value)
    steps = f"({_away(f'({value.text} * {factor})')} / {factor})"
    # As DuckDB does: what overflows on the way has no such digits anyway.
    return Written(
        f"(CASE WHEN abs({steps}) < {_INFINITY} THEN {steps} ELSE {value.text} END)", ValueKind.REAL, *_outward(value)
    )


def _away(value: str) -> str:
    """The nearest whole number, of two the one further from zero; `rint` takes the even one.

    To add minus zero leaves zeros their sign.
    """
    near = f"rint({value})"
    up = f"WHEN {value} > 0D AND {value} - {near} = 0.5D THEN 1D"
    down = f"WHEN {value} < 0D AND {value} - {near} = -0.5D THEN -1D"
    return f"({near} + (CASE {up} {down} ELSE -0D END))"


# Mathematics: on doubles none of these raises.


def _of_real(function: str) -> Rule:
    def rule(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
        return Written(f"{function}({real(_number(writer, node, scope)).text})", ValueKind.REAL)

    return rule


def _logarithm(writer: StatementWriter, node: exp.Log, scope: WriterScope) -> Written:
    base, value = node.this, node.expression
    if not isinstance(base, exp.Literal) or base.this not in ("2", "10") or value is None:
        raise Untranslatable("a logarithm of this base")
    return Written(f"log{base.this}({real(writer.write(value, scope)).text})", ValueKind.REAL)


def _power(writer: StatementWriter, node: exp.Pow, scope: WriterScope) -> Written:
    base, exponent, _ = _both(writer, node, scope)
    one, two = real(base).text, real(exponent).text
    # In C 1 to any power is 1, also to NaN and infinity; in Java it is not.
    is_one = f"{one} = 1D OR ({one} = -1D AND abs({two}) = {_INFINITY})"
    return Written(
        f"(CASE WHEN {is_one} THEN (CASE WHEN {two} IS NOT NULL THEN 1D END) ELSE power({one}, {two}) END)",
        ValueKind.REAL,
    )


def _sign(writer: StatementWriter, node: exp.Sign, scope: WriterScope) -> Written:
    value = _number(writer, node, scope, ValueKind.WIDE)
    above = f"{value.text} > 0" + (f" AND NOT isnan({value.text})" if value.kind is ValueKind.REAL else "")
    text = f"(CASE WHEN {above} THEN 1L WHEN {value.text} < 0 THEN -1L WHEN {value.text} IS NOT NULL THEN 0L END)"
    return Written(text, ValueKind.INTEGER, Fraction(-1), Fraction(1))


def _is_nan(writer: StatementWriter, node: exp.IsNan, scope: WriterScope) -> Written:
    value = real(writer.write(node.this, scope)).text
    return Written(f"(CASE WHEN {value} IS NOT NULL THEN isnan({value}) END)", ValueKind.BOOLEAN)


def _is_finite(writer: StatementWriter, node: exp.Anonymous, scope: WriterScope) -> Written:
    value = real(writer.write(node.expressions[0], scope))
    if value.largest is not None:
        return Written(f"({value.text} IS NOT NULL)", ValueKind.BOOLEAN)
    return Written(f"(abs({value.text}) < {_INFINITY})", ValueKind.BOOLEAN)  # NaN is greater than infinity


def _least_or_greatest(name: str) -> Rule:
    """A constant among the values is an end of the result; values that are missing are passed over."""

    def rule(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
        nodes = (node.this, *node.expressions)
        parts = [writer.write(one, scope) for one in nodes]
        points = [part.point for one, part in zip(nodes, parts, strict=True) if isinstance(one, _CONSTANT)]
        low, high = hull(parts)
        known = [point for point in points if point is not None]
        if known and name == "LEAST":
            high = min(known)
        if known and name == "GREATEST":
            low = max(known)
        kinds = [part.kind for part in parts if part.kind is not ValueKind.NOTHING]
        kind = next(
            (kind for kind in (ValueKind.REAL, ValueKind.WIDE) if kind in kinds),
            kinds[0] if kinds else ValueKind.NOTHING,
        )
        return Written(f"{name}({', '.join(part.text for part in parts)})", kind, low, high)

    return rule


_DIFFERENCE = _arithmetic("-", "try_subtract", Written.minus)

NUMBER_RULES: Mapping[type[exp.Expr], Rule] = {
    exp.Add: _arithmetic("+", "try_add", Written.plus),
    exp.Sub: _subtract,
    exp.Mul: _arithmetic("*", "try_multiply", Written.times),
    exp.Div: _divide,
    exp.IntDiv: _divided_whole,
    exp.Mod: _remainder,
    exp.Neg: _negative,
    exp.Abs: _absolute,
    exp.Floor: _floor,
    exp.Ceil: _ceiling,
    exp.Trunc: _truncate,
    exp.Round: _round,
    exp.Sqrt: _of_real("sqrt"),
    exp.Ln: _of_real("ln"),
    exp.Exp: _of_real("exp"),
    exp.Cbrt: _of_real("cbrt"),
    exp.Log: _logarithm,
    exp.Pow: _power,
    exp.Sign: _sign,
    exp.IsNan: _is_nan,
    exp.Least: _least_or_greatest("LEAST"),
    exp.Greatest: _least_or_greatest("GREATEST"),
}
"""Arithmetic and mathematics."""

NUMBER_FUNCTIONS: Mapping[str, Rule] = {"isfinite": _is_finite}
"""Those that the parser knows by name alone."""
