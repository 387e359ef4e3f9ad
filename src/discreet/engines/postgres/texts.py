"""Text on rows: by code point everywhere, whatever the collation of the server or the column."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from sqlglot import exp

from discreet.engines.postgres.letters import lowered, raised
from discreet.engines.translation.scope import Scope
from discreet.engines.translation.untranslatable import Untranslatable
from discreet.engines.translation.writer import Rule, Writer
from discreet.engines.translation.written import Kind, Written

__all__ = ["AS_CODE_POINTS", "TEXT_FUNCTIONS", "TEXT_RULES", "literal_text"]

AS_CODE_POINTS = 'COLLATE "C"'
_SPACES = " \u00a0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u202f\u205f\u3000"
"""What plans trim: every space of Unicode, and no tab or line end."""
_LONGEST = Fraction(2**30)


def literal_text(text: str) -> str:
    """A text of the plan itself."""
    if "\\" in text or "\x00" in text:
        raise Untranslatable("text with a backslash")
    return f"('{text.replace(chr(39), chr(39) * 2)}'::text {AS_CODE_POINTS})"


def _text(node: Any, writer: Writer, scope: Scope) -> str:
    written = writer.write(node, scope)
    if written.kind is not Kind.TEXT:
        raise Untranslatable(f"text functions of {written.kind.value}")
    return written.text


def _turned(function: Callable[[str], str]) -> Rule:
    return lambda writer, node, scope: Written(function(_text(node.this, writer, scope)), Kind.TEXT)


def _pattern(turned: Callable[[str], str]) -> Rule:
    """LIKE without an escape character: PostgreSQL's backslash would raise at the end of a pattern."""

    def rule(writer: Writer, node: Any, scope: Scope) -> Written:
        text, pattern = (turned(_text(part, writer, scope)) for part in (node.this, node.expression))
        word = "NOT LIKE" if node.args.get("negate") else "LIKE"
        return Written(f"({text} {word} {pattern} ESCAPE '')", Kind.BOOLEAN)

    return rule


def _joined(writer: Writer, node: exp.DPipe, scope: Scope) -> Written:
    return Written(f"({_text(node.this, writer, scope)} || {_text(node.expression, writer, scope)})", Kind.TEXT)


def _length(writer: Writer, node: exp.Length, scope: Scope) -> Written:
    return Written(f"length({_text(node.this, writer, scope)})::int8", Kind.INTEGER, Fraction(0), _LONGEST)


def _position(writer: Writer, node: exp.StrPosition, scope: Scope) -> Written:
    text, part = _text(node.this, writer, scope), _text(node.args["substr"], writer, scope)
    return Written(f"strpos({text}, {part})::int8", Kind.INTEGER, Fraction(0), _LONGEST)


def _starts_with(writer: Writer, node: exp.StartsWith, scope: Scope) -> Written:
    text, part = _text(node.this, writer, scope), _text(node.expression, writer, scope)
    return Written(f"(left({text}, length({part})) = {part})", Kind.BOOLEAN)


def _ends_with(writer: Writer, node: exp.Anonymous, scope: Scope) -> Written:
    text, part = (_text(one, writer, scope) for one in node.expressions)
    return Written(f"(right({text}, length({part})) = {part})", Kind.BOOLEAN)


def _contains(writer: Writer, node: exp.Contains, scope: Scope) -> Written:
    text, part = _text(node.this, writer, scope), _text(node.expression, writer, scope)
    return Written(f"(strpos({text}, {part}) > 0)", Kind.BOOLEAN)


def _number(node: Any, writer: Writer, scope: Scope) -> int:
    point = writer.write(node, scope).point
    if point is None or point.denominator != 1:
        raise Untranslatable("a position in text that is no constant")
    return int(point)


def _substring(writer: Writer, node: exp.Substring, scope: Scope) -> Written:
    """A start below zero counts from the end, and a length below zero goes backwards; PostgreSQL would raise there."""
    text, start = _text(node.this, writer, scope), _number(node.args["start"], writer, scope)
    if node.args.get("length") is None:
        return Written(f"substr({text}, {_place(text, start)})", Kind.TEXT)
    length = _number(node.args["length"], writer, scope)
    return Written(f"substr({text}, {_place(text, start, min(length, 0))}, {abs(length)})", Kind.TEXT)


def _place(text: str, start: int, shift: int = 0) -> str:
    return str(start + shift) if start >= 0 else f"length({text}) + ({start + shift + 1})"


def _end(function: str) -> Rule:
    def rule(writer: Writer, node: Any, scope: Scope) -> Written:
        count = _number(node.expression, writer, scope)
        return Written(f"{function}({_text(node.this, writer, scope)}, {count})", Kind.TEXT)

    return rule


def _trimmed(writer: Writer, node: exp.Trim, scope: Scope) -> Written:
    function = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position") or "").upper(), "btrim")
    letters = f"'{_SPACES}'" if node.expression is None else _text(node.expression, writer, scope)
    return Written(f"{function}({_text(node.this, writer, scope)}, {letters})", Kind.TEXT)


def _replaced(writer: Writer, node: exp.Replace, scope: Scope) -> Written:
    parts = [node.this, node.expression, node.args["replacement"]]
    return Written(f"replace({', '.join(_text(part, writer, scope) for part in parts)})", Kind.TEXT)


def _digest(writer: Writer, node: exp.MD5, scope: Scope) -> Written:
    return Written(f"md5({_text(node.this, writer, scope)})", Kind.TEXT)


def _refused(what: str) -> Rule:
    def rule(writer: Writer, node: Any, scope: Scope) -> Written:
        raise Untranslatable(what)

    return rule


_REGULAR = _refused("regular expressions, which PostgreSQL reads differently and can search without an end")

TEXT_RULES: Mapping[type[exp.Expr], Rule] = {
    exp.Upper: _turned(raised),
    exp.Lower: _turned(lowered),
    exp.Like: _pattern(lambda text: text),
    exp.ILike: _pattern(lowered),
    exp.DPipe: _joined,
    exp.Length: _length,
    exp.StrPosition: _position,
    exp.StartsWith: _starts_with,
    exp.Contains: _contains,
    exp.Substring: _substring,
    exp.Left: _end("left"),
    exp.Right: _end("right"),
    exp.Trim: _trimmed,
    exp.Replace: _replaced,
    exp.MD5: _digest,
    exp.Reverse: _refused("REVERSE, which turns letters with their accents in plans and without them in PostgreSQL"),
    exp.RegexpLike: _REGULAR,
    exp.RegexpILike: _REGULAR,
    exp.RegexpFullMatch: _REGULAR,
}
TEXT_FUNCTIONS: Mapping[str, Rule] = {"suffix": _ends_with}
