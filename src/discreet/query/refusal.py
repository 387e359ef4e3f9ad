"""Refusals that point: the line, the column and the words, then the rule, then what would work."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import SqlglotError

from discreet.errors import QueryRefused

__all__ = ["refuse", "spelled"]

_LONGEST = 60


def refuse(node: exp.Expr | None, rule: str, remedy: str) -> QueryRefused:
    """The error to raise for ``node``; it finds the node's place in the text the analyst wrote."""
    line, column = _place(node)
    words = "" if node is None else _words(node)
    return QueryRefused(rule, words, remedy, line=line, column=column)


def _place(node: exp.Expr | None) -> tuple[int, int]:
    """Line and column of the first named thing inside the node, or around it where nothing inside has a name."""
    while node is not None:
        places = [found.meta for found in node.walk() if "line" in found.meta]
        if places:
            first = min(places, key=lambda meta: meta["start"])
            return first["line"], first["col"] - (first["end"] - first["start"])
        node = node.parent
    return 1, 1


def _words(node: exp.Expr) -> str:
    text = spelled(node)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def spelled(node: exp.Expr) -> str:
    """The node as DuckDB writes it; nothing where that fails, because arguments are missing or of another kind."""
    try:
        return str(node.sql(dialect="duckdb", comments=False))
    except (SqlglotError, AttributeError, LookupError, TypeError, ValueError):
        return ""
