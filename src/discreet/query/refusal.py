"""Refusals that point: the line, the column and the words, then the rule, then what would work."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import SqlglotError

from discreet.errors import QueryRefused
from discreet.query.places import place_of

__all__ = ["refuse", "spelled"]


def refuse(node: exp.Expr | None, rule: str, remedy: str) -> QueryRefused:
    """The error to raise for ``node``: it quotes what the analyst wrote there, never what the parser made of it."""
    place = place_of(node)
    if place is None:
        return QueryRefused(rule, "", remedy, line=1, column=1)
    return QueryRefused(rule, place.words, remedy, line=place.line, column=place.column)


def spelled(node: exp.Expr) -> str:
    """The node as DuckDB writes it; nothing where that fails, because arguments are missing or of another kind."""
    try:
        return str(node.sql(dialect="duckdb", comments=False))
    except (SqlglotError, AttributeError, LookupError, TypeError, ValueError):
        return ""
