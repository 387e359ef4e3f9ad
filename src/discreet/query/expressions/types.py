"""Types of row expressions: which one several expressions share, and conversions that give NULL where they fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sqlglot import exp

from discreet.catalog.column import ColumnType
from discreet.query.expressions.dates import as_date, parse_date_constant
from discreet.query.expressions.decimals import (
    MOST_DIGITS,
    MOST_PLACES,
    as_integer,
    as_real,
    as_text,
    from_real,
    from_text,
    rescale,
    round_decimal,
    within,
)
from discreet.query.expressions.expression import Call, Constant, DecimalType, Expression, Type, canonical, type_name
from discreet.query.expressions.interval import UNKNOWN, Interval
from discreet.query.parse.places import refuse

__all__ = [
    "Arguments",
    "Rule",
    "any_nullable",
    "as_decimal",
    "as_type",
    "common_type",
    "is_null",
    "number_type",
    "slots",
]


INTEGER, REAL, TEXT, BOOLEAN = ColumnType.INTEGER, ColumnType.REAL, ColumnType.TEXT, ColumnType.BOOLEAN
DATE, TIMESTAMP = ColumnType.DATE, ColumnType.TIMESTAMP

Arguments = Sequence[Expression]
Rule = Callable[[exp.Expr, Arguments], Expression]
"""Reads a function: the node for refusals, and the arguments as they were read."""


def any_nullable(*arguments: Expression) -> bool:
    """Whether one of them may be missing."""
    return any(argument.nullable for argument in arguments)


def is_null(expression: Expression) -> bool:
    """Whether it is the word NULL."""
    return isinstance(expression, Constant) and expression.value is None


def slots(count: int, first: int = 0) -> str:
    """Places of a template, separated by commas."""
    return ", ".join(f"{{{k}}}" for k in range(first, count))


def number_type(kinds: Iterable[Type]) -> Type:
    """The type of what numbers of these types make together: reals among them make all of it real."""
    found = set(kinds)
    if REAL in found:
        return REAL
    scales = [kind.scale for kind in found if isinstance(kind, DecimalType)]
    return DecimalType(max(scales)) if scales else INTEGER


def common_type(node: exp.Expr, arguments: Arguments) -> Type:
    """The one type that all arguments can have without a loss that depends on the rows."""
    kinds = {argument.type for argument in arguments if not is_null(argument)}
    if not kinds:
        return TEXT
    if len(kinds) == 1:
        return kinds.pop()
    if all(kind.is_numeric for kind in kinds):
        return number_type(kinds)
    if kinds == {DATE, TIMESTAMP}:
        return TIMESTAMP
    dated = kinds & {DATE, TIMESTAMP}
    texts = [a.value for a in arguments if isinstance(a, Constant) and isinstance(a.value, str)]
    are_constant = len(texts) == len([a for a in arguments if a.type is TEXT and not is_null(a)])
    if dated and kinds <= {DATE, TIMESTAMP, TEXT} and are_constant:
        kind = TIMESTAMP if TIMESTAMP in dated else DATE
        for text in texts:
            parse_date_constant(node, text, kind)  # refuses what is no date: it would match nothing, at a price
        return kind
    names = " and ".join(sorted(kind.value for kind in kinds))
    raise refuse(node, f"{names} do not go together", "use CAST to bring them to one type")


def as_type(expression: Expression, kind: Type) -> Expression:
    """The expression with this type; what cannot be converted becomes NULL."""
    if expression.type == kind:
        return expression
    if is_null(expression):
        return Constant(kind, UNKNOWN, True, None)
    if isinstance(expression, Constant) and isinstance(expression.value, str) and kind in (DATE, TIMESTAMP):
        return parse_date_constant(None, expression.value, kind)
    if expression.type is TIMESTAMP and kind is DATE:
        return as_date(expression)
    if isinstance(kind, DecimalType):
        return _to_decimal(expression, 38, kind.scale)
    if isinstance(expression.type, DecimalType):
        return _from_decimal(expression, kind)
    if expression.type is REAL and kind is TEXT:
        expression = canonical(expression)
    interval = _converted_interval(expression, kind)
    never_fails = ({expression.type, kind} <= {INTEGER, REAL} and kind is REAL) or kind is TEXT
    nullable = expression.nullable or not never_fails
    return Call(kind, interval, nullable, f"TRY_CAST({{0}} AS {type_name(kind)})", (expression,))


def as_decimal(node: exp.Expr, expression: Expression, sizes: list[int]) -> Expression:
    """A value rounded to the digits of a DECIMAL; NULL where it has too many before the point."""
    digits, scale = sizes if len(sizes) == 2 else (sizes[0] if sizes else 18, 0 if sizes else 3)
    if not (0 < digits <= MOST_DIGITS and 0 <= scale <= min(digits, MOST_PLACES)):
        rule = f"a DECIMAL has up to {MOST_DIGITS} digits, {MOST_PLACES} of them after the point"
        raise refuse(node, rule, "use CAST(… AS DOUBLE)")
    if is_null(expression):
        return Constant(DecimalType(scale), UNKNOWN, True, None)
    if expression.type in (DATE, TIMESTAMP):
        raise refuse(node, f"a {expression.type.value} is no number", "use extract(epoch FROM x)")
    return _to_decimal(expression, digits, scale)


def _to_decimal(expression: Expression, digits: int, scale: int) -> Expression:
    if expression.type is REAL:
        return from_real(expression, digits, scale)
    if expression.type is TEXT:
        return from_text(expression, digits, scale)
    if expression.type is BOOLEAN:
        expression = as_type(expression, INTEGER)
    fewer = round_decimal(expression, scale, "round")
    return within(rescale(fewer, scale), digits)


def _from_decimal(expression: Expression, kind: ColumnType) -> Expression:
    match kind:
        case ColumnType.REAL:
            return as_real(expression)
        case ColumnType.INTEGER:
            return as_integer(expression, "round")
        case ColumnType.TEXT:
            return as_text(expression)
        case ColumnType.BOOLEAN:
            return Call(BOOLEAN, UNKNOWN, expression.nullable, "{0} <> 0", (expression,))
    return as_type(as_real(expression), kind)


def _converted_interval(expression: Expression, kind: ColumnType) -> Interval:
    if expression.type.is_numeric and kind is REAL:
        return expression.interval.in_doubles()
    if expression.type is REAL and kind is INTEGER:
        return expression.interval.whole().in_words()
    if expression.type is BOOLEAN and kind.is_numeric:
        return Interval.of(0, 1)
    if expression.type is DATE and kind is TIMESTAMP:
        return expression.interval * Interval.of(86_400, 86_400)
    return UNKNOWN
