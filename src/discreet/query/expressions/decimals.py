"""Decimals on rows: numbers with a point are exact, as in standard SQL.

A number with a point (0.06, 12.50) is a decimal of up to 38 digits, and so is what is cast to DECIMAL. With decimals
and whole numbers `+`, `-`, `*`, `%`, comparisons, BETWEEN, IN, CASE, COALESCE, GREATEST, LEAST, ABS, ROUND(x, 2) and
sums per person are exact: 0.1 + 0.2 = 0.3. Halves are rounded away from zero. What has more than 38 digits is missing.
FLOOR, CEIL, TRUNC, ROUND(x) and CAST(x AS BIGINT) give whole numbers, which have 64 bits or are missing.

A decimal becomes the nearest real number where it meets one, in `/`, in mathematical functions, and where an aggregate
or a group shows it. Real numbers are doubles: those with an exponent (1e-2), and columns of type real, also where the
source keeps them as DECIMAL. Such a column equals 0.07 where the source does, and price * (1 - discount) is rounded as
doubles are.

Every engine computes with integers, which count steps of the last digit, so that 0.3 is 3 steps of 0.1, and its own
rules for the digits of a result do not matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Literal

from sqlglot import exp

from discreet.catalog.column import ColumnType
from discreet.query.expressions.expression import Call, Constant, DecimalType, Expression
from discreet.query.expressions.interval import UNKNOWN, Interval
from discreet.query.parse.places import refuse

__all__ = [
    "MOST_DIGITS",
    "MOST_PLACES",
    "WIDENED",
    "Way",
    "as_integer",
    "as_key",
    "as_real",
    "as_text",
    "combine_decimals",
    "from_real",
    "from_text",
    "get_scale",
    "is_rescaled",
    "remainder",
    "rescale",
    "round_decimal",
    "to_decimal",
    "within",
]


INTEGER, REAL, TEXT = ColumnType.INTEGER, ColumnType.REAL, ColumnType.TEXT
MOST_DIGITS = 38
MOST_PLACES = 37
"""A step of 10^-38 would leave no digit before the point, and no 1 to compare with."""
WIDENED = "TRY_CAST({0} AS DECIMAL(38, 0))"
"""An integer as a decimal without digits after the point."""
_RESCALED = "TRY({0} * {1})"
"""The same value in finer steps: the second argument is a power of ten."""
_LAST = 10**MOST_DIGITS - 1
_EXACT = 2**53
"""No integer closer to zero is another one as a double."""
_EXACT_POWER = 22
"""The last power of ten that is a double."""
_KEY_DIGITS = 15
"""Decimals of so many digits are different doubles, and are shown with their own digits."""
_QUOTIENT = "TRY_CAST(TRY(TRY_CAST({0} AS HUGEINT) // TRY_CAST({1} AS HUGEINT)) AS DECIMAL(38, 0))"

Way = Literal["floor", "ceil", "trunc", "round"]
"""How digits are left out."""


def to_decimal(value: Fraction | int, scale: int) -> Constant:
    """The constant with so many digits after the point."""
    return Constant(DecimalType(scale), Interval.of(value, value), False, Fraction(value))


def get_scale(expression: Expression) -> int:
    """How many digits after the point an integer or decimal has."""
    return expression.type.scale if isinstance(expression.type, DecimalType) else 0


def rescale(expression: Expression, scale: int) -> Expression:
    """An integer or decimal with as many digits after the point, or more; missing where 38 digits are too few."""
    value = expression.value if isinstance(expression, Constant) else None
    if isinstance(value, (int, Fraction)) and abs(value) * 10**scale <= _LAST:
        return to_decimal(value, scale)
    more = scale - get_scale(expression)
    if expression.type is INTEGER:
        expression = Call(DecimalType(0), expression.interval, expression.nullable, WIDENED, (expression,))
    if not more:
        return expression
    return _total(scale, expression.interval, _RESCALED, (expression, to_decimal(10**more, 0)))


def is_rescaled(expression: Call) -> bool:
    """Whether it is its first argument with more digits after the point, and no other number."""
    if not isinstance(expression.type, DecimalType) or expression.template != _RESCALED:
        return False
    inner, power = expression.arguments
    return power == to_decimal(10 ** max(expression.type.scale - get_scale(inner), 0), 0)


def _total(scale: int, interval: Interval, template: str, arguments: tuple[Expression, ...]) -> Expression:
    """A call of an operator that is missing where 38 digits are too few."""
    fits = interval.known is not None and interval == interval.in_digits(scale)
    nullable = any(argument.nullable for argument in arguments) or not fits
    return Call(DecimalType(scale), interval.in_digits(scale), nullable, template, arguments)


def combine_decimals(
    node: exp.Expr,
    symbol: str,
    combine: Callable[[Interval, Interval], Interval],
    first: Expression,
    second: Expression,
) -> Expression:
    """The sum, difference or product of two integers and decimals: constants are added up here, the rest in steps."""
    is_product = symbol == "*"
    scales = get_scale(first), get_scale(second)
    scale = sum(scales) if is_product else max(scales)
    if scale > MOST_PLACES:
        rule = f"this has {scale} digits after the point, and a decimal has at most {MOST_PLACES}"
        raise refuse(node, rule, "ROUND it, or CAST(… AS DOUBLE)")
    interval = combine(first.interval, second.interval)
    if isinstance(first, Constant) and isinstance(second, Constant) and interval.known is not None:
        return _constant(node, interval.known[0], scale)
    first, second = (rescale(each, get_scale(each) if is_product else scale) for each in (first, second))
    return _total(scale, interval, f"TRY({{0}} {symbol} {{1}})", (first, second))


def _constant(node: exp.Expr, value: Fraction, scale: int) -> Constant:
    if abs(value) * 10**scale > _LAST:
        raise refuse(node, f"a decimal has at most {MOST_DIGITS} digits", "write 1e40 for a real number")
    return to_decimal(value, scale)


def remainder(first: Expression, second: Expression, interval: Interval) -> Expression:
    """What is left of a division without a point; missing where the divisor is zero."""
    scale = max(get_scale(first), get_scale(second))
    pair = rescale(first, scale), rescale(second, scale)
    return Call(DecimalType(scale), interval, True, "TRY({0} % NULLIF({1}, 0))", pair)


# Fewer digits.


def round_decimal(expression: Expression, scale: int, way: Way) -> Expression:
    """A decimal with fewer digits after the point; halves are rounded away from zero."""
    fewer = get_scale(expression) - scale
    if fewer <= 0:
        return expression
    if isinstance(expression, Constant) and isinstance(expression.value, (int, Fraction)):
        return to_decimal(_rounded_number(Fraction(expression.value), scale, way), scale)
    ends = expression.interval.low, expression.interval.high
    interval = Interval(*(None if end is None else _rounded_number(end, scale, way) for end in ends))
    kind, step = DecimalType(scale), to_decimal(10**fewer, 0)
    whole = Call(kind, interval, expression.nullable, _QUOTIENT, (expression, step))
    if way == "trunc":
        return whole
    rest = Call(DecimalType(0), UNKNOWN, expression.nullable, "TRY({0} % {1})", (expression, step))
    halves = [to_decimal(sign * 10**fewer // 2, 0) for sign in (1, -1)] if way == "round" else []
    return Call(kind, interval, expression.nullable, f"TRY({{0}} + {_STEPS_BY_REST[way]})", (whole, rest, *halves))


def _rounded_number(value: Fraction, scale: int, way: Way) -> Fraction:
    return Fraction(_WAYS[way](value * 10**scale), 10**scale)


_WAYS: dict[Way, Callable[[Fraction], int]] = {
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "round": lambda value: math.trunc(value + Fraction(1 if value > 0 else -1, 2)),
}
_STEPS_BY_REST: dict[Way, str] = {
    "floor": "CASE WHEN {1} < 0 THEN -1 ELSE 0 END",
    "ceil": "CASE WHEN {1} > 0 THEN 1 ELSE 0 END",
    "round": "CASE WHEN {1} >= {2} THEN 1 WHEN {1} <= {3} THEN -1 ELSE 0 END",
}
"""What is added to a quotient that was cut off, by what was cut off."""


def within(expression: Expression, digits: int) -> Expression:
    """The decimal where so many digits hold it, and missing elsewhere."""
    if digits >= MOST_DIGITS:
        return expression
    scale = get_scale(expression)
    first, last = (to_decimal(Fraction(sign * (10**digits - 1), 10**scale), scale) for sign in (-1, 1))
    interval = expression.interval.in_digits(scale, digits)
    if isinstance(expression, Constant) and interval == expression.interval:
        return expression
    if interval.known is None:
        interval = first.interval.hull(last.interval)
    template = "CASE WHEN {0} BETWEEN {1} AND {2} THEN {0} END"
    return Call(expression.type, interval, True, template, (expression, first, last))


# From and to other types.


def as_integer(expression: Expression, way: Way) -> Expression:
    """A decimal without its digits after the point, as an integer; missing where 64 bits are too few."""
    whole = round_decimal(expression, 0, way)
    interval = whole.interval.in_words()
    if isinstance(whole, Constant) and whole.value is not None and whole.interval == interval:
        return Constant.of(int(whole.interval.low or 0))
    fits = interval.known is not None and interval == whole.interval
    return Call(INTEGER, interval, whole.nullable or not fits, "TRY_CAST({0} AS BIGINT)", (whole,))


def as_real(expression: Expression) -> Expression:
    """The double that is nearest to a decimal."""
    if isinstance(expression, Constant) and isinstance(expression.value, (int, Fraction)):
        return Constant.of(Fraction(expression.value))
    scale = get_scale(expression)
    # An engine's own cast may round several times. One quotient of doubles is rounded once, and so is a text.
    template = f"TRY_CAST(CAST({{0}} AS VARCHAR) || 'e-{scale}' AS DOUBLE)"
    if scale <= _EXACT_POWER:
        quotient = f"CAST({{0}} AS DOUBLE) / {float(10**scale)!r}"
        template = f"CASE WHEN {{0}} BETWEEN -{_EXACT} AND {_EXACT} THEN {quotient} ELSE {template} END"
    return Call(REAL, expression.interval.in_doubles(), expression.nullable, template, (expression,))


def as_text(expression: Expression) -> Expression:
    """All its digits, as many after the point as its type has."""
    scale = get_scale(expression)
    if not scale:
        return Call(TEXT, UNKNOWN, expression.nullable, "TRY_CAST({0} AS VARCHAR)", (expression,))
    step = to_decimal(10**scale, 0)
    parts = [
        Call(DecimalType(0), UNKNOWN, expression.nullable, template, (expression, step))
        for template in (_QUOTIENT, "TRY({0} % {1})")
    ]
    whole, rest = (Call(DecimalType(0), UNKNOWN, part.nullable, "TRY(abs({0}))", (part,)) for part in parts)
    digits = f"right('{'0' * scale}' || CAST({{2}} AS VARCHAR), {{3}})"
    template = f"CASE WHEN {{0}} < 0 THEN '-' ELSE '' END || CAST({{1}} AS VARCHAR) || '.' || {digits}"
    return Call(TEXT, UNKNOWN, expression.nullable, template, (expression, whole, rest, Constant.of(scale)))


def as_key(node: exp.Expr, expression: Expression) -> Expression:
    """A decimal as the double that an answer shows it as, where different decimals are different doubles."""
    if not isinstance(expression.type, DecimalType):
        return expression
    ends, step = expression.interval.known, Fraction(1, 10**expression.type.scale)
    if ends is None or max(abs(end) for end in ends) > step * 10**_KEY_DIGITS:
        rule = f"a decimal that names groups has at most {_KEY_DIGITS} digits, and its bounds allow more"
        raise refuse(node, rule, "ROUND it, keep WHERE x BETWEEN 0 AND 100, or CAST(… AS DOUBLE)")
    return as_real(expression)


def from_real(expression: Expression, digits: int, scale: int) -> Expression:
    """A real number rounded to a decimal; missing where it has too many digits before the point."""
    most, step = Fraction(10) ** (digits - scale), Fraction(1, 10**scale)
    numbers = [Constant.of(Fraction(number)) for number in (-most, most, 10**scale)]
    template = "CASE WHEN {0} BETWEEN {1} AND {2} THEN TRY_CAST(round({0} * {3}) AS DECIMAL(38, 0)) END"
    known = expression.interval if expression.interval.known is not None else Interval(-most, most)
    interval = (known.of_function() + Interval(-step, step)).within(-most, most)
    found = Call(DecimalType(scale), interval, True, template, (expression, *numbers))
    return within(found, digits)


def from_text(expression: Expression, digits: int, scale: int) -> Expression:
    """A text read as a decimal; missing where it is none, or has too many digits before the point."""
    # DECIMAL(38, 0) is the type of steps, and no text is read as one of them
    read = f"TRY_CAST({{0}} AS DECIMAL({f'{digits}, {scale}' if scale else digits}))"
    template = f"TRY_CAST(replace(CAST({read} AS VARCHAR), '.', '') AS DECIMAL(38, 0))"
    last = Fraction(10**digits - 1, 10**scale)
    return Call(DecimalType(scale), Interval(-last, last), True, template, (expression,))
