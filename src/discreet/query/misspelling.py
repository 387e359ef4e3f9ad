"""Where text stops being SQL: at a misspelt keyword where there is one, else at the word that does not fit.

A parser stumbles after the mistake: SELEC COUNT(*) fails at the parenthesis. People look for the word that they
mistyped.
"""

from __future__ import annotations

from difflib import get_close_matches

import sqlglot
from sqlglot import Token, TokenType

from discreet.errors import QueryRefused

__all__ = ["unreadable"]

_KEYWORDS = (
    "SELECT", "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "BETWEEN", "JOIN", "UNION", "DISTINCT", "WITH",
)  # fmt: skip
_LONGEST = 60
_RULE = "this is not SQL that can be read"


def unreadable(text: str, dialect: str, error: sqlglot.errors.SqlglotError) -> QueryRefused:
    """The refusal of text that the parser could not read."""
    tokens = _tokens(text, dialect)
    if tokens is None:
        return _unclosed(text)
    found = (getattr(error, "errors", None) or [{}])[0]
    words, line = str(found.get("highlight") or ""), found.get("line") or 1
    column = max((found.get("col") or 1) - max(len(words), 1) + 1, 1)  # the parser names the word's last character
    misspelt = _misspelt([token for token in tokens if (token.line, _start(token)) <= (line, column)])
    if misspelt is None:
        remedy = "look at this word and the one before it" if words else "look for a word that is missing"
        return QueryRefused(_RULE, words[:_LONGEST], remedy, line=line, column=column)
    token, meant = misspelt
    return QueryRefused(_RULE, token.text, f"did you mean {meant}?", line=token.line, column=_start(token))


def _tokens(text: str, dialect: str) -> list[Token] | None:
    try:
        return sqlglot.tokenize(text, read=dialect)
    except sqlglot.errors.TokenError:
        return None


def _unclosed(text: str) -> QueryRefused:
    """Refuse text whose last quote or comment has no end, at the first quote of the kind that is left open."""
    opened = [text.rfind(mark) for mark in ("'", '"', "/*") if text.count(mark) % 2]
    start = max(opened, default=0)
    line, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
    return QueryRefused(_RULE, text[start:][:_LONGEST], "close what is opened here", line=line, column=column)


def _misspelt(tokens: list[Token]) -> tuple[Token, str] | None:
    """The last word that is nearly a keyword, and the keyword."""
    for token in reversed(tokens):
        if token.token_type is TokenType.VAR:
            meant = get_close_matches(token.text.upper(), _KEYWORDS, n=1, cutoff=0.75)
            if meant and meant[0] != token.text.upper():
                return token, meant[0]
    return None


def _start(token: Token) -> int:
    return token.col - (token.end - token.start)
