"""Reading an expression: from the parser's tree to a typed expression, or a refusal that points at the words.

Nothing is ignored: a node whose every part is not understood is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction

from sqlglot import exp

from discreet.catalog.column import ColumnType
from discreet.engines.parameters import bind_parameter
from discreet.errors import InvalidInput, QueryRefused
from discreet.exact.rational import rational
from discreet.query.expressions.date_dialects import CLOCKS, DATE_SPELLINGS, is_interval, move_by_interval
from discreet.query.expressions.dates import parse_date_constant
from discreet.query.expressions.decimals import MOST_DIGITS, MOST_PLACES, to_decimal
from discreet.query.expressions.expression import Call, Constant, Expression
from discreet.query.expressions.functions import RULES
from discreet.query.expressions.narrowing import Fact, find_facts, narrow
from discreet.query.expressions.texts import TEXT_RULES
from discreet.query.expressions.types import as_decimal, as_type, common_type
from discreet.query.parse.alternatives import not_answered, suggest_alternative
from discreet.query.parse.places import refuse, refuse_part

__all__ = ["CAST_TYPES", "SPECIAL", "LookUp", "as_condition", "check_complete", "read", "read_condition"]


LookUp = Callable[[exp.Column], Expression]
"""What a column name stands for where the expression is written."""

_WORD = 2**63
_KIND = exp.DataType.Type
_TYPES = {
    **dict.fromkeys((_KIND.TINYINT, _KIND.SMALLINT, _KIND.INT, _KIND.BIGINT), ColumnType.INTEGER),
    **dict.fromkeys((_KIND.FLOAT, _KIND.DOUBLE), ColumnType.REAL),
    **dict.fromkeys((_KIND.TEXT, _KIND.VARCHAR), ColumnType.TEXT),
    **dict.fromkeys((_KIND.TIMESTAMP, _KIND.TIMESTAMPNTZ, _KIND.DATETIME), ColumnType.TIMESTAMP),
    _KIND.DATE: ColumnType.DATE,
    _KIND.BOOLEAN: ColumnType.BOOLEAN,
}
_ZONED = (_KIND.TIMESTAMPTZ, _KIND.TIMESTAMPLTZ)
_WORDS = (
    "this", "expression", "low", "high", "start", "length", "decimals", "replacement", "substr", "expressions",
)  # fmt: skip
"""Where the parser puts arguments, in the order in which they are written."""
_READ_BY_RULES = ("negate", "position")
"""Words that are no arguments and that a rule looks at itself."""
_HARMLESS = {"safe", "typed", "coalesce", "ignore_nulls", "big_int", "date_part_boundary", "is_null", "is_nvl"}
_NEEDED: dict[type[exp.Expr], str] = {
    exp.Date: "this",
    exp.DateFromParts: "day",
    exp.Mode: "this",
    exp.WithinGroup: "expression",
}
"""Arguments that the parser lets people leave out, and that nothing here can be read without."""


def read(node: exp.Expr, look_up: LookUp) -> Expression:
    """The typed expression that ``node`` stands for."""
    check_complete(node)
    if isinstance(node, exp.Paren):
        return read(node.this, look_up)
    if isinstance(node, exp.Column):
        return look_up(node)
    if isinstance(node, (exp.Literal, exp.Boolean, exp.Null)):
        return _constant(node)
    if type(node) in SPECIAL:
        special, words = SPECIAL[type(node)]
        _check_words(node, words)
        return special(node, look_up)
    if type(node) in DATE_SPELLINGS:
        spelling, words = DATE_SPELLINGS[type(node)]
        _check_words(node, words)
        return spelling(node, lambda part: read(part, look_up))
    if isinstance(node, (exp.Add, exp.Sub)) and (is_interval(node.this) or is_interval(node.args["expression"])):
        return move_by_interval(node, lambda part: read(part, look_up))
    return _by_rule(node, look_up)


def read_condition(node: exp.Expr, look_up: LookUp) -> Expression:
    """The condition that ``node`` stands for."""
    return as_condition(read(node, look_up), node)


def check_complete(node: exp.Expr) -> None:
    """Refuse a node without an argument that it needs: not every grammar complains of MAX()."""
    needed = [word for word, is_needed in node.arg_types.items() if is_needed or _NEEDED.get(type(node)) == word]
    if any(node.args.get(word) is None for word in needed):
        raise refuse(node, "an argument is missing", suggest_alternative(node))


def _by_rule(node: exp.Expr, look_up: LookUp) -> Expression:
    rule = RULES.get(type(node))
    if rule is None or (isinstance(node, exp.In) and node.args.get("query") is not None):
        raise _unknown(node)
    _check_words(node, (*_WORDS, *_READ_BY_RULES) if type(node) in TEXT_RULES else _WORDS)
    return rule(node, [read(part, look_up) for part in _parts(node)])


def _unknown(node: exp.Expr) -> QueryRefused:
    if isinstance(node, (exp.Query, exp.Subquery, exp.Exists, exp.In)):
        remedy = "join the table, or ask two questions"
        return refuse(node, "a subquery cannot be used on single rows", remedy)
    if isinstance(node, exp.AggFunc) and not isinstance(node.parent, exp.Window):
        remedy = "use HAVING, or GROUP BY in a subquery and aggregate around it"
        return refuse(node, "an aggregate cannot stand inside another or in WHERE", remedy)
    return not_answered(node, "on single rows", ANSWERED_ON_ROWS)


def _check_words(node: exp.Expr, words: Sequence[str]) -> None:
    """What is not understood is refused, never ignored."""
    unknown = [key for key, value in node.args.items() if value and key not in words and key not in _HARMLESS]
    if unknown:
        raise refuse_part(node, unknown[0], "{} is not understood here", "leave it out")


def _parts(node: exp.Expr) -> list[exp.Expr]:
    parts: list[exp.Expr] = []
    for word in _WORDS:
        value = node.args.get(word)
        parts += value if isinstance(value, list) else [value] if isinstance(value, exp.Expr) else []
    return parts


def _constant(node: exp.Expr) -> Constant:
    if isinstance(node, exp.Null):
        return Constant.of(None)
    if isinstance(node, exp.Boolean):
        return Constant.of(bool(node.this))
    if node.args.get("is_string"):
        return Constant.of(_text(node))
    return _number(node)


def _text(node: exp.Expr) -> str:
    try:
        return str(bind_parameter(str(node.this)))
    except InvalidInput as error:
        raise refuse(node, error.rule, "leave such characters out") from None


def _number(node: exp.Expr) -> Constant:
    try:
        number = rational(str(node.this), "a number")
        float(number)
    except (InvalidInput, OverflowError):
        raise refuse(node, "this number cannot be read", "write it as 12, 0.5 or 1e6") from None
    if not str(node.this).isdigit():
        return _with_point(node, number)
    if number >= _WORD:
        raise refuse(node, "whole numbers must be below 2^63", "write it with a point: 9223372036854775808.0")
    return Constant.of(int(number))


def _with_point(node: exp.Expr, number: Fraction) -> Constant:
    """A decimal with the digits that are written; with an exponent, or too many digits, it is a real number."""
    before, _, after = str(node.this).partition(".")
    digits = before + after
    is_decimal = digits.isdigit() and len(digits) <= MOST_DIGITS and len(after) <= MOST_PLACES
    return to_decimal(number, len(after)) if is_decimal else Constant.of(number)


def _case(node: exp.Expr, look_up: LookUp) -> Expression:
    operand = node.this
    conditions, results = [], []
    for branch in node.args["ifs"]:
        test = exp.EQ(this=operand.copy(), expression=branch.this) if operand is not None else branch.this
        conditions.append(as_condition(read(test, look_up), branch))
        results.append(read(branch.args["true"], look_up))
    return _choose(node, conditions, results, node.args.get("default"), look_up)


def _if(node: exp.Expr, look_up: LookUp) -> Expression:
    condition = as_condition(read(node.this, look_up), node)
    return _choose(node, [condition], [read(node.args["true"], look_up)], node.args.get("false"), look_up)


def _if_missing(node: exp.Expr, look_up: LookUp) -> Expression:
    """NVL2(x, present, missing)."""
    condition = read(exp.Not(this=exp.Is(this=node.this.copy(), expression=exp.Null())), look_up)
    return _choose(node, [condition], [read(node.args["true"], look_up)], node.args.get("false"), look_up)


def _choose(
    node: exp.Expr,
    conditions: list[Expression],
    results: list[Expression],
    default: exp.Expr | None,
    look_up: LookUp,
) -> Expression:
    otherwise = Constant.of(None) if default is None else read(default, look_up)
    *results, otherwise = _narrowed_branches(conditions, [*results, otherwise])
    kind = common_type(node, [*results, otherwise])
    cast = [as_type(result, kind) for result in results]
    last = as_type(otherwise, kind)
    interval = cast[0].interval
    for result in cast[1:]:
        interval = interval.hull(result.interval)
    if not (isinstance(last, Constant) and last.value is None):
        interval = interval.hull(last.interval)
    count = len(cast)
    branches = " ".join(f"WHEN {{{k}}} THEN {{{count + k}}}" for k in range(count))
    template = f"CASE {branches} ELSE {{{2 * count}}} END"
    nullable = any(result.nullable for result in [*cast, last])
    return Call(kind, interval, nullable, template, (*conditions, *cast, last))


def _narrowed_branches(conditions: list[Expression], results: list[Expression]) -> list[Expression]:
    """The results of CASE with the bounds that follow: a branch is taken where earlier conditions do not hold."""
    facts: list[Fact] = []
    found = []
    for k, result in enumerate(results):
        own = find_facts(conditions[k]) if k < len(conditions) else []
        found.append(narrow(result, [*own, *facts]))
        facts += find_facts(conditions[k], holds=False) if k < len(conditions) else []
    return found


def as_condition(expression: Expression, node: exp.Expr) -> Expression:
    """The expression, which must be true or false; ``node`` is where it was written."""
    if expression.type is not ColumnType.BOOLEAN:
        raise refuse(node, f"a condition is needed here, not {expression.type.value}", "compare it with something")
    return expression


def _cast(node: exp.Expr, look_up: LookUp) -> Expression:
    to = node.args["to"]
    if to.this is _KIND.DECIMAL:
        return as_decimal(node, read(node.this, look_up), _sizes(node, to))
    kind, inner = _TYPES.get(to.this), read(node.this, look_up)
    if to.this in _ZONED and isinstance(inner, Constant) and _ends_in_zone(str(inner.value)):
        kind = ColumnType.TIMESTAMP
    if kind is None or to.expressions:
        raise refuse(node, "values cannot be cast to this type", f"cast to {', '.join(CAST_TYPES)}")
    if isinstance(inner, Constant) and isinstance(inner.value, str) and kind in (ColumnType.DATE, ColumnType.TIMESTAMP):
        return parse_date_constant(node, inner.value, kind)
    return as_type(inner, kind)


def _ends_in_zone(text: str) -> bool:
    """Whether a moment says itself in which zone it is, so that it is the same whoever asks."""
    return re.search(r":\d\d(\.\d+)?\s*(Z|[+-]\d\d(:?\d\d)?)$", text) is not None


def _sizes(node: exp.Expr, to: exp.Expr) -> list[int]:
    """The digits of DECIMAL(10, 2), which are written out: the parser takes any word for them."""
    if not all(size.name.isdecimal() for size in to.expressions):
        raise refuse(node, "the digits of a DECIMAL are whole numbers", "write CAST(x AS DECIMAL(10, 2))")
    return [int(size.name) for size in to.expressions]


CAST_TYPES = ("INTEGER", "DOUBLE", "VARCHAR", "BOOLEAN", "DATE", "TIMESTAMP", "DECIMAL(10, 2)")
"""What values can be cast to; other names of these types are understood too."""
SPECIAL: dict[type[exp.Expr], tuple[Callable[[exp.Expr, LookUp], Expression], tuple[str, ...]]] = {
    exp.Case: (_case, ("this", "ifs", "default")),
    exp.If: (_if, ("this", "true", "false")),
    exp.Nvl2: (_if_missing, ("this", "true", "false")),
    exp.Cast: (_cast, ("this", "to")),
    exp.TryCast: (_cast, ("this", "to", "requires_string")),
}
"""Nodes that are not read argument by argument, and the words of each that are understood."""
ANSWERED_ON_ROWS = frozenset({*RULES, *DATE_SPELLINGS, *SPECIAL} - {*CLOCKS, exp.AtTimeZone})
"""Functions that can be used on rows."""
