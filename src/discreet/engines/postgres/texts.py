"""Text on rows: by code point everywhere, whatever the collation of the server or the column.

Upper and lower case of plain letters are the server's; of all others they go by a list of DuckDB's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from sqlglot import exp

from discreet.engines.translate.expression import ValueKind, WriterScope, Written, change_letters
from discreet.engines.translate.writer import Rule, StatementWriter, Untranslatable

__all__ = ["AS_CODE_POINTS", "TEXT_FUNCTIONS", "TEXT_RULES", "literal_text", "lower_letters", "raise_letters"]


_PLAIN = 128
"""The letters below are the same everywhere."""


def raise_letters(text: str) -> str:
    """A text in large letters."""
    return _turn("upper", text)


def lower_letters(text: str) -> str:
    """A text in small letters."""
    return _turn("lower", text)


def _turn(function: str, text: str) -> str:
    letters, others = change_letters(function, _PLAIN)
    plain = f'{function}({text} COLLATE "C")'
    return (
        f"CASE WHEN octet_length({text}) = length({text}) THEN {plain}"
        f" ELSE translate({plain}, '{letters}', '{others}') END"
    )


AS_CODE_POINTS = 'COLLATE "C"'
_SPACES = " \u00a0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u202f\u205f\u3000"
"""What plans trim: every space of Unicode, and no tab or line end."""
_LONGEST = Fraction(2**30)


def literal_text(text: str) -> str:
    """A text of the plan itself."""
    if "\\" in text or "\x00" in text:
        raise Untranslatable("text with a backslash")
    return f"('{text.replace(chr(39), chr(39) * 2)}'::text {AS_CODE_POINTS})"


def _text(node: Any, writer: StatementWriter, scope: WriterScope) -> str:
    written = writer.write(node, scope)
    if written.kind is not ValueKind.TEXT:
        raise Untranslatable(f"text functions of {written.kind.value}")
    return written.text


def _turned_text(function: Callable[[str], str]) -> Rule:
    return lambda writer, node, scope: Written(function(_text(node.this, writer, scope)), ValueKind.TEXT)


def _pattern(turned: Callable[[str], str]) -> Rule:
    """LIKE without an escape character: PostgreSQL's backslash would raise at the end of a pattern."""

    def rule(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
        text, pattern = (turned(_text(part, writer, scope)) for part in (node.this, node.expression))
        word = "NOT LIKE" if node.args.get("negate") else "LIKE"
        return Written(f"({text} {word} {pattern} ESCAPE '')", ValueKind.BOOLEAN)

    return rule


def _join(writer: StatementWriter, node: exp.DPipe, scope: WriterScope) -> Written:
    return Written(f"({_text(node.this, writer, scope)} || {_text(node.expression, writer, scope)})", ValueKind.TEXT)


def _length(writer: StatementWriter, node: exp.Length, scope: WriterScope) -> Written:
    return Written(f"length({_text(node.this, writer, scope)})::int8", ValueKind.INTEGER, Fraction(0), _LONGEST)


def _position(writer: StatementWriter, node: exp.StrPosition, scope: WriterScope) -> Written:
    text, part = _text(node.this, writer, scope), _text(node.args["substr"], writer, scope)
    return Written(f"strpos({text}, {part})::int8", ValueKind.INTEGER, Fraction(0), _LONGEST)


def _starts_with(writer: StatementWriter, node: exp.StartsWith, scope: WriterScope) -> Written:
    text, part = _text(node.this, writer, scope), _text(node.expression, writer, scope)
    return Written(f"(left({text}, length({part})) = {part})", ValueKind.BOOLEAN)


def _ends_with(writer: StatementWriter, node: exp.Anonymous, scope: WriterScope) -> Written:
    text, part = (_text(one, writer, scope) for one in node.expressions)
    return Written(f"(right({text}, length({part})) = {part})", ValueKind.BOOLEAN)


def _contains(writer: StatementWriter, node: exp.Contains, scope: WriterScope) -> Written:
    text, part = _text(node.this, writer, scope), _text(node.expression, writer, scope)
    return Written(f"(strpos({text}, {part}) > 0)", ValueKind.BOOLEAN)


def _number(node: Any, writer: StatementWriter, scope: WriterScope) -> int:
    point = writer.write(node, scope).point
    if point is None or point.denominator != 1:
        raise Untranslatable("a position in text that is no constant")
    return int(point)


def _substring(writer: StatementWriter, node: exp.Substring, scope: WriterScope) -> Written:
    """A start below zero counts from the end, and a length below zero goes backwards; PostgreSQL would raise there."""
    text, start = _text(node.this, writer, scope), _number(node.args["start"], writer, scope)
    if node.args.get("length") is None:
        return Written(f"substr({text}, {_place(text, start)})", ValueKind.TEXT)
    length = _number(node.args["length"], writer, scope)
    return Written(f"substr({text}, {_place(text, start, min(length, 0))}, {abs(length)})", ValueKind.TEXT)


def _place(text: str, start: int, shift: int = 0) -> str:
    return str(start + shift) if start >= 0 else f"length({text}) + ({start + shift + 1})"


def _end(function: str) -> Rule:
    def rule(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
        count = _number(node.expression, writer, scope)
        return Written(f"{function}({_text(node.this, writer, scope)}, {count})", ValueKind.TEXT)

    return rule


def _trim(writer: StatementWriter, node: exp.Trim, scope: WriterScope) -> Written:
    function = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position") or "").upper(), "btrim")
    letters = f"'{_SPACES}'" if node.expression is None else _text(node.expression, writer, scope)
    return Written(f"{function}({_text(node.this, writer, scope)}, {letters})", ValueKind.TEXT)


def _replace(writer: StatementWriter, node: exp.Replace, scope: WriterScope) -> Written:
    parts = [node.this, node.expression, node.args["replacement"]]
    return Written(f"replace({', '.join(_text(part, writer, scope) for part in parts)})", ValueKind.TEXT)


def _digest(writer: StatementWriter, node: exp.MD5, scope: WriterScope) -> Written:
    return Written(f"md5({_text(node.this, writer, scope)})", ValueKind.TEXT)


def _refuse(what: str) -> Rule:
    def rule(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
        raise Untranslatable(what)

    return rule


_REGULAR = _refuse("regular expressions, which PostgreSQL reads differently and can search without an end")

TEXT_RULES: Mapping[type[exp.Expr], Rule] = {
    exp.Upper: _turned_text(raise_letters),
    exp.Lower: _turned_text(lower_letters),
    exp.Like: _pattern(lambda text: text),
    exp.ILike: _pattern(lower_letters),
    exp.DPipe: _join,
    exp.Length: _length,
    exp.StrPosition: _position,
    exp.StartsWith: _starts_with,
    exp.Contains: _contains,
    exp.Substring: _substring,
    exp.Left: _end("left"),
    exp.Right: _end("right"),
    exp.Trim: _trim,
    exp.Replace: _replace,
    exp.MD5: _digest,
    exp.Reverse: _refuse("REVERSE, which turns letters with their accents in plans and without them in PostgreSQL"),
    exp.RegexpLike: _REGULAR,
    exp.RegexpILike: _REGULAR,
    exp.RegexpFullMatch: _REGULAR,
}
TEXT_FUNCTIONS: Mapping[str, Rule] = {"suffix": _ends_with}
