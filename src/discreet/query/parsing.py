"""From text to one parsed SELECT, or a refusal: not SQL, several statements, too long, nested too deeply.

A text is read in the first grammar that can read all of it: our own, which is DuckDB's with the spellings of others,
the same with SELECT TOP, then those of other dialects in a fixed order. So a text never means two things. Functions
mean the same in every grammar; operators, quotes and literals mean what they mean in the one that was found, and our
own comes first. An analyst who names another dialect is read in that one alone.
"""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import DialectType

from discreet.errors import QueryRefused
from discreet.query.grammar import Asked, AskedTop
from discreet.query.misspelling import unreadable
from discreet.query.places import parsed_in
from discreet.query.refusal import refuse
from discreet.query.rewriting import written_out

__all__ = ["parsed"]

_DIALECTS = ("duckdb", "postgres", "bigquery", "spark", "tsql", "snowflake", "mysql")
_GRAMMARS: tuple[DialectType, ...] = (Asked, AskedTop, *_DIALECTS[1:])
_LONGEST = 100_000
_DEEPEST = 100  # every later pass walks the tree by recursion
_MOST_NODES = 20_000
_FAULTS = (AttributeError, LookupError, TypeError, ValueError)
"""What parsers of dialects raise, instead of a complaint, where an argument that they take for granted is missing."""


def parsed(text: str, dialect: str) -> exp.Query:
    """The one SELECT that ``text`` holds."""
    if dialect not in _DIALECTS:
        raise QueryRefused(f"the dialect must be one of {', '.join(_DIALECTS)}", dialect, line=1, column=1)
    if len(text) > _LONGEST or "\x00" in text:
        rule = f"a query must be text of at most {_LONGEST:,} characters without NUL"
        raise QueryRefused(rule, "", "shorten it", line=1, column=1)
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise QueryRefused("a query must be valid Unicode", "", "it holds half of a character", line=1, column=1)
    statements = _statements(text, dialect)
    if len(statements) != 1 or not isinstance(statements[0], (exp.Select, exp.SetOperation, exp.Subquery)):
        wrong = statements[1] if len(statements) > 1 else statements[0] if statements else None
        raise refuse(wrong, "a question is one SELECT", "ask SELECT … FROM …, one at a time")
    _check_size(statements[0])
    _check_joins(statements[0])
    return written_out(statements[0])


def _statements(text: str, dialect: str) -> list[exp.Expr]:
    """What the text holds, in the first grammar that can read it; the first one's complaint where none can."""
    complaints: list[sqlglot.errors.SqlglotError] = []
    for grammar in _GRAMMARS if dialect == _DIALECTS[0] else (dialect,):
        try:
            return parsed_in(grammar, text)
        except sqlglot.errors.SqlglotError as error:
            complaints.append(error)
        except _FAULTS:
            complaints.append(sqlglot.errors.ParseError("the parser failed"))
        except RecursionError:
            raise _too_deep() from None
    raise unreadable(text, dialect, complaints[0])


def _check_size(node: exp.Expr) -> None:
    """Refuse deep trees without recursion; what passes can be walked by every later pass."""
    stack, seen = [(node, 1)], 0
    while stack:
        part, depth = stack.pop()
        seen += 1
        if depth > _DEEPEST:
            raise _too_deep()
        if seen > _MOST_NODES:
            rule = f"a question may hold at most {_MOST_NODES:,} names, values, functions and operators"
            raise QueryRefused(rule, "", "ask in several questions", line=1, column=1)
        stack += [(child, depth + 1) for child in part.iter_expressions()]


def _check_joins(query: exp.Expr) -> None:
    """Refuse a JOIN, or a comma, after which tables come and before which none does: the parser takes it."""
    for select in query.find_all(exp.Select):
        joins = select.args.get("joins")
        if joins and select.args.get("from_") is None:
            raise refuse(joins[0], "a table is joined with nothing", "write FROM and a table before it")


def _too_deep() -> QueryRefused:
    return QueryRefused("the query is nested too deeply", "", "use IN for long lists, and WITH", line=1, column=1)
