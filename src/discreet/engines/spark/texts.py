"""Texts: letters are code points in both engines, and their order is that of the bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from discreet.engines.spark.types import constant, whole
from discreet.engines.translate.expression import ValueKind, WriterScope, Written, change_letters
from discreet.engines.translate.writer import Rule, StatementWriter, Untranslatable

__all__ = ["TEXT_FUNCTIONS", "TEXT_RULES"]


_RUNS = re.compile("%+")
_MOST_RUNS = 2
"""Spark makes a regular expression of a pattern, which looks for the rest again from every place of each %."""


def _text(writer: StatementWriter, node: Any, scope: WriterScope) -> str:
    value = writer.write(node, scope)
    if value.kind is ValueKind.NOTHING:
        return f"CAST({value.text} AS STRING)"
    if value.kind is not ValueKind.TEXT:
        raise Untranslatable(f"{value.kind.value} in the place of text")
    return value.text


def _of_two(function: str) -> Rule:
    def rule(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
        text, part = _text(writer, node.this, scope), _text(writer, node.expression, scope)
        return Written(f"{function}({text}, {part})", ValueKind.BOOLEAN)

    return rule


def _suffix(writer: StatementWriter, node: exp.Anonymous, scope: WriterScope) -> Written:
    text, end = (_text(writer, one, scope) for one in node.expressions)
    return Written(f"endswith({text}, {end})", ValueKind.BOOLEAN)


def _turn(function: str, text: str) -> str:
    """A text in large or small letters; Java would turn ß into SS, and İ into two letters."""
    given, made = change_letters(function)
    return f"translate({text}, '{given}', '{made}')"


def _in_case(function: str) -> Rule:
    return lambda writer, node, scope: Written(_turn(function, _text(writer, node.this, scope)), ValueKind.TEXT)


def _length(writer: StatementWriter, node: exp.Length, scope: WriterScope) -> Written:
    return whole(f"length({_text(writer, node.this, scope)})", 0, 2**31)


def _position(writer: StatementWriter, node: exp.StrPosition, scope: WriterScope) -> Written:
    text, part = _text(writer, node.this, scope), _text(writer, node.args["substr"], scope)
    return whole(f"instr({text}, {part})", 0, 2**31)


def _join(writer: StatementWriter, node: exp.DPipe, scope: WriterScope) -> Written:
    return Written(f"({_text(writer, node.this, scope)} || {_text(writer, node.expression, scope)})", ValueKind.TEXT)


def _hash(writer: StatementWriter, node: exp.MD5, scope: WriterScope) -> Written:
    return Written(f"md5({_text(writer, node.this, scope)})", ValueKind.TEXT)


def _replace(writer: StatementWriter, node: exp.Replace, scope: WriterScope) -> Written:
    parts = (node.this, node.expression, node.args["replacement"])
    return Written(f"replace({', '.join(_text(writer, part, scope) for part in parts)})", ValueKind.TEXT)


def _trim(writer: StatementWriter, node: exp.Trim, scope: WriterScope) -> Written:
    where = str(node.args.get("position") or "BOTH").upper()
    if where not in ("BOTH", "LEADING", "TRAILING"):
        raise Untranslatable(f"TRIM {where}")
    letters = "' '" if node.expression is None else _text(writer, node.expression, scope)
    return Written(f"trim({where} {letters} FROM {_text(writer, node.this, scope)})", ValueKind.TEXT)


# Parts: positions are constants, counted from 1, or from the end where they are negative.


def _number(writer: StatementWriter, node: Any) -> int:
    value = constant(writer, node)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Untranslatable("a position that is no whole number")
    return value


def _middle(writer: StatementWriter, node: exp.Substring, scope: WriterScope) -> Written:
    text, start = _text(writer, node.this, scope), _number(writer, node.args["start"])
    if node.args.get("length") is None:
        return Written(f"substring({text}, {max(start, 1) if start >= 0 else start})", ValueKind.TEXT)
    length = _number(writer, node.args["length"])
    if length < 0:  # to DuckDB, letters before the start; to Spark, none
        raise Untranslatable("a part of a text with a negative length")
    if start == 0:  # there is nothing at place 0, but it counts
        start, length = 1, max(length - 1, 0)
    return Written(f"substring({text}, {start}, {length})", ValueKind.TEXT)


def _end(function: str) -> Rule:
    def rule(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
        text, count = _text(writer, node.this, scope), _number(writer, node.expression)
        letters = str(count) if count >= 0 else f"length({text}) - {-count}"  # all but so many
        return Written(f"{function}({text}, {letters})", ValueKind.TEXT)

    return rule


# Patterns.


def _like(writer: StatementWriter, node: exp.Like, scope: WriterScope) -> Written:
    text, pattern = _text(writer, node.this, scope), _text(writer, node.expression, scope)
    return _matching(node, text, pattern, constant(writer, node.expression))


def _like_in_any_case(writer: StatementWriter, node: exp.ILike, scope: WriterScope) -> Written:
    text, pattern = (_turn("lower", _text(writer, part, scope)) for part in (node.this, node.expression))
    return _matching(node, text, pattern, constant(writer, node.expression))


def _matching(node: Any, text: str, pattern: str, value: object) -> Written:
    if value is not None and (not isinstance(value, str) or len(_RUNS.findall(value)) > _MOST_RUNS):
        raise Untranslatable(f"a pattern with more than {_MOST_RUNS} times %")
    # A backslash escapes in Spark, and is a letter in DuckDB.
    word = "NOT LIKE" if node.args.get("negate") else "LIKE"
    return Written(rf"({text} {word} replace({pattern}, '\\', '\\\\'))", ValueKind.BOOLEAN)


def _refuse(words: str) -> Rule:
    def rule(writer: StatementWriter, node: Any, scope: WriterScope) -> Written:
        raise Untranslatable(words)

    return rule


# Java's take time that depends on the row, without an end; DuckDB's do not.
_regular = _refuse("regular expressions")

TEXT_RULES: Mapping[type[exp.Expr], Rule] = {
    exp.RegexpLike: _regular,
    exp.RegexpILike: _regular,
    exp.RegexpFullMatch: _regular,
    exp.Reverse: _refuse("REVERSE"),  # DuckDB keeps a letter and its accents together
    exp.Upper: _in_case("upper"),
    exp.Lower: _in_case("lower"),
    exp.Length: _length,
    exp.StrPosition: _position,
    exp.Contains: _of_two("contains"),
    exp.StartsWith: _of_two("startswith"),
    exp.DPipe: _join,
    exp.MD5: _hash,
    exp.Replace: _replace,
    exp.Trim: _trim,
    exp.Substring: _middle,
    exp.Left: _end("left"),
    exp.Right: _end("right"),
    exp.Like: _like,
    exp.ILike: _like_in_any_case,
}
"""Functions of text."""

TEXT_FUNCTIONS: Mapping[str, Rule] = {"suffix": _suffix}
"""Those that the parser knows by name alone."""
