"""Refusals that point: the line, the column and the words, then the rule, then what would work."""

from __future__ import annotations

from sqlglot import exp

from discreet.errors import QueryRefused

__all__ = ["refuse"]

_LONGEST = 60


def refuse(node: exp.Expr | None, rule: str, remedy: str = "") -> QueryRefused:
    """The error to raise for ``node``; it finds the node's place in the text the analyst wrote."""
    line, column = _place(node)
    words = "" if node is None else _words(node)
    return QueryRefused(rule, words, remedy, line=line, column=column)


def _place(node: exp.Expr | None) -> tuple[int | None, int | None]:
    """Line and column of the first named thing inside the node, both from 1."""
    if node is None:
        return None, None
    places = [found.meta for found in node.find_all(exp.Expr) if "line" in found.meta]
    if not places:
        return None, None
    first = min(places, key=lambda meta: meta["start"])
    return first["line"], first["col"] - (first["end"] - first["start"])


def _words(node: exp.Expr) -> str:
    text = node.sql(dialect="duckdb", comments=False)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
