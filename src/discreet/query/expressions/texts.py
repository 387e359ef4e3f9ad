"""Text on rows: patterns, parts, replacing and joining.

No text can outgrow the engine's memory, which would be an error that depends on rows: joining takes a limited number of
texts, also through subqueries, and replacing never makes a text longer. Regular expressions are RE2's, which take time
in proportion to the text; one that RE2 does not understand is refused before any row is read.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import duckdb
from sqlglot import exp

from discreet.catalog.column import ColumnType
from discreet.query.expressions.expression import Call, Constant, Expression, list_pieces
from discreet.query.expressions.interval import UNKNOWN, Interval
from discreet.query.expressions.types import Arguments, Rule, any_nullable, as_type, slots
from discreet.query.expressions.work_limit import pattern_states
from discreet.query.parse.places import refuse

__all__ = ["TEXT_RULES"]


INTEGER, TEXT, BOOLEAN = ColumnType.INTEGER, ColumnType.TEXT, ColumnType.BOOLEAN
_MOST_PIECES = 32
_LONGEST_PATTERN = 200
_OF_STATE = 20
"""The work of one state of a regular expression at one letter."""
_OF_SEARCH = 20
"""The work of looking for a text that is itself one of a row's."""


def _pattern(symbol: str) -> Rule:
    def rule(node: exp.Expr, arguments: Arguments) -> Expression:
        _texts(node, arguments)
        if len(arguments) != 2 or not isinstance(arguments[1], Constant):
            raise refuse(node, f"the pattern of {symbol} must be a constant", "write LIKE 'a%'")
        word = f"NOT {symbol}" if node.args.get("negate") else symbol
        pattern = arguments[1].value
        work = list_pieces(arguments[0]) * (1 + len(pattern if isinstance(pattern, str) else ""))
        return Call(BOOLEAN, UNKNOWN, any_nullable(*arguments), f"{{0}} {word} {{1}}", tuple(arguments), work=work)

    return rule


def _regular(template: str) -> Rule:
    def rule(node: exp.Expr, arguments: Arguments) -> Expression:
        _texts(node, arguments)
        pattern = arguments[1].value if len(arguments) == 2 and isinstance(arguments[1], Constant) else None
        if not isinstance(pattern, str) or len(pattern) > _LONGEST_PATTERN or not _is_regular(pattern):
            rule = f"a regular expression must be a constant that RE2 reads, of at most {_LONGEST_PATTERN} characters"
            raise refuse(node, rule, "write regexp_matches(x, '^[a-c]')")
        negated = "NOT " if node.args.get("negate") else ""
        work = list_pieces(arguments[0]) * pattern_states(pattern) * _OF_STATE
        return Call(BOOLEAN, UNKNOWN, any_nullable(*arguments), negated + template, tuple(arguments), work=work)

    return rule


@lru_cache(maxsize=256)
def _is_regular(pattern: str) -> bool:
    """Whether the engine can read the pattern, tried where there are no rows."""
    with duckdb.connect(":memory:", config={"threads": "1", "enable_external_access": "false"}) as database:
        try:
            database.execute("SELECT regexp_matches('', $1)", [pattern])
        except duckdb.Error:
            return False
    return True


def _replace(node: exp.Expr, arguments: Arguments) -> Expression:
    _texts(node, arguments)
    words = [part.value for part in arguments[1:] if isinstance(part, Constant) and isinstance(part.value, str)]
    if len(arguments) != 3 or len(words) != 2 or not len(words[0]) >= len(words[1]) or not words[0]:
        rule = "REPLACE takes a text and two constants, the second no longer than the first"
        raise refuse(node, rule, "write replace(x, ',', '.')")
    if len(words[1].encode()) > len(words[0].encode()):
        raise refuse(node, "REPLACE must not make a text longer, counted in bytes", "use plain letters")
    work = list_pieces(arguments[0]) * (1 + len(words[0]))
    return Call(TEXT, UNKNOWN, arguments[0].nullable, "replace({0}, {1}, {2})", tuple(arguments), work=work)


