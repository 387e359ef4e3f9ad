"""The parts of statements that every engine spells and means in the same way: logic, comparisons, cases, aggregates."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sqlglot import exp

from discreet.engines.translate.expression import Facts, ValueKind, WriterScope, Written, hull
from discreet.engines.translate.writer import Rule, StatementWriter, Untranslatable, digits_and_exponent

__all__ = ["PLAIN_RULES", "hash_as_number"]


def hash_as_number(node: exp.Cast) -> exp.MD5 | None:
    """The hash whose first eight digits a plan reads as an integer: nothing else has '0x' before a text."""
    joined = node.this
    if not isinstance(joined, exp.DPipe) or not isinstance(joined.this, exp.Literal) or joined.this.this != "0x":
        return None
    digits = joined.expression
    hashed = digits.this if isinstance(digits, exp.Substring) else None
    if not isinstance(hashed, exp.MD5) or digits.args["start"].this != "1" or digits.args["length"].this != "8":
        raise Untranslatable("hexadecimal digits of anything but a hash")
    return hashed


def _column(writer: StatementWriter, node: exp.Column, scope: WriterScope) -> Written:
    return scope.column(node.name, node.table)


def _parenthesis(writer: StatementWriter, node: exp.Paren, scope: WriterScope) -> Written:
    return writer.write(node.this, scope)


def _literal(writer: StatementWriter, node: exp.Literal, scope: WriterScope) -> Written:
    if node.is_string:
        return Written("'" + node.this.replace("'", "''") + "'", ValueKind.TEXT)
    kind = ValueKind.INTEGER if node.is_int else ValueKind.REAL
    value = Fraction(node.this) if node.is_int else Fraction(float(node.this))
    return Written(node.this, kind, value, value)


def _negative(writer: StatementWriter, node: exp.Neg, scope: WriterScope) -> Written:
    if not isinstance(node.this, exp.Literal):
        raise Untranslatable("the negative of what is no number")
    value = -Fraction(node.this.this)
    return Written(f"(-{node.this.this})", ValueKind.INTEGER if node.this.is_int else ValueKind.REAL, value, value)


def _word(text: str, kind: ValueKind) -> Rule:
    return lambda writer, node, scope: Written(text, kind)


def _truth(writer: StatementWriter, node: exp.Boolean, scope: WriterScope) -> Written:
    return Written("TRUE" if node.this else "FALSE", ValueKind.BOOLEAN)


def _between_two(symbol: str) -> Rule:
    def rule(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
        first, second = writer.write(node.this, scope), writer.write(node.expression, scope)
        return Written(f"({first.text} {symbol} {second.text})", ValueKind.BOOLEAN)

    return rule


def _not(writer: StatementWriter, node: exp.Not, scope: WriterScope) -> Written:
    return Written(f"(NOT {writer.write(node.this, scope).text})", ValueKind.BOOLEAN)


def _is(writer: StatementWriter, node: exp.Is, scope: WriterScope) -> Written:
    if not isinstance(node.expression, (exp.Null, exp.Boolean)):
        raise Untranslatable("IS with what is neither NULL, TRUE nor FALSE")
    return Written(f"({writer.write(node.this, scope).text} IS {node.expression.sql()})", ValueKind.BOOLEAN)


def _range(writer: StatementWriter, node: exp.Between, scope: WriterScope) -> Written:
    value, low, high = (writer.write(node.args[part], scope).text for part in ("this", "low", "high"))
    return Written(f"({value} BETWEEN {low} AND {high})", ValueKind.BOOLEAN)


def _in(writer: StatementWriter, node: exp.In, scope: WriterScope) -> Written:
    if not node.expressions:
        raise Untranslatable("IN")
    listed = ", ".join(writer.write(one, scope).text for one in node.expressions)
    return Written(f"({writer.write(node.this, scope).text} IN ({listed}))", ValueKind.BOOLEAN)


def _case(writer: StatementWriter, node: exp.Case, scope: WriterScope) -> Written:
    if node.this is not None:
        raise Untranslatable("CASE of a value")
    otherwise = node.args.get("default")
    if isinstance(otherwise, exp.TryCast) and digits_and_exponent(otherwise) is not None:
        return writer.write(otherwise, scope)  # DuckDB alone is faster where a decimal has few digits
    branches, parts = [], []
    for one in node.args["ifs"]:
        condition = writer.write(one.this, scope)
        value = writer.write(one.args["true"], scope.knowing(_said(writer, one.this, scope)))
        branches.append(f"WHEN {condition.text} THEN {value.text}")
        parts.append(value)
    if otherwise is not None:
        parts.append(writer.write(otherwise, scope.knowing(_left(writer, node.args["ifs"], scope))))
        branches.append(f"ELSE {parts[-1].text}")
    return Written(f"CASE {' '.join(branches)} END", _kind(parts), *hull(parts))


def _said(writer: StatementWriter, condition: Any, scope: WriterScope) -> Facts:
    """What is known where a condition is true: a value that lies between two constants does."""
    if isinstance(condition, exp.Paren):
        return _said(writer, condition.this, scope)
    if not isinstance(condition, exp.Between):
        return {}
    low, high = (writer.write(condition.args[part], scope) for part in ("low", "high"))
    if low.point is None or high.point is None:
        return {}
    return {condition.this.sql(dialect="duckdb"): (low.point, high.point)}


def _left(writer: StatementWriter, branches: list[exp.If], scope: WriterScope) -> Facts:
    """What is known where none of the conditions is true: a value that is neither below nor above lies between."""
    ends: dict[type[exp.Expr], dict[str, Fraction]] = {exp.LT: {}, exp.GT: {}}
    for one in branches:
        end = writer.write(one.this.expression, scope).point if type(one.this) in ends else None
        if end is not None:
            ends[type(one.this)][one.this.this.sql(dialect="duckdb")] = end
    lows, highs = ends[exp.LT], ends[exp.GT]
    return {text: (lows[text], highs[text]) for text in lows if text in highs}


def _kind(parts: list[Written]) -> ValueKind:
    kinds = [part.kind for part in parts if part.kind is not ValueKind.NOTHING]
    if ValueKind.REAL in kinds:
        return ValueKind.REAL
    return ValueKind.WIDE if ValueKind.WIDE in kinds else kinds[0] if kinds else ValueKind.NOTHING


def _several(name: str) -> Rule:
    def rule(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
        parts = [writer.write(one, scope) for one in (node.this, *node.expressions)]
        return Written(f"{name}({', '.join(part.text for part in parts)})", _kind(parts), *hull(parts))

    return rule


def _null_if(writer: StatementWriter, node: exp.Nullif, scope: WriterScope) -> Written:
    first, second = writer.write(node.this, scope), writer.write(node.expression, scope)
    return Written(f"NULLIF({first.text}, {second.text})", first.kind, *first.ends)


def _count(writer: StatementWriter, node: exp.Count, scope: WriterScope) -> Written:
    if isinstance(node.this, exp.Star):
        return Written("COUNT(*)", ValueKind.INTEGER, Fraction(0))
    if isinstance(node.this, exp.Distinct) and len(node.this.expressions) == 1:
        value = writer.write(node.this.expressions[0], scope).text
        return Written(f"COUNT(DISTINCT {value})", ValueKind.INTEGER, Fraction(0))
    return Written(f"COUNT({writer.write(node.this, scope).text})", ValueKind.INTEGER, Fraction(0))


def _extreme(name: str) -> Rule:
    def rule(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
        value = writer.write(node.this, scope)
        return Written(f"{name}({value.text})", value.kind, *value.ends)

    return rule


def _window(writer: StatementWriter, node: exp.Window, scope: WriterScope) -> Written:
    """The number of a row among those of its unit, or among all; or how many there are."""
    apart = ", ".join(writer.write(one, scope).text for one in node.args.get("partition_by") or ())
    if isinstance(node.this, exp.Count) and apart:
        return Written(
            f"{writer.write(node.this, scope).text} OVER (PARTITION BY {apart})", ValueKind.INTEGER, Fraction(1)
        )
    if not isinstance(node.this, exp.RowNumber):
        raise Untranslatable("a window of this kind")
    order = ", ".join(f"{writer.write(one.this, scope).text} NULLS LAST" for one in node.args["order"].expressions)
    among = f"PARTITION BY {apart} ORDER BY {order}" if apart else f"ORDER BY {order}"
    return Written(f"ROW_NUMBER() OVER ({among})", ValueKind.INTEGER, Fraction(1))


PLAIN_RULES: Mapping[type[exp.Expr], Rule] = {
    exp.Column: _column,
    exp.Paren: _parenthesis,
    exp.Literal: _literal,
    exp.Neg: _negative,
    exp.Null: _word("NULL", ValueKind.NOTHING),
    exp.Boolean: _truth,
    exp.And: _between_two("AND"),
    exp.Or: _between_two("OR"),
    exp.EQ: _between_two("="),
    exp.NEQ: _between_two("<>"),
    exp.LT: _between_two("<"),
    exp.LTE: _between_two("<="),
    exp.GT: _between_two(">"),
    exp.GTE: _between_two(">="),
    exp.Not: _not,
    exp.Is: _is,
    exp.Between: _range,
    exp.In: _in,
    exp.Case: _case,
    exp.Coalesce: _several("COALESCE"),
    exp.Greatest: _several("GREATEST"),
    exp.Least: _several("LEAST"),
    exp.Nullif: _null_if,
    exp.Count: _count,
    exp.Min: _extreme("MIN"),
    exp.Max: _extreme("MAX"),
    exp.Window: _window,
}
"""An engine takes those that fit it and adds its own: casts, arithmetic, attempts, sums, texts and dates."""
