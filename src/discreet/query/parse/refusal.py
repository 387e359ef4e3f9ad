"""Refusals that point: the line, the column and the words, then the rule, then what would work."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.errors import SqlglotError

from discreet.errors import QueryRefused
from discreet.query.parse.places import find_place

__all__ = ["refuse", "refuse_part", "spell"]


_CLAUSE = re.compile(r"[A-Za-z]+(?: BY\b)?")


def refuse(node: exp.Expr | None, rule: str, remedy: str) -> QueryRefused:
    """The error to raise for ``node``: it quotes what the analyst wrote there, never what the parser made of it."""
    place = find_place(node)
    if place is None:
        return QueryRefused(rule, "", remedy, line=1, column=1)
    return QueryRefused(rule, place.words, remedy, line=place.line, column=place.column)


def refuse_part(node: exp.Expr, part: str, rule: str, remedy: str) -> QueryRefused:
    """The error for a clause of ``node``, by the parser's name of it; the rule's {} is filled with the analyst's."""
    value = node.args.get(part)
    found = value[0] if isinstance(value, list) and value else value
    where = found if isinstance(found, exp.Expr) else node
    return refuse(where, rule.format("this" if where is node else _keyword(where)), remedy)


def _keyword(clause: exp.Expr) -> str:
    """The word that a clause starts with; where nothing is known of it but what comes after, what it is called."""
    place, inside = find_place(clause), [found for part in clause.iter_expressions() if (found := find_place(part))]
    is_first = place is not None and all(place.start < part.start for part in inside)
    word = _CLAUSE.match(place.words) if place is not None and is_first else None
    return "this clause" if word is None else word[0].upper()


def spell(node: exp.Expr) -> str:
    """The node as DuckDB writes it; nothing where that fails, because arguments are missing or of another kind."""
    try:
        return str(node.sql(dialect="duckdb", comments=False))
    except (SqlglotError, AttributeError, LookupError, TypeError, ValueError):
        return ""
