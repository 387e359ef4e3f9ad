"""Arithmetic and mathematics on rows, and the fixed list of row functions.

Every operator that an engine may refuse for some row stands alone inside a TRY, which gives NULL there; its operands
are total themselves, so an engine that computes a common part once, outside the TRY around it, cannot fail either. No
TRY is left out because of what planning knows about values. Floating-point overflow gives infinity, which the
aggregates treat as missing.

A function has what it needs, what it returns, and a template that cannot raise. Every rule states the result's type and
a public interval that holds all its values. What is not listed is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from discreet.catalog.column import ColumnType
from discreet.exact.ball import exp_down, exp_up, ln_down, ln_up, sqrt_up
from discreet.query.expressions.dates import difference, shift_date
from discreet.query.expressions.decimals import (
    Way,
    as_integer,
    as_real,
    combine_decimals,
    remainder,
    round_decimal,
    to_decimal,
)
from discreet.query.expressions.expression import Call, Constant, DecimalType, Expression, Type
from discreet.query.expressions.interval import UNKNOWN, Interval
from discreet.query.expressions.logic import LOGIC_RULES
from discreet.query.expressions.texts import TEXT_RULES
from discreet.query.expressions.types import (
    Arguments,
    Rule,
    any_nullable,
    as_type,
    common_type,
    is_null,
    number_type,
    slots,
)
from discreet.query.parse.places import refuse

__all__ = ["NUMBER_RULES", "RULES"]


INTEGER, REAL, TEXT = ColumnType.INTEGER, ColumnType.REAL, ColumnType.TEXT
DATE, TIMESTAMP = ColumnType.DATE, ColumnType.TIMESTAMP
_LARGEST_EXPONENT = 600
_LARGEST_POWER = 8


def _numbers(node: exp.Expr, arguments: Arguments, count: int = 1) -> tuple[Type, list[Expression]]:
    """Check that there are ``count`` numbers; NULL becomes one, so that the engine knows its type."""
    if len(arguments) != count:
        raise refuse(node, f"this takes {count} number{'s' * (count > 1)}, not {len(arguments)}", "leave the rest out")
    typed = [as_type(argument, INTEGER) if is_null(argument) else argument for argument in arguments]
    for argument in typed:
        if not argument.type.is_numeric:
            raise refuse(node, f"arithmetic needs numbers, not {argument.type.value}", "use CAST(… AS INTEGER) first")
    return number_type(argument.type for argument in typed), typed


def _reals(node: exp.Expr, arguments: Arguments, count: int = 1) -> list[Expression]:
    """The same where the result is a real number: decimals become one first, and integers where they are written."""
    _, typed = _numbers(node, arguments, count)
    return [as_real(each) if isinstance(each.type, DecimalType) else each for each in typed]


def _total(kind: Type, interval: Interval, template: str, arguments: tuple[Expression, ...]) -> Call:
    """A call of an operator: on doubles it never fails, on integers it is missing where 64 bits are too few."""
    if kind is REAL:
        return Call(REAL, interval.in_doubles(), any_nullable(*arguments), template, arguments)
    if isinstance(kind, DecimalType):  # the negative and the size of a decimal have as many digits
        return Call(kind, interval, any_nullable(*arguments), f"TRY({template})", arguments)
    fits = interval.known is not None and interval == interval.in_words()
    return Call(INTEGER, interval.in_words(), any_nullable(*arguments) or not fits, f"TRY({template})", arguments)


def _arithmetic(symbol: str, combine: Callable[[Interval, Interval], Interval]) -> Rule:
    def rule(node: exp.Expr, arguments: Arguments) -> Expression:
        if any(argument.type in (DATE, TIMESTAMP) for argument in arguments):
            return _dates(node, symbol, arguments)
        kind, (first, second) = _numbers(node, arguments, 2)
        if isinstance(kind, DecimalType):
            return combine_decimals(node, symbol, combine, first, second)
        pair = (first, second) if kind is INTEGER else (as_type(first, REAL), as_type(second, REAL))
        return _total(kind, combine(pair[0].interval, pair[1].interval), f"{{0}} {symbol} {{1}}", pair)

    return rule


def _dates(node: exp.Expr, symbol: str, arguments: Arguments) -> Expression:
    """Dates are subtracted in whole days, and moved by whole days."""
    first, second = arguments
    if symbol == "-" and second.type in (DATE, TEXT) and first.type in (DATE, TEXT):
        return difference(node, "day", first, second)
    if symbol in ("+", "-") and first.type is DATE and second.type is INTEGER:
        return shift_date(node, first, second, "day", backwards=symbol == "-")
    if symbol == "+" and first.type is INTEGER and second.type is DATE:
        return shift_date(node, second, first, "day")
    rule = "dates are subtracted from each other, or moved by whole days"
    raise refuse(node, rule, "write date_diff('hour', first, last), or day + INTERVAL 30 DAY")


def _divide(node: exp.Expr, arguments: Arguments) -> Expression:
    kind, _ = _numbers(node, arguments, 2)
    if kind is INTEGER and node.args.get("typed"):  # some dialects divide whole numbers without a remainder
        return _divide_whole(node, arguments)
    first, second = _reals(node, arguments, 2)
    template = "CAST({0} AS DOUBLE) / NULLIF(CAST({1} AS DOUBLE), 0)"
    return Call(REAL, _quotient(first, second), True, template, (first, second))


def _quotient(first: Expression, second: Expression) -> Interval:
    """Where quotients of doubles lie; integers are made doubles first."""
    return (first.interval.in_doubles() / second.interval.in_doubles()).in_doubles()


def _divide_whole(node: exp.Expr, arguments: Arguments) -> Expression:
    kind, (first, second) = _numbers(node, arguments, 2)
    if kind is not INTEGER:  # databases disagree: 7.5 // 2 is 3 in some, and 3.75 in others
        raise refuse(node, "// needs whole numbers", "write floor(x / y)")
    interval = (first.interval / second.interval).whole(1).in_words()
    return Call(INTEGER, interval, True, "TRY({0} // NULLIF({1}, 0))", (first, second))


def _remainder(node: exp.Expr, arguments: Arguments) -> Expression:
    kind, (first, second) = _numbers(node, arguments, 2)
    if kind is REAL:
        raise refuse(node, "% needs whole numbers or decimals", "use CAST(… AS INTEGER) first")
    divisor = second.interval.magnitude().high
    lowest = first.interval.low
    low = Fraction(0) if lowest is not None and lowest >= 0 else None if divisor is None else -divisor
    if isinstance(kind, DecimalType):
        return remainder(first, second, Interval(low, divisor))
    return Call(INTEGER, Interval(low, divisor), True, "TRY({0} % NULLIF({1}, 0))", (first, second))


def _negative(node: exp.Expr, arguments: Arguments) -> Expression:
    kind, (argument,) = _numbers(node, arguments)
    if isinstance(argument, Constant) and isinstance(argument.value, (int, Fraction)):
        value = -argument.value  # a minus sign before a number belongs to the number
        return to_decimal(value, kind.scale) if isinstance(kind, DecimalType) else Constant.of(value)
    # The engine widens the negative of the least integer; a difference it refuses, which TRY makes NULL.
    template = "CAST(0 AS BIGINT) - {0}" if kind is INTEGER else "-{0}"
    return _total(kind, -argument.interval, template, (argument,))


def _absolute(node: exp.Expr, arguments: Arguments) -> Expression:
    kind, (argument,) = _numbers(node, arguments)
    return _total(kind, argument.interval.magnitude(), "abs({0})", (argument,))


def _rounded(function: Way) -> Rule:
    def rule(node: exp.Expr, arguments: Arguments) -> Expression:
        kind, (argument,) = _numbers(node, arguments)
        if isinstance(kind, DecimalType):
            return as_integer(argument, function)
        template = f"TRY_CAST({function}({{0}}) AS BIGINT)"
        return Call(INTEGER, argument.interval.in_doubles().whole().in_words(), True, template, (argument,))

    return rule


def _round(node: exp.Expr, arguments: Arguments) -> Expression:
    if len(arguments) == 1:
        return _rounded("round")(node, arguments)
    digits = arguments[1]
    if not isinstance(digits, Constant) or not isinstance(digits.value, int) or not 0 <= digits.value <= 12:
        raise refuse(node, "the digits of ROUND must be a number from 0 to 12", "write ROUND(x, 2)")
    kind, (argument,) = _numbers(node, arguments[:1])
    if isinstance(kind, DecimalType):
        return round_decimal(argument, int(digits.value), "round")
    template = f"round(CAST({{0}} AS DOUBLE), {int(digits.value)})"
    return Call(REAL, argument.interval.in_doubles().whole().of_function(), argument.nullable, template, (argument,))


def _square_root(node: exp.Expr, arguments: Arguments) -> Expression:
    (argument,) = _reals(node, arguments)
    high = argument.interval.high
    top = None if high is None else sqrt_up(max(high, Fraction(0)))
    template = "CASE WHEN {0} >= 0 THEN sqrt(CAST({0} AS DOUBLE)) END"
    return Call(REAL, Interval(Fraction(0), top).in_doubles(), True, template, (argument,))


def _truncate(node: exp.Expr, arguments: Arguments) -> Expression:
    if len(arguments) == 1:
        return _rounded("trunc")(node, arguments)
    raise refuse(node, "TRUNC takes one number here", "write TRUNC(x), or ROUND(x, 2)")


def _logarithm(node: exp.Expr, arguments: Arguments) -> Call:
    (argument,) = _reals(node, arguments)
    interval = argument.interval.in_doubles()
    low = ln_down(interval.low) if interval.low is not None and interval.low > 0 else None
    high = ln_up(interval.high) if interval.high is not None and interval.high > 0 else None
    found = Interval(low, high).of_function()
    return Call(REAL, found, True, "CASE WHEN {0} > 0 THEN ln(CAST({0} AS DOUBLE)) END", (argument,))


def _logarithm_of_base(node: exp.Expr, arguments: Arguments) -> Expression:
    """LOG(x) and LOG10(x) have base 10, LOG2(x) has base 2; other bases are not needed."""
    base = arguments[0] if len(arguments) == 2 else Constant.of(10)
    number = base.value if isinstance(base, Constant) and isinstance(base.value, int) else 0
    if number not in (2, 10):
        raise refuse(node, "logarithms have base 2, 10 or e", "write LN(x) or LOG2(x) or LOG10(x)")
    natural = _logarithm(node, arguments[-1:])
    scale = Interval(ln_down(Fraction(number)), ln_up(Fraction(number)))
    function = "log2" if number == 2 else "log10"
    template = f"CASE WHEN {{0}} > 0 THEN {function}(CAST({{0}} AS DOUBLE)) END"
    return Call(REAL, (natural.interval / scale).of_function(), True, template, natural.arguments)


def _cube_root(node: exp.Expr, arguments: Arguments) -> Expression:
    (argument,) = _reals(node, arguments)
    ones = Interval.of(-1, 1)
    interval = argument.interval.hull(ones).of_function()
    return Call(REAL, interval, argument.nullable, "cbrt(CAST({0} AS DOUBLE))", (argument,))


def _exponential(node: exp.Expr, arguments: Arguments) -> Expression:
    (argument,) = _reals(node, arguments)
    ends = argument.interval.in_doubles().known
    bounded = ends is not None and abs(ends[0]) < _LARGEST_EXPONENT and abs(ends[1]) < _LARGEST_EXPONENT
    interval = Interval(exp_down(ends[0]), exp_up(ends[1])) if ends and bounded else Interval(Fraction(0), None)
    return Call(REAL, interval.of_function(), True, "exp(CAST({0} AS DOUBLE))", (argument,))


def _power(node: exp.Expr, arguments: Arguments) -> Expression:
    base, exponent = _reals(node, arguments, 2)
    interval, real = UNKNOWN, base.interval.in_doubles()
    if isinstance(exponent, Constant) and isinstance(exponent.value, int) and 0 < exponent.value <= _LARGEST_POWER:
        interval = real
        for _ in range(exponent.value - 1):
            interval = interval * real
        if exponent.value == 2:
            interval = real.magnitude() * real.magnitude()
    return Call(REAL, interval.of_function(), True, "pow(CAST({0} AS DOUBLE), CAST({1} AS DOUBLE))", (base, exponent))


def _sign(node: exp.Expr, arguments: Arguments) -> Expression:
    _, (argument,) = _numbers(node, arguments)
    return Call(INTEGER, Interval.of(-1, 1), argument.nullable, "CAST(sign({0}) AS BIGINT)", (argument,))


def _extreme(function: str) -> Rule:
    def rule(node: exp.Expr, arguments: Arguments) -> Expression:
        kind = common_type(node, arguments)
        cast = tuple(as_type(argument, kind) for argument in arguments)
        interval = _greatest(cast) if function == "greatest" else -_greatest([_mirror(each) for each in cast])
        nullable = all(argument.nullable for argument in cast)
        return Call(kind, interval, nullable, f"{function}({slots(len(cast))})", cast)

    return rule


def _greatest(arguments: Arguments) -> Interval:
    """The engine passes over missing values, so what is never missing is a floor, and anything may be the result."""
    interval = arguments[0].interval
    for argument in arguments[1:]:
        interval = interval.hull(argument.interval)
    floors = [each.interval.low for each in arguments if not each.nullable and each.interval.low is not None]
    return Interval(max(floors), interval.high) if floors else interval


def _mirror(argument: Expression) -> Expression:
    return replace(argument, interval=-argument.interval)


NUMBER_RULES: dict[type[exp.Expr], Rule] = {
    exp.Add: _arithmetic("+", Interval.__add__),
    exp.Sub: _arithmetic("-", Interval.__sub__),
    exp.Mul: _arithmetic("*", Interval.__mul__),
    exp.Div: _divide,
    exp.IntDiv: _divide_whole,
    exp.Mod: _remainder,
    exp.Neg: _negative,
    exp.Abs: _absolute,
    exp.Floor: _rounded("floor"),
    exp.Ceil: _rounded("ceil"),
    exp.Round: _round,
    exp.Sqrt: _square_root,
    exp.Ln: _logarithm,
    exp.Log: _logarithm_of_base,
    exp.Cbrt: _cube_root,
    exp.Trunc: _truncate,
    exp.SafeDivide: _divide,
    exp.Exp: _exponential,
    exp.Pow: _power,
    exp.Sign: _sign,
    exp.Greatest: _extreme("greatest"),
    exp.Least: _extreme("least"),
}
"""Arithmetic and mathematics."""


RULES: dict[type[exp.Expr], Rule] = NUMBER_RULES | LOGIC_RULES | TEXT_RULES
"""How each allowed function is read; a function that is neither here nor read by `reading` itself is refused."""
