"""From text to one parsed SELECT, or a refusal: not SQL, several statements, too long, nested too deeply.

A text is read in the first grammar that can read all of it: our own, which is DuckDB's with the spellings of others,
the same with SELECT TOP, then those of other dialects in a fixed order. So a text never means two things. Functions
mean the same in every grammar; operators, quotes and literals mean what they mean in the one that was found, and our
own comes first. An analyst who names another dialect is read in that one alone.

Text stops being SQL at a misspelt keyword where there is one, else at the word that does not fit. A parser stumbles
after the mistake: SELEC COUNT(*) fails at the parenthesis. People look for the word that they mistyped.

Shorthands are written out: GROUP BY ALL, and one value of APPROX_QUANTILES. Each is replaced by what it stands for, so
that the passes after this one know one form alone.
"""

from __future__ import annotations

from difflib import get_close_matches
from fractions import Fraction

import sqlglot
from sqlglot import Token, TokenType, exp
from sqlglot.dialects.dialect import DialectType

from discreet.errors import QueryRefused
from discreet.query.parse.dialect import AskedTop, QuestionDialect
from discreet.query.parse.places import parse_with_places, refuse, replacing

__all__ = ["expand_shorthands", "has_aggregate", "is_aggregate", "parse", "unreadable"]


_KEYWORDS = (
    "SELECT", "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "BETWEEN", "JOIN", "UNION", "DISTINCT", "WITH",
)  # fmt: skip
_LONGEST_WORD = 60
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
        return QueryRefused(_RULE, words[:_LONGEST_WORD], remedy, line=line, column=column)
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
    return QueryRefused(_RULE, text[start:][:_LONGEST_WORD], "close what is opened here", line=line, column=column)


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


def expand_shorthands(query: exp.Query) -> exp.Query:
    """The query with its shorthands replaced; what is no shorthand stays as it is."""
    for node in list(query.find_all(exp.Bracket)):
        quantile = _quantile(node)
        if quantile is not None:
            node.replace(replacing(node, quantile))
    for select in query.find_all(exp.Select):
        _name_groups(select)
    return query


def _quantile(node: exp.Bracket) -> exp.Expr | None:
    """APPROX_QUANTILES(x, 4)[OFFSET(2)] is the quantile 2/4, where that is a decimal fraction."""
    many, places = node.this, node.expressions
    if not isinstance(many, exp.ApproxQuantiles) or len(places) != 1 or [k for k, v in many.args.items() if v][2:]:
        return None
    count, place = _whole(many.args.get("expression")), _place(places[0], node.args.get("offset"))
    if count is None or place is None or not 0 <= place <= count or not count:
        return None
    share = Fraction(place, count)
    digits = next((k for k in range(10) if (share * 10**k).denominator == 1), None)
    if digits is None:
        return None
    return exp.ApproxQuantile(this=many.this.copy(), quantile=exp.Literal.number(f"{float(share):.{max(digits, 1)}f}"))


def _whole(node: exp.Expr | None) -> int | None:
    is_whole = isinstance(node, exp.Literal) and not node.is_string and str(node.this).isdigit()
    return int(node.this) if node is not None and is_whole else None


def _place(node: exp.Expr, first: object) -> int | None:
    """The place in the list, counted from zero: OFFSET(2), ORDINAL(3), or a number that a dialect counts itself."""
    if isinstance(node, exp.Anonymous) and len(node.expressions) == 1:
        found = _whole(node.expressions[0])
        shift = {"offset": 0, "safe_offset": 0, "ordinal": 1, "safe_ordinal": 1}.get(node.name.casefold())
        return None if found is None or shift is None else found - shift
    found = _whole(node)
    return None if found is None or not isinstance(first, int) else found - first


def _name_groups(select: exp.Select) -> None:
    """GROUP BY ALL stands for every column of the SELECT list that is no aggregate."""
    group = select.args.get("group")
    if group is None or not group.args.get("all") or group.expressions:
        return
    plain = [place for place, each in enumerate(select.expressions, start=1) if not _aggregates(each)]
    stars = any(each.is_star for each in select.expressions)
    if plain and not stars:
        group.set("all", None)
        group.set("expressions", [replacing(group, exp.Literal.number(place)) for place in plain])
    elif not stars:
        select.set("group", None)


def _aggregates(node: exp.Expr) -> bool:
    return any(is_aggregate(part) for part in node.walk(prune=lambda part: isinstance(part, exp.Query)))


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node turns many rows into one value."""
    if isinstance(node, exp.Filter):
        return is_aggregate(node.this)
    if isinstance(node, exp.Window):
        return False
    return isinstance(node, (exp.AggFunc, exp.WithinGroup))


def has_aggregate(node: exp.Select) -> bool:
    """Whether a query turns many rows into one; subqueries inside it and functions of windows do not count."""
    if node.args.get("group") is not None or node.args.get("having") is not None:
        return True
    parts = [part for projection in node.expressions for part in _own_nodes(projection)]
    return any(is_aggregate(part) and not _is_of_window(part) for part in parts)


def _own_nodes(node: exp.Expr) -> list[exp.Expr]:
    return list(node.walk(prune=lambda part: isinstance(part, (exp.Subquery, exp.Query))))


def _is_of_window(node: exp.Expr) -> bool:
    outer = node.parent.parent if isinstance(node.parent, (exp.Filter, exp.IgnoreNulls)) else node.parent
    return isinstance(outer, exp.Window) and outer.this in (node, node.parent)


_DIALECTS = ("duckdb", "postgres", "bigquery", "spark", "tsql", "snowflake", "mysql")
_GRAMMARS: tuple[DialectType, ...] = (QuestionDialect, AskedTop, *_DIALECTS[1:])
_LONGEST = 100_000
_DEEPEST = 100  # every later pass walks the tree by recursion
_MOST_NODES = 20_000
_FAULTS = (AttributeError, LookupError, TypeError, ValueError)
"""What parsers of dialects raise, instead of a complaint, where an argument that they take for granted is missing."""


def parse(text: str, dialect: str) -> exp.Query:
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
    _check_joins(statements[0])
    return statements[0]


def _statements(text: str, dialect: str) -> list[exp.Expr]:
    """What the text holds, in the first grammar that can read it; the first one's complaint where none can."""
    complaints: list[sqlglot.errors.SqlglotError] = []
    for grammar in _GRAMMARS if dialect == _DIALECTS[0] else (dialect,):
        try:
            return parse_with_places(grammar, text, _check_size)
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
