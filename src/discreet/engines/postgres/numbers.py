"""Arithmetic that PostgreSQL cannot fail in.

PostgreSQL raises where an integer leaves 64 bits, and where a double overflows or vanishes; plans expect NULL for the
first, and infinity or zero for the others. Integers are plain where a plan's own weights and steps are, and wide inside
a TRY, whatever is known of them. Where the statement's own bounds prove that a double can neither overflow nor vanish,
the operator stands alone. Elsewhere the common case is tried first, and the rare one is decided on operands that are
scaled by powers of two, which is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from sqlglot import exp

from discreet.engines.translate.expression import Ends, ValueKind, WriterScope, Written, hull
from discreet.engines.translate.writer import Rule, StatementWriter, Untranslatable
from discreet.exact.rational import LARGEST_DOUBLE

__all__ = [
    "INFINITY",
    "LARGEST",
    "NUMBER_FUNCTIONS",
    "NUMBER_RULES",
    "attempt",
    "clamp_between",
    "double",
    "within_64_bits",
]


LARGEST = LARGEST_DOUBLE
_LAST_STEP = Fraction(2) ** 970
"""Half a step at the largest double: less than this, added to it, is rounded away."""
_SMALL, _LARGE = Fraction(1, 10**150), Fraction(10**150)
_FIRST, _LAST = -(2**63), 2**63 - 1
_FIRST_SHORT, _LAST_SHORT = -(2**31), 2**31 - 1
_BEYOND = 10**38
"""The first integer with more digits than a decimal of plans."""
INFINITY = "'Infinity'::float8"


def double(value: Fraction | float) -> str:
    """A constant of PostgreSQL's double precision."""
    return f"'{float(value)!r}'::float8"


_HALF = double(LARGEST / 2)
_DOWN_512, _DOWN_537, _UP_537 = (double(Fraction(2) ** power) for power in (-512, -537, 537))
_RIM = double(Fraction(2) ** -50)
"""A dividend above it cannot vanish, one below it cannot overflow."""


def clamp_between(value: Written, low: int, high: int) -> bool:
    """Whether all values are known to lie between two integers."""
    return value.low is not None and value.high is not None and low <= value.low and value.high <= high


def _real(value: Written) -> Written:
    """A number as a double."""
    if value.kind is ValueKind.REAL:
        return value
    return Written(f"{value.text}::float8", ValueKind.REAL, *value.ends, whole=True)


def within_64_bits(wide: str) -> str:
    """A numeric as an integer, NULL outside 64 bits; it stands here once, so that nested ones stay short."""
    outer = f"GREATEST(LEAST({wide}, {_LAST + 1}), {_FIRST - 1})"
    return f"NULLIF(NULLIF({outer}, {_LAST + 1}), {_FIRST - 1})::int8"


def _within_38_digits(wide: str) -> str:
    """A numeric that is NULL where it has more digits than a decimal of plans."""
    outer = f"GREATEST(LEAST({wide}, {_BEYOND}), -{_BEYOND})"
    return f"NULLIF(NULLIF({outer}, {_BEYOND}), -{_BEYOND})"


def _in_digits(ends: Ends) -> Ends:
    low, high = (None if end is None else min(max(end, Fraction(-_BEYOND)), Fraction(_BEYOND)) for end in ends)
    return low, high


# Sums, differences and products.


