"""Comparison, logic and choice on rows."""

from __future__ import annotations

from sqlglot import exp

from discreet.catalog.column import ColumnType
from discreet.query.expressions.expression import Call, Constant, Expression
from discreet.query.expressions.interval import UNKNOWN
from discreet.query.expressions.types import Arguments, Rule, any_nullable, as_type, common_type, is_null, slots
from discreet.query.parse.places import refuse

__all__ = ["AND", "LOGIC_RULES", "NOT", "OR"]


BOOLEAN = ColumnType.BOOLEAN
AND, OR, NOT = "{0} AND {1}", "{0} OR {1}", "NOT {0}"


def _coalesce(node: exp.Expr, arguments: Arguments) -> Expression:
    kind = common_type(node, arguments)
    cast = [as_type(argument, kind) for argument in arguments]
    interval = cast[0].interval
    for argument in cast[1:]:
        interval = interval.hull(argument.interval)
    return Call(kind, interval, all(a.nullable for a in cast), f"COALESCE({slots(len(cast))})", tuple(cast))


def _null_if(node: exp.Expr, arguments: Arguments) -> Expression:
    kind = common_type(node, arguments)
    cast = tuple(as_type(argument, kind) for argument in arguments)
    return Call(kind, cast[0].interval, True, "NULLIF({0}, {1})", cast)


def _compare(symbol: str) -> Rule:
    def rule(node: exp.Expr, arguments: Arguments) -> Expression:
        kind = common_type(node, arguments)
        cast = tuple(as_type(argument, kind) for argument in arguments)
        nullable = any_nullable(*cast) and "DISTINCT" not in symbol
        return Call(BOOLEAN, UNKNOWN, nullable, f"{{0}} {symbol} {{1}}", cast)

    return rule


def _between(node: exp.Expr, arguments: Arguments) -> Expression:
    kind = common_type(node, arguments)
    cast = tuple(as_type(argument, kind) for argument in arguments)
    return Call(BOOLEAN, UNKNOWN, any_nullable(*cast), "{0} BETWEEN {1} AND {2}", cast)


def _one_of(node: exp.Expr, arguments: Arguments) -> Expression:
    kind = common_type(node, arguments)
    cast = tuple(as_type(argument, kind) for argument in arguments)
    return Call(BOOLEAN, UNKNOWN, any_nullable(*cast), f"{{0}} IN ({slots(len(cast), 1)})", cast)


def _logic(symbol: str) -> Rule:
    def rule(node: exp.Expr, arguments: Arguments) -> Expression:
        typed = tuple(as_type(argument, BOOLEAN) if is_null(argument) else argument for argument in arguments)
        for argument in typed:
            if argument.type is not BOOLEAN:
                raise refuse(node, f"{symbol} needs conditions, not {argument.type.value}", "compare it with something")
        template = "NOT {0}" if symbol == "NOT" else f"{{0}} {symbol} {{1}}"
        return Call(BOOLEAN, UNKNOWN, any_nullable(*typed), template, typed)

    return rule


def _is(node: exp.Expr, arguments: Arguments) -> Expression:
    first, second = arguments
    if is_null(second):
        return Call(BOOLEAN, UNKNOWN, False, "{0} IS NULL", (first,))
    if isinstance(second, Constant) and isinstance(second.value, bool) and first.type is BOOLEAN:
        return Call(BOOLEAN, UNKNOWN, False, "{0} IS " + ("TRUE" if second.value else "FALSE"), (first,))
    raise refuse(node, "IS goes with NULL, TRUE or FALSE", "use = to compare")


LOGIC_RULES: dict[type[exp.Expr], Rule] = {
    exp.Coalesce: _coalesce,
    exp.Nullif: _null_if,
    exp.EQ: _compare("="),
    exp.NEQ: _compare("<>"),
    exp.LT: _compare("<"),
    exp.LTE: _compare("<="),
    exp.GT: _compare(">"),
    exp.GTE: _compare(">="),
    exp.NullSafeEQ: _compare("IS NOT DISTINCT FROM"),
    exp.NullSafeNEQ: _compare("IS DISTINCT FROM"),
    exp.Between: _between,
    exp.In: _one_of,
    exp.And: _logic("AND"),
    exp.Or: _logic("OR"),
    exp.Not: _logic("NOT"),
    exp.Is: _is,
}
"""Comparison, logic and choice."""