def _trim(node: exp.Expr, arguments: Arguments) -> Expression:
    function = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position") or "").upper(), "trim")
    _texts(node, arguments)
    if len(arguments) > 2 or (len(arguments) == 2 and not isinstance(arguments[1], Constant)):
        raise refuse(node, "TRIM takes a text, and a constant of letters", "write trim(x)")
    template, nullable = f"{function}({slots(len(arguments))})", any_nullable(*arguments)
    return Call(TEXT, UNKNOWN, nullable, template, tuple(arguments), work=_work_of(arguments))


def _work_of(arguments: Arguments) -> int:
    """Every letter of the first text, with every other that is looked for in it."""
    first, *others = (list_pieces(argument) for argument in arguments if argument.type is TEXT)
    return first * (1 + _OF_SEARCH * sum(others))


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
        nullable, work = any_nullable(*arguments), _work_of(arguments)
        return Call(kind, interval, nullable, template, tuple(arguments), work=work)

    return rule


def _substring(node: exp.Expr, arguments: Arguments) -> Expression:
    _texts(node, arguments[:1])
    for position in arguments[1:]:
        if not isinstance(position, Constant) or not isinstance(position.value, int) or abs(position.value) > 10**6:
            raise refuse(
                node, "positions in text must be constant whole numbers up to a million", "write substring(x, 1, 3)"
            )
    function = "left" if isinstance(node, exp.Left) else "right" if isinstance(node, exp.Right) else "substring"
    template, nullable = f"{function}({slots(len(arguments))})", any_nullable(*arguments)
    return Call(TEXT, UNKNOWN, nullable, template, tuple(arguments), work=_work_of(arguments))


def _join(node: exp.Expr, arguments: Arguments) -> Expression:
    cast = tuple(as_type(argument, TEXT) for argument in arguments)
    pieces = sum(list_pieces(each) for each in cast)
    if pieces > _MOST_PIECES:
        raise refuse(node, f"a text may be joined from at most {_MOST_PIECES} texts", "join fewer")
    skips_missing = isinstance(node, exp.Concat) and bool(node.args.get("coalesce"))
    place = "COALESCE({{{0}}}, '')" if skips_missing else "{{{0}}}"
    template = " || ".join(place.format(k) for k in range(len(cast)))
    return Call(TEXT, UNKNOWN, any_nullable(*cast) and not skips_missing, template, cast, work=pieces)


TEXT_RULES: dict[type[exp.Expr], Rule] = {
    exp.Like: _pattern("LIKE"),
    exp.ILike: _pattern("ILIKE"),
    exp.Upper: _text("upper({0})", 1),
    exp.Lower: _text("lower({0})", 1),
    exp.Trim: _trim,
    exp.Replace: _replace,
    exp.RegexpLike: _regular("regexp_matches({0}, {1})"),
    exp.RegexpILike: _regular("regexp_matches({0}, {1}, 'i')"),
    exp.RegexpFullMatch: _regular("regexp_full_match({0}, {1})"),
    exp.StrPosition: _text("instr({0}, {1})", 2, INTEGER, Interval(Fraction(0), None)),
    exp.Reverse: _text("reverse({0})", 1),
    exp.Length: _text("length({0})", 1, INTEGER, Interval(Fraction(0), None)),
    exp.StartsWith: _text("starts_with({0}, {1})", 2, BOOLEAN),
    exp.EndsWith: _text("suffix({0}, {1})", 2, BOOLEAN),
    exp.Contains: _text("contains({0}, {1})", 2, BOOLEAN),
    exp.Substring: _substring,
    exp.Left: _substring,
    exp.Right: _substring,
    exp.DPipe: _join,
    exp.Concat: _join,
}
"""Functions of text."""