def _add(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
    return _sum("+", writer, node, scope)


def _subtract(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
    return _sum("-", writer, node, scope)


def _sum(symbol: str, writer: Any, node: Any, scope: WriterScope) -> Written:
    first, second = writer.write(node.this, scope), writer.write(node.expression, scope)
    if first.kind in (ValueKind.DATE, ValueKind.TIMESTAMP):
        moved: Written = writer.moved(first, symbol, second)
        return moved
    ends = first.plus(second) if symbol == "+" else first.minus(second)
    if ValueKind.REAL not in (first.kind, second.kind):
        return _exact(symbol, first, second, ends)
    one, two = _real(first), _real(second)
    text = f"({one.text} {symbol} {two.text})"
    if not _is_slight(one) and not _is_slight(two):
        text = _careful_sum(text, one.text, two.text if symbol == "+" else f"(-{two.text})")
    return Written(text, ValueKind.REAL, *_finite(ends), whole=one.whole and two.whole)


def _exact(symbol: str, first: Written, second: Written, ends: Ends) -> Written:
    """Arithmetic of integers, which was proven to fit."""
    if ValueKind.WIDE in (first.kind, second.kind):
        return Written(f"({first.text} {symbol} {second.text})", ValueKind.WIDE, *ends)
    result = Written(f"({first.text} {symbol} {second.text})", ValueKind.INTEGER, *ends)
    if clamp_between(result, _FIRST_SHORT, _LAST_SHORT):
        return result
    return Written(f"({first.text}::int8 {symbol} {second.text})", ValueKind.INTEGER, *ends)


def _is_slight(value: Written) -> bool:
    """Whether adding it to any double stays finite."""
    return value.largest is not None and value.largest < _LAST_STEP


def _finite(ends: Ends) -> Ends:
    """Bounds of a double; beyond the largest there is infinity, of which bounds say nothing."""
    low, high = ends
    if low is None or high is None or low < -LARGEST or high > LARGEST:
        return None, None
    margin = max(abs(low), abs(high)) / 2**50 + Fraction(1, 2**1074)
    return low - margin, high + margin


def _careful_sum(text: str, one: str, two: str) -> str:
    near = f"abs({one}) <= {_HALF} AND abs({two}) <= {_HALF}"
    finite = f"abs({one}) < {INFINITY} AND abs({two}) < {INFINITY}"
    room = f"LEAST(abs({one}), abs({two})) - ({double(LARGEST)} - GREATEST(abs({one}), abs({two})))"
    beyond = f"sign({one}) = sign({two}) AND {room} >= {double(_LAST_STEP)}"
    return f"CASE WHEN {near} THEN {text} WHEN {finite} AND {beyond} THEN sign({one}) * {INFINITY} ELSE {text} END"


def _multiply(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
    first, second = writer.write(node.this, scope), writer.write(node.expression, scope)
    ends = first.times(second)
    if ValueKind.REAL not in (first.kind, second.kind):
        return _exact("*", first, second, ends)
    one, two = _real(first), _real(second)
    text = f"({one.text} * {two.text})"
    stays = (one.whole and two.whole) or _is_large(one) or _is_large(two)
    if not stays or ends[0] is None or ends[1] is None or max(abs(ends[0]), abs(ends[1])) > LARGEST / 2:
        text = _careful_product(text, one, two)
    return Written(text, ValueKind.REAL, *_finite(ends), whole=one.whole and two.whole)


def _is_large(value: Written) -> bool:
    """Whether its values are at least one away from zero: what is multiplied by them does not vanish."""
    return (value.low is not None and value.low >= 1) or (value.high is not None and value.high <= -1)


def _is_middling(value: Written) -> str:
    """A test for values whose products and quotients are ordinary numbers; empty where they are known to be."""
    point = value.point
    if point is not None and _SMALL <= abs(point) <= _LARGE:
        return ""
    return f"abs({value.text}) BETWEEN {double(_SMALL)} AND {double(_LARGE)}"


def _careful_product(text: str, first: Written, second: Written) -> str:
    one, two = first.text, second.text
    common = " AND ".join(filter(None, (_is_middling(first), _is_middling(second)))) or "TRUE"
    edge = f"{one} = 0 OR {two} = 0 OR abs({one}) >= {INFINITY} OR abs({two}) >= {INFINITY}"
    large = f"abs({one} * {_DOWN_512}) * abs({two} * {_DOWN_512})"
    small = f"abs({one} * {_UP_537}) * abs({two} * {_UP_537})"
    overflow = f"CASE WHEN {large} >= 1 THEN sign({one}) * sign({two}) * {INFINITY} ELSE {text} END"
    vanish = f"CASE WHEN {small} <= 0.5 THEN {_zero(one, two)} ELSE {text} END"
    return (
        f"CASE WHEN {common} THEN {text} WHEN {edge} THEN {text} WHEN abs({one}) > 1 AND abs({two}) > 1 THEN {overflow}"
        f" WHEN abs({one}) < 1 AND abs({two}) < 1 THEN {vanish} ELSE {text} END"
    )


def _zero(one: str, two: str) -> str:
    """What a product or quotient vanishes to: zero with its sign, which shows where it is read as text."""
    return f"sign({one}) * sign({two}) * 0::float8"


def _divide(writer: StatementWriter, node: exp.Div, scope: WriterScope) -> Written:
    """A quotient of doubles; plans never divide by zero."""
    first, second = _real(writer.write(node.this, scope)), _real(writer.write(node.expression, scope))
    if not (isinstance(node.expression, exp.Nullif) or (second.point is not None and second.point != 0)):
        raise Untranslatable("a division by what may be zero")
    return Written(_careful_quotient(f"({first.text} / {second.text})", first, second), ValueKind.REAL)


def _careful_quotient(text: str, first: Written, second: Written) -> str:
    one, two = first.text, second.text
    common = " AND ".join(filter(None, (_is_middling(first), _is_middling(second)))) or "TRUE"
    edge = f"{one} = 0 OR abs({one}) >= {INFINITY} OR abs({two}) >= {INFINITY}"
    large = f"abs({one} * {_DOWN_537}) / abs({two} * {_UP_537})"
    small = f"abs({one} * {_UP_537}) / abs({two} * {_DOWN_537})"
    overflow = f"CASE WHEN {large} >= {_RIM} THEN sign({one}) * sign({two}) * {INFINITY} ELSE {text} END"
    vanish = f"CASE WHEN {small} <= 0.5 THEN {_zero(one, two)} ELSE {text} END"
    return (
        f"CASE WHEN {common} THEN {text} WHEN {edge} THEN {text}"
        f" WHEN abs({one}) >= {_RIM} AND abs({two}) < 1 THEN {overflow}"
        f" WHEN abs({one}) < {_RIM} AND abs({two}) >= 1 THEN {vanish} ELSE {text} END"
    )


# Whole numbers.


def _divide_whole(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
    return _whole("/", writer, node, scope)


def _remainder(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
    return _whole("%", writer, node, scope)


def _whole(symbol: str, writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
    """Both cut towards zero, as plans expect; the one pair whose quotient does not fit has neither."""
    first, second = writer.write(node.this, scope), writer.write(node.expression, scope)
    if first.kind is second.kind is ValueKind.WIDE:
        return Written(f"{_WIDE[symbol]}({first.text}, {second.text})", ValueKind.WIDE)
    if first.kind is not ValueKind.INTEGER or second.kind is not ValueKind.INTEGER:
        raise Untranslatable("a division of real numbers without a remainder")
    text = f"({first.text}::int8 {symbol} {second.text})"
    if first.low is None or first.low <= _FIRST:
        text = f"CASE WHEN {first.text} = '{_FIRST}'::int8 AND {second.text} = -1 THEN NULL ELSE {text} END"
    most = first.largest if symbol == "/" else second.largest
    return Written(text, ValueKind.INTEGER, *((-most, most) if most is not None else (None, None)))


_WIDE = {"/": "div", "%": "mod"}
"""The same for decimals in their steps, which a power of ten divides, or what is never zero."""


def attempt(writer: StatementWriter, node: exp.Try, scope: WriterScope) -> Written:
    """What gives NULL where integers leave 64 bits; all else is written so that it cannot fail anyway."""
    inner = node.this.unnest()
    symbol = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*"}.get(type(inner))
    if symbol is not None:
        first, second = writer.write(inner.this, scope), writer.write(inner.expression, scope)
        ends = {"+": first.plus, "-": first.minus, "*": first.times}[symbol](second)
        if first.kind is ValueKind.INTEGER and second.kind is ValueKind.INTEGER:
            return _attempt(f"({first.text}::numeric {symbol} {second.text})", ends)
        if {first.kind, second.kind} <= {ValueKind.INTEGER, ValueKind.WIDE}:
            return Written(
                _within_38_digits(f"({first.text} {symbol} {second.text})"), ValueKind.WIDE, *_in_digits(ends)
            )
    if isinstance(inner, (exp.Abs, exp.Neg)) and not isinstance(inner.this, exp.Literal):
        value = writer.write(inner.this, scope)
        if value.kind is ValueKind.INTEGER:
            sign, ends = ("abs", _absolute_ends(value)) if isinstance(inner, exp.Abs) else ("-", _negative_ends(value))
            return _attempt(f"{sign}({value.text}::numeric)", ends)
    return writer.write(inner, scope)


def _attempt(wide: str, ends: Ends) -> Written:
    """A numeric as an integer that is missing outside 64 bits, so that what is there lies within both bounds."""
    low, high = (None if end is None else min(max(end, Fraction(_FIRST)), Fraction(_LAST)) for end in ends)
    return Written(within_64_bits(wide), ValueKind.INTEGER, low, high)


def _negative_ends(value: Written) -> Ends:
    low, high = (None if end is None else -end for end in (value.high, value.low))
    return low, high


def _absolute_ends(value: Written) -> Ends:
    return Fraction(0), value.largest


def _negative(writer: StatementWriter, node: exp.Neg, scope: WriterScope) -> Written:
    value = writer.write(node.this, scope)
    return Written(f"(-{value.text})", value.kind, *_negative_ends(value), whole=value.whole)


def _absolute(writer: StatementWriter, node: exp.Abs, scope: WriterScope) -> Written:
    value = writer.write(node.this, scope)
    return Written(f"abs({value.text})", value.kind, *_absolute_ends(value), whole=value.whole)


# Rounding.


def _floor(function: str) -> Rule:
    def rule(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
        value = _real(writer.write(node.this, scope))  # plans take the floor of an integer as a double, too
        return Written(f"{function}({value.text})", ValueKind.REAL, *_by_one(value), whole=True)

    return rule


def _truncate(writer: StatementWriter, node: exp.Trunc, scope: WriterScope) -> Written:
    value = writer.write(node.this, scope)
    if value.kind is ValueKind.INTEGER:
        return value
    return Written(f"trunc({value.text})", ValueKind.REAL, *_by_one(value), whole=True)


def _round(writer: StatementWriter, node: exp.Round, scope: WriterScope) -> Written:
    """Halves are rounded away from zero; PostgreSQL's own function for doubles rounds them to even."""
    value = writer.write(node.this, scope)
    if node.args.get("decimals") is None:
        return value if value.kind is ValueKind.INTEGER else _rounded(value)
    digits = writer.write(node.args["decimals"], scope).point
    if digits is None:
        raise Untranslatable("digits that are no constant")
    value, scale = _real(value), 10 ** int(digits)
    moved = _rounded(Written(f"({value.text} * {double(scale)})", ValueKind.REAL))
    most = double(float(LARGEST / scale) * (1 - 2**-50))
    text = f"CASE WHEN abs({value.text}) <= {most} THEN {moved.text} / {double(scale)} ELSE {value.text} END"
    return Written(text, ValueKind.REAL, *_by_one(value))


def _rounded(value: Written) -> Written:
    """To add minus zero leaves zeros their sign."""
    up = f"CASE WHEN abs({value.text} - trunc({value.text})) >= 0.5 THEN sign({value.text}) ELSE {double(-0.0)} END"
    return Written(f"(trunc({value.text}) + {up})", ValueKind.REAL, *_by_one(value), whole=True)


def _by_one(value: Written) -> Ends:
    """Rounded to a whole number, or to digits, which takes a product and a quotient that are rounded themselves."""
    return _finite(value.plus(Written("", ValueKind.REAL, Fraction(-1), Fraction(1))))


# Functions.


def _sign(writer: StatementWriter, node: exp.Sign, scope: WriterScope) -> Written:
    value = _real(writer.write(node.this, scope))
    return Written(f"sign({value.text})", ValueKind.REAL, Fraction(-1), Fraction(1), whole=True)


def _guard(function: str, test: str) -> Rule:
    """A function that PostgreSQL refuses outside its domain, where plans have NULL already."""

    def rule(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
        value = _real(writer.write(node.this, scope))
        return Written(f"CASE WHEN {value.text} {test} THEN {function}({value.text}) END", ValueKind.REAL)

    return rule


def _logarithm(writer: StatementWriter, node: exp.Log, scope: WriterScope) -> Written:
    if node.this.name != "10":
        raise Untranslatable("LOG2: write LN(x) / LN(2)")
    value = _real(writer.write(node.expression, scope))
    return Written(f"CASE WHEN {value.text} > 0 THEN log({value.text}) END", ValueKind.REAL)


def _cube_root(writer: StatementWriter, node: exp.Cbrt, scope: WriterScope) -> Written:
    return Written(f"cbrt({_real(writer.write(node.this, scope)).text})", ValueKind.REAL)


def _exponential(writer: StatementWriter, node: exp.Exp, scope: WriterScope) -> Written:
    value = _real(writer.write(node.this, scope))
    if clamp_between(value, -700, 700):
        return Written(f"exp({value.text})", ValueKind.REAL, Fraction(0), LARGEST / 2**10)
    last, first = double(709.782712893384), double(-745.133219101941)
    overflow = f"{value.text} > {last} AND {value.text} <= {INFINITY}"
    text = f"CASE WHEN {overflow} THEN {INFINITY} WHEN {value.text} < {first} THEN 0 ELSE exp({value.text}) END"
    return Written(text, ValueKind.REAL)


def _power(writer: StatementWriter, node: exp.Pow, scope: WriterScope) -> Written:
    base, exponent = _real(writer.write(node.this, scope)), _real(writer.write(node.expression, scope))
    x, y = base.text, exponent.text
    if _is_small_power(base, exponent):
        return Written(f"power({x}, {y})", ValueKind.REAL, whole=True)
    # The logarithm of the result tells whether it fits; close to the largest double it is taken for infinity.
    size = f"abs(ln(NULLIF(abs({x}), 0))) * GREATEST({double(1e-200)}, LEAST(abs({y}), {double(1e19)}))"
    # Half of a constant that is tiny would vanish, and PostgreSQL computes with constants in every branch.
    odd = f"GREATEST(abs({y}), 0.5) - 2 * floor(GREATEST(abs({y}), 0.5) * 0.5) = 1"
    sign = f"CASE WHEN atan2({x}, -1) < 0 AND {odd} THEN -1 ELSE 1 END"  # zero has one too, which no comparison tells
    grows = f"(abs({x}) > 1) = ({y} > 0)"
    text = (
        f"CASE WHEN {y} IS NULL THEN NULL WHEN {x} = 0 AND {y} >= 0 THEN power({x}, {y})"
        f" WHEN {x} < 0 AND {y} <> floor({y}) AND abs({y}) <= {INFINITY} THEN"
        f" CASE WHEN {x} = -{INFINITY} THEN power({INFINITY}, {y}) ELSE 'NaN'::float8 END"
        f" WHEN {x} <> 0 AND (abs({x}) >= {INFINITY} OR abs({y}) >= {INFINITY} OR {y} = 1"
        f" OR {size} <= {double(709.78271289)}) THEN power({x}, {y})"
        f" WHEN {grows} OR {size} >= {double(745.13321)} THEN"
        f" {sign} * CASE WHEN {grows} THEN {INFINITY} ELSE 0 END ELSE power({x}, {y}) END"
    )
    return Written(text, ValueKind.REAL)


def _is_small_power(base: Written, exponent: Written) -> bool:
    """Whether whole numbers are multiplied with themselves a few times, and stay far from every edge."""
    few = exponent.whole and exponent.point is not None and 0 < exponent.point <= 8
    return few and base.whole and base.largest is not None and max(base.largest, Fraction(1)) ** 8 < LARGEST


def _extreme(name: str, tighter: Callable[[list[Fraction]], Fraction]) -> Rule:
    """GREATEST and LEAST pass over what is missing, so a constant among them is a bound on the result."""

    def rule(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
        parts = [writer.write(one, scope) for one in (node.this, *node.expressions)]
        kinds = {part.kind for part in parts}
        kind = next((one for one in (ValueKind.REAL, ValueKind.WIDE) if one in kinds), parts[0].kind)
        low, high = hull(parts)
        if points := [
            point for one in (node.this, *node.expressions) if (point := _point(writer, one, scope)) is not None
        ]:
            low, high = (tighter(points), high) if name == "GREATEST" else (low, tighter(points))
        text = f"{name}({', '.join(part.text for part in parts)})"
        return Written(text, kind, low, high, whole=all(part.whole for part in parts))

    return rule


def _point(writer: StatementWriter, node: Any, scope: WriterScope) -> Fraction | None:
    """A constant, which is never missing; what has one value may be missing all the same."""
    node = node.unnest()
    is_bound = isinstance(node, exp.Cast) and isinstance(node.this, exp.Placeholder)
    return writer.write(node, scope).point if is_bound or isinstance(node, (exp.Literal, exp.Neg)) else None


def _is_nan(writer: StatementWriter, node: exp.IsNan, scope: WriterScope) -> Written:
    return Written(f"({_real(writer.write(node.this, scope)).text} = {double(math.nan)})", ValueKind.BOOLEAN)


def _is_finite(writer: StatementWriter, node: exp.Anonymous, scope: WriterScope) -> Written:
    value = _real(writer.write(node.expressions[0], scope))
    return Written(f"(abs({value.text}) < {INFINITY})", ValueKind.BOOLEAN)


NUMBER_RULES: Mapping[type[exp.Expr], Rule] = {
    exp.Add: _add,
    exp.Sub: _subtract,
    exp.Mul: _multiply,
    exp.Div: _divide,
    exp.IntDiv: _divide_whole,
    exp.Mod: _remainder,
    exp.Neg: _negative,
    exp.Abs: _absolute,
    exp.Floor: _floor("floor"),
    exp.Ceil: _floor("ceil"),
    exp.Trunc: _truncate,
    exp.Round: _round,
    exp.Sign: _sign,
    exp.Sqrt: _guard("sqrt", ">= 0"),
    exp.Ln: _guard("ln", "> 0"),
    exp.Log: _logarithm,
    exp.Cbrt: _cube_root,
    exp.Exp: _exponential,
    exp.Pow: _power,
    exp.Greatest: _extreme("GREATEST", max),
    exp.Least: _extreme("LEAST", min),
    exp.Try: attempt,
    exp.IsNan: _is_nan,
}
NUMBER_FUNCTIONS: Mapping[str, Rule] = {"isfinite": _is_finite}
