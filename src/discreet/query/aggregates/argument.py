"""Reading what an aggregate is of: numbers with public bounds, or a refusal that says what would give them some."""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from discreet.catalog.column import ColumnType
from discreet.errors import QueryRefused
from discreet.query.expressions.decimals import as_real
from discreet.query.expressions.expression import Call, DecimalType, Expression, Field
from discreet.query.expressions.narrowing import within_usual
from discreet.query.expressions.read import LookUp, read
from discreet.query.parse.places import refuse

__all__ = ["check_one_argument", "get_shown_type", "read_bounded_number", "read_ordered_number"]


_LARGEST = Fraction(2**200)
_DATES = {
    ColumnType.DATE: (ColumnType.INTEGER, "TRY({0} - DATE '1970-01-01')"),
    ColumnType.TIMESTAMP: (ColumnType.REAL, "TRY(epoch({0}))"),
}
_NUMBERS = {
    ColumnType.BOOLEAN: "write COUNT_IF(x), or AVG(CAST(x AS INTEGER))",
    ColumnType.DATE: "write MEDIAN(x) or MIN(x) or MAX(x)",
    ColumnType.TIMESTAMP: "write MEDIAN(x) or MIN(x) or MAX(x)",
}


def check_one_argument(node: exp.Expr) -> None:
    """Refuse an aggregate that is given more than one column."""
    if [key for key, value in node.args.items() if value and key != "this"]:
        raise refuse(node, "only one argument is understood here", "leave the rest out")


def read_bounded_number(node: exp.Expr, look_up: LookUp) -> Expression:
    """The one argument of ``node``, a number with public bounds."""
    check_one_argument(node)
    _check_not_distinct(node, node.this)
    return _bound(node, _read_bounded(node.this, look_up))


def read_ordered_number(node: exp.Expr, of: exp.Expr, look_up: LookUp) -> tuple[Expression, ColumnType]:
    """A number with public bounds, and the type in which values are shown.

    Dates and times are ordered by their number of days or seconds since 1970.
    """
    _check_not_distinct(node, of)
    typed = _read_bounded(of, look_up)
    kind = get_shown_type(typed)
    number = _DATES.get(kind)
    if number is not None:
        typed = Call(number[0], typed.interval.in_doubles(), typed.nullable, number[1], (typed,))
    return _bound(node, typed), kind


def get_shown_type(typed: Expression) -> ColumnType:
    """The type in which one of its values is shown: a decimal as the real number that it is nearest to."""
    return ColumnType.REAL if isinstance(typed.type, DecimalType) else typed.type


def _check_not_distinct(node: exp.Expr, argument: exp.Expr) -> None:
    if isinstance(argument, exp.Distinct):
        raise refuse(node, "DISTINCT is not answered inside this aggregate", "leave DISTINCT out")


def _read_bounded(node: exp.Expr, look_up: LookUp) -> Expression:
    """The expression; where it has no bounds, with counts of a person's rows as the policies bound them."""
    typed = read(node, look_up)
    return read(node, lambda column: within_usual(look_up(column))) if typed.interval.known is None else typed


def _bound(node: exp.Expr, typed: Expression) -> Expression:
    if not typed.type.is_numeric:
        raise _no_number(node, typed)
    if typed.interval.known is None:
        raise _unbounded(node, typed)
    if max(abs(end) for end in typed.interval.known) > _LARGEST:
        raise refuse(node, "the bounds of this are too wide", "clamp it: CLAMP(x, 0, 100)")
    return as_real(typed) if isinstance(typed.type, DecimalType) else typed


def _no_number(node: exp.Expr, typed: Expression) -> QueryRefused:
    column = _column(typed)
    if typed.type is not ColumnType.TEXT or column is None:
        remedy = _NUMBERS.get(get_shown_type(typed), "write CLAMP(CAST(x AS INTEGER), 0, 100), or count: COUNT(x)")
        return refuse(node, f"this aggregate needs numbers, not {typed.type.value}", remedy)
    rule = f"this aggregate needs numbers, and the policy says that {column} is text"
    numbers = "if it holds numbers, the owner states its type and bounds in the policy"
    return refuse(node, rule, f"{numbers}; else count: SELECT {column}, COUNT(*) … GROUP BY {column}")


def _unbounded(node: exp.Expr, typed: Expression) -> QueryRefused:
    """Refuse values without public bounds: where the policy declares none, or where they do not follow from it."""
    dated = isinstance(typed, Call) and typed.template in (template for _, template in _DATES.values())
    column = _column(typed.arguments[0] if isinstance(typed, Call) and dated else typed)
    x, few = column or "x", "DATE '2020-01-01' AND DATE '2020-12-31'" if dated else "0 AND 100"
    ways = f"keep WHERE {x} BETWEEN {few}" + ("" if dated else f", or clamp: CLAMP({x}, 0, 100)")
    if column is None:
        rule = "this needs public bounds, and they do not follow from the columns' bounds"
        return refuse(node, rule, f"state bounds in the policy, {ways}")
    rule = f"this needs public bounds, and the policy declares none for {column}"
    return refuse(node, rule, f"the owner adds lower and upper to {column}; or {ways}")


def _column(typed: Expression) -> str | None:
    """The column of a protected table that an expression is, by the name that the policy gives it."""
    return typed.column[1] if isinstance(typed, Field) and typed.column is not None else None
