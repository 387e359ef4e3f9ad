"""Texts: letters are code points in both engines, and their order is that of the bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from discreet.engines.spark.kinds import constant, whole
from discreet.engines.translation.letters import changed_letters
from discreet.engines.translation.scope import Scope
from discreet.engines.translation.untranslatable import Untranslatable
from discreet.engines.translation.writer import Rule, Writer
from discreet.engines.translation.written import Kind, Written

__all__ = ["TEXT_FUNCTIONS", "TEXT_RULES"]

_RUNS = re.compile("%+")
_MOST_RUNS = 2
"""Spark makes a regular expression of a pattern, which looks for the rest again from every place of each %."""


def _text(writer: Writer, node: Any, scope: Scope) -> str:
    value = writer.write(node, scope)
    if value.kind is Kind.NOTHING:
        return f"CAST({value.text} AS STRING)"
    if value.kind is not Kind.TEXT:
        raise Untranslatable(f"{value.kind.value} in the place of text")
    return value.text


def _of_two(function: str) -> Rule:
    def rule(writer: Writer, node: Any, scope: Scope) -> Written:
        text, part = _text(writer, node.this, scope), _text(writer, node.expression, scope)
        return Written(f"{function}({text}, {part})", Kind.BOOLEAN)

    return rule


def _suffix(writer: Writer, node: exp.Anonymous, scope: Scope) -> Written:
    text, end = (_text(writer, one, scope) for one in node.expressions)
    return Written(f"endswith({text}, {end})", Kind.BOOLEAN)


def _turned(function: str, text: str) -> str:
    """A text in large or small letters; Java would turn ß into SS, and İ into two letters."""
    given, made = changed_letters(function)
    return f"translate({text}, '{given}', '{made}')"


def _in_case(function: str) -> Rule:
    return lambda writer, node, scope: Written(_turned(function, _text(writer, node.this, scope)), Kind.TEXT)


def _length(writer: Writer, node: exp.Length, scope: Scope) -> Written:
    return whole(f"length({_text(writer, node.this, scope)})", 0, 2**31)


def _position(writer: Writer, node: exp.StrPosition, scope: Scope) -> Written:
    text, part = _text(writer, node.this, scope), _text(writer, node.args["substr"], scope)
    return whole(f"instr({text}, {part})", 0, 2**31)


def _joined(writer: Writer, node: exp.DPipe, scope: Scope) -> Written:
    return Written(f"({_text(writer, node.this, scope)} || {_text(writer, node.expression, scope)})", Kind.TEXT)


def _hash(writer: Writer, node: exp.MD5, scope: Scope) -> Written:
    return Written(f"md5({_text(writer, node.this, scope)})", Kind.TEXT)


def _replaced(writer: Writer, node: exp.Replace, scope: Scope) -> Written:
    parts = (node.this, node.expression, node.args["replacement"])
    return Written(f"replace({', '.join(_text(writer, part, scope) for part in parts)})", Kind.TEXT)


def _trimmed(writer: Writer, node: exp.Trim, scope: Scope) -> Written:
    where = str(node.args.get("position") or "BOTH").upper()
    if where not in ("BOTH", "LEADING", "TRAILING"):
        raise Untranslatable(f"TRIM {where}")
    letters = "' '" if node.expression is None else _text(writer, node.expression, scope)
    return Written(f"trim({where} {letters} FROM {_text(writer, node.this, scope)})", Kind.TEXT)


# Parts: positions are constants, counted from 1, or from the end where they are negative.


def _number(writer: Writer, node: Any) -> int:
    value = constant(writer, node)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Untranslatable("a position that is no whole number")
    return value


def _middle(writer: Writer, node: exp.Substring, scope: Scope) -> Written:
    text, start = _text(writer, node.this, scope), _number(writer, node.args["start"])
    if node.args.get("length") is None:
        return Written(f"substring({text}, {max(start, 1) if start >= 0 else start})", Kind.TEXT)
    length = _number(writer, node.args["length"])
    if length < 0:  # to DuckDB, letters before the start; to Spark, none
        raise Untranslatable("a part of a text with a negative length")
    if start == 0:  # there is nothing at place 0, but it counts
        start, length = 1, max(length - 1, 0)
    return Written(f"substring({text}, {start}, {length})", Kind.TEXT)


def _end(function: str) -> Rule:
    def rule(writer: Writer, node: Any, scope: Scope) -> Written:
        text, count = _text(writer, node.this, scope), _number(writer, node.expression)
        letters = str(count) if count >= 0 else f"length({text}) - {-count}"  # all but so many
        return Written(f"{function}({text}, {letters})", Kind.TEXT)

    return rule


# Patterns.


def _like(writer: Writer, node: exp.Like, scope: Scope) -> Written:
    text, pattern = _text(writer, node.this, scope), _text(writer, node.expression, scope)
    return _matching(node, text, pattern, constant(writer, node.expression))


def _like_in_any_case(writer: Writer, node: exp.ILike, scope: Scope) -> Written:
    text, pattern = (_turned("lower", _text(writer, part, scope)) for part in (node.this, node.expression))
    return _matching(node, text, pattern, constant(writer, node.expression))


def _matching(node: Any, text: str, pattern: str, value: object) -> Written:
    if value is not None and (not isinstance(value, str) or len(_RUNS.findall(value)) > _MOST_RUNS):
        raise Untranslatable(f"a pattern with more than {_MOST_RUNS} times %")
    # A backslash escapes in Spark, and is a letter in DuckDB.
    word = "NOT LIKE" if node.args.get("negate") else "LIKE"
    return Written(rf"({text} {word} replace({pattern}, '\\', '\\\\'))", Kind.BOOLEAN)


def _refused(words: str) -> Rule:
    def rule(writer: Writer, node: Any, scope: Scope) -> Written:
        raise Untranslatable(words)

    return rule


# Java's take time that depends on the row, without an end; DuckDB's do not.
_regular = _refused("regular expressions")

TEXT_RULES: Mapping[type[exp.Expr], Rule] = {
    exp.RegexpLike: _regular,
    exp.RegexpILike: _regular,
    exp.RegexpFullMatch: _regular,
    exp.Reverse: _refused("REVERSE"),  # DuckDB keeps a letter and its accents together
    exp.Upper: _in_case("upper"),
    exp.Lower: _in_case("lower"),
    exp.Length: _length,
    exp.StrPosition: _position,
    exp.Contains: _of_two("contains"),
    exp.StartsWith: _of_two("startswith"),
    exp.DPipe: _joined,
    exp.MD5: _hash,
    exp.Replace: _replaced,
    exp.Trim: _trimmed,
    exp.Substring: _middle,
    exp.Left: _end("left"),
    exp.Right: _end("right"),
    exp.Like: _like,
    exp.ILike: _like_in_any_case,
}
"""Functions of text."""

TEXT_FUNCTIONS: Mapping[str, Rule] = {"suffix": _suffix}
"""Those that the parser knows by name alone."""
