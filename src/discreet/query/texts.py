"""Text on rows: patterns, parts and joining."""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from discreet.catalog.column import ColumnType
from discreet.query.conversion import Arguments, Rule, any_nullable, as_type, slots
from discreet.query.expression import Call, Constant, Expression
from discreet.query.interval import UNKNOWN, Interval
from discreet.query.refusal import refuse

__all__ = ["TEXT_RULES"]

INTEGER, TEXT, BOOLEAN = ColumnType.INTEGER, ColumnType.TEXT, ColumnType.BOOLEAN


def _pattern(symbol: str) -> Rule:
    def rule(node: exp.Expr, arguments: Arguments) -> Expression:
        _texts(node, arguments)
        if len(arguments) != 2 or not isinstance(arguments[1], Constant):
            raise refuse(node, f"the pattern of {symbol} must be a constant", "write LIKE 'a%'")
        return Call(BOOLEAN, UNKNOWN, any_nullable(*arguments), f"{{0}} {symbol} {{1}}", tuple(arguments))

    return rule


def _texts(node: exp.Expr, arguments: Arguments) -> None:
    for argument in arguments:
        if argument.type is not TEXT:
            raise refuse(node, f"this needs text, not {argument.type.value}", "use CAST(… AS VARCHAR) first")


def _text(template: str, count: int, kind: ColumnType = TEXT, interval: Interval = UNKNOWN) -> Rule:
    def rule(node: exp.Expr, arguments: Arguments) -> Expression:
        if len(arguments) != count:
            raise refuse(
                node, f"this takes {count} text{'s' * (count > 1)}, not {len(arguments)}", "leave the rest out"
            )
        _texts(node, arguments)
        return Call(kind, interval, any_nullable(*arguments), template, tuple(arguments))

    return rule


def _substring(node: exp.Expr, arguments: Arguments) -> Expression:
    _texts(node, arguments[:1])
    for position in arguments[1:]:
        if not isinstance(position, Constant) or not isinstance(position.value, int) or abs(position.value) > 10**6:
            raise refuse(
                node, "positions in text must be constant whole numbers up to a million", "write substring(x, 1, 3)"
            )
    function = "left" if isinstance(node, exp.Left) else "right" if isinstance(node, exp.Right) else "substring"
    return Call(TEXT, UNKNOWN, any_nullable(*arguments), f"{function}({slots(len(arguments))})", tuple(arguments))


def _joined(node: exp.Expr, arguments: Arguments) -> Expression:
    cast = tuple(as_type(argument, TEXT) for argument in arguments)
    skips_missing = isinstance(node, exp.Concat) and bool(node.args.get("coalesce"))
    place = "COALESCE({{{0}}}, '')" if skips_missing else "{{{0}}}"
    template = " || ".join(place.format(k) for k in range(len(cast)))
    return Call(TEXT, UNKNOWN, any_nullable(*cast) and not skips_missing, template, cast)


TEXT_RULES: dict[type[exp.Expr], Rule] = {
    exp.Like: _pattern("LIKE"),
    exp.ILike: _pattern("ILIKE"),
    exp.Upper: _text("upper({0})", 1),
    exp.Lower: _text("lower({0})", 1),
    exp.Trim: _text("trim({0})", 1),
    exp.Length: _text("length({0})", 1, INTEGER, Interval(Fraction(0), None)),
    exp.StartsWith: _text("starts_with({0}, {1})", 2, BOOLEAN),
    exp.EndsWith: _text("suffix({0}, {1})", 2, BOOLEAN),
    exp.Contains: _text("contains({0}, {1})", 2, BOOLEAN),
    exp.Substring: _substring,
    exp.Left: _substring,
    exp.Right: _substring,
    exp.DPipe: _joined,
    exp.Concat: _joined,
}
"""Functions of text."""
