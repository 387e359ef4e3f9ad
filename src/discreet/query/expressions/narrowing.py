"""Bounds that follow from conditions: where ``x BETWEEN 0 AND 100`` holds, x has the public bounds 0 and 100.

A condition that a row meets says between which ends its operands lie. That gives bounds to what has none, in rows that
WHERE or FILTER keeps and in the branches of CASE; bounds that the policy states stay as they are. As all intervals, it
decides bounds and never safety: values are clamped to it whatever they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from discreet.catalog.column import ColumnType
from discreet.query.expressions.decimals import WIDENED, is_rescaled, to_decimal
from discreet.query.expressions.expression import Call, Constant, DecimalType, Expression, Field, Type
from discreet.query.expressions.interval import Interval

__all__ = ["Fact", "find_facts", "narrow", "narrow_interval", "usual_bounds", "within_usual"]


Fact = tuple[Expression, Interval]
"""An expression, and an interval that it lies in or is missing."""

_FIRST, _LAST = -(2**63), 2**63 - 1
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_WITHIN_USUAL = "CASE WHEN {0} > {1} THEN {1} ELSE {0} END"
_WIDER = ("TRY_CAST({0} AS DOUBLE)", WIDENED)
_COMPARISONS = {f"{{0}} {symbol} {{1}}": symbol for symbol in _OPPOSITE}


def find_facts(condition: Expression, *, holds: bool = True) -> list[Fact]:
    """What follows for parts of a condition where it holds; or where it does not, be it false or unknown."""
    return list(_facts(condition, holds))


def narrow(expression: Expression, facts: list[Fact]) -> Expression:
    """The expression with the bounds that facts about it give it, where it had none.

    It stands where they hold, as in a branch of CASE. What it is elsewhere is missing, so that no value of it ever lies
    outside of its interval.
    """
    ends = narrow_interval(expression, facts).known
    if ends is None or expression.interval.known is not None or not expression.type.is_numeric:
        return expression
    low, high = _as_constants(expression.type, ends)
    interval = low.interval.hull(high.interval)
    return Call(
        expression.type, interval, True, "CASE WHEN {0} BETWEEN {1} AND {2} THEN {0} END", (expression, low, high)
    )


def _as_constants(kind: Type, ends: tuple[Fraction, Fraction]) -> tuple[Constant, Constant]:
    """The least and the greatest value of a type between two ends."""
    if isinstance(kind, DecimalType):
        step = 10**kind.scale
        inside = (Fraction(math.ceil(ends[0] * step), step), Fraction(math.floor(ends[1] * step), step))
        found = Interval(*inside).in_digits(kind.scale).known or inside
        return to_decimal(found[0], kind.scale), to_decimal(found[1], kind.scale)
    if kind is ColumnType.INTEGER:
        first, last = (min(max(int(end), _FIRST), _LAST) for end in (math.ceil(ends[0]), math.floor(ends[1])))
        return Constant.of(first), Constant.of(last)
    return Constant.of(ends[0]), Constant.of(ends[1])


def narrow_interval(expression: Expression, facts: list[Fact]) -> Interval:
    """Between which values it lies where the facts hold."""
    low, high = expression.interval.low, expression.interval.high
    if isinstance(expression, Field) and expression.is_unit:  # what names people is no number
        return expression.interval
    for about, interval in facts:
        if about == expression:
            low = interval.low if low is None else low
            high = interval.high if high is None else high
    is_empty = low is not None and high is not None and low > high  # no row meets such a condition
    return expression.interval if is_empty else Interval(low, high)


def within_usual(expression: Expression) -> Expression:
    """A count of a person's rows as one of no more than count by the policies: further rows do not count."""
    if not isinstance(expression, Field) or expression.usual is None:
        return expression
    most = Constant.of(expression.usual)
    interval = Interval(expression.interval.low, most.interval.high)
    return Call(expression.type, interval, expression.nullable, _WITHIN_USUAL, (expression, most))


def usual_bounds(expression: Expression) -> Iterator[int]:
    """The numbers above which counts of a person's rows are taken for less."""
    if isinstance(expression, Call):
        most = expression.arguments[-1] if expression.template == _WITHIN_USUAL else None
        if isinstance(most, Constant) and isinstance(most.value, int):
            yield most.value
        for argument in expression.arguments:
            yield from usual_bounds(argument)


def _facts(condition: Expression, holds: bool) -> Iterator[Fact]:
    if not isinstance(condition, Call):
        return
    template, arguments = condition.template, condition.arguments
    if template == "NOT {0}" and holds:  # where it does not hold, x may be missing, and nothing follows
        yield from _facts(arguments[0], holds=False)
    elif template == ("{0} AND {1}" if holds else "{0} OR {1}"):
        for argument in arguments:
            yield from _facts(argument, holds)
    elif template in _COMPARISONS:
        symbol = _COMPARISONS[template]
        yield from _compare(arguments[0], symbol if holds else _OPPOSITE[symbol], arguments[1])
    elif holds:
        yield from _of_membership(template, arguments)


def _of_membership(template: str, arguments: tuple[Expression, ...]) -> Iterator[Fact]:
    value, *others = arguments
    if template == "{0} BETWEEN {1} AND {2}":
        yield from _compare(value, ">=", others[0])
        yield from _compare(value, "<=", others[1])
    elif template == "{0} = {1}" or template.startswith("{0} IN ("):
        hull = others[0].interval
        for other in others[1:]:
            hull = hull.hull(other.interval)
        yield from _about(value, hull)
        if len(others) == 1:
            yield from _about(others[0], value.interval)


def _compare(left: Expression, symbol: str, right: Expression) -> Iterator[Fact]:
    """What a comparison says about its sides: a missing side is in every interval."""
    is_less = symbol.startswith("<")
    smaller, larger = (left, right) if is_less else (right, left)
    yield from _about(smaller, Interval(None, larger.interval.high))
    yield from _about(larger, Interval(smaller.interval.low, None))


def _about(expression: Expression, interval: Interval) -> Iterator[Fact]:
    """What is known of an expression is known of the number that it is in another type, too."""
    yield expression, interval
    if not isinstance(expression, Call):
        return
    inner = expression.arguments[0] if expression.arguments else None
    if inner is not None and expression.template in _WIDER and inner.type is ColumnType.INTEGER:
        yield inner, interval.whole()
    elif inner is not None and is_rescaled(expression):
        yield from _about(inner, interval)
