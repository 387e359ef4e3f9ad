"""The places of a query's parts in the analyst's text, and refusals that point there.

The parser says where names, numbers and texts stand. `placed` makes it say so of everything: what it reads between two
words stands there. What is put together out of parts reaches from the first to the last, with the parentheses that
belong to it. What later passes make stands where that stands which it replaces.

A refusal has the line, the column and the words, then the rule, then what would work.
"""

from __future__ import annotations

import logging
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.dialect import Dialect, DialectType
from sqlglot.errors import SqlglotError
from sqlglot.parser import Parser

from discreet.errors import QueryRefused

__all__ = [
    "TextSpan",
    "find_place",
    "mark_as_generated",
    "name_column",
    "parse_with_places",
    "quote",
    "refuse",
    "refuse_part",
    "replacing",
    "spell",
]


_LONGEST = 60
_KEY, _OURS = "place", "written_by_us"
_LOG = logging.getLogger("sqlglot")
_LOG.addHandler(logging.NullHandler())
_LOG.propagate = False  # it warns of what a refusal says too, and would write analysts' questions to standard error
_Node = TypeVar("_Node", bound=exp.Expr)


@dataclass(frozen=True)
class TextSpan:
    """A part of a text, from its first character to the one after its last."""

    text: str
    start: int
    end: int

    @property
    def words(self) -> str:
        """What the analyst wrote there, on one line, shortened where it is long."""
        words = " ".join(self.text[self.start : self.end].split())
        return words if len(words) <= _LONGEST else words[: _LONGEST - 1] + "…"

    @property
    def line(self) -> int:
        """The line where it starts, from 1."""
        return self.text.count("\n", 0, self.start) + 1

    @property
    def column(self) -> int:
        """The character in the line where it starts, from 1."""
        return self.start - self.text.rfind("\n", 0, self.start)

    def __deepcopy__(self, memo: object) -> TextSpan:
        return self  # a copy of a node stands where the node stands


def find_place(node: exp.Expr | None) -> TextSpan | None:
    """Where a node stands: as it was read, else where its parts stand, else what it is a part of."""
    while node is not None:
        own = node.meta.get(_KEY)
        found = [own] if own else [part.meta[_KEY] for part in node.walk() if _KEY in part.meta]
        if found:
            return TextSpan(found[0].text, min(one.start for one in found), max(one.end for one in found))
        node = node.parent
    return None


def quote(node: exp.Expr) -> str:
    """What the analyst wrote there, on one line; where that is not known, the node as DuckDB writes it."""
    place = find_place(node)
    return spell(node) if place is None else place.words


def replacing(old: exp.Expr, new: _Node) -> _Node:
    """The new node, which stands where the old one stands."""
    place = find_place(old)
    if place is not None:
        new.meta[_KEY] = place
    return new


def mark_as_generated(node: _Node) -> _Node:
    """A node that a function of the grammar writes in place of another: it stands where what is around it stands."""
    node.meta[_OURS] = True
    return node


def parse_with_places(grammar: DialectType, text: str, check: Callable[[exp.Expr], None]) -> list[exp.Expr]:
    """The statements that a text holds, in one grammar, with a place for every node.

    ``check`` refuses what is too large or too deep before places are sought: finding one looks at every word between
    the ends of a node, so that a deep tree would take the square of its size.
    """
    dialect = Dialect.get_or_raise(grammar)
    tokens = dialect.tokenize(text)
    statements = _placing(dialect.parser_class)(dialect=dialect).parse(tokens, text)
    found = [statement for statement in statements if statement is not None]
    words = _Words(text, tokens)
    for statement in found:
        check(statement)
        _place_all(statement, words)
    return found


def _place_all(root: exp.Expr, words: _Words) -> None:
    """Give every node a place that the parser gave none."""
    nodes = list(root.walk())
    for node in reversed(nodes):  # parts before what they are part of
        if _KEY not in node.meta and not _is_ours(node):
            _put_together(node, words)
    for node in nodes:
        if _KEY not in node.meta and node.parent is not None and _KEY in node.parent.meta:
            node.meta[_KEY] = node.parent.meta[_KEY]


def _is_ours(node: exp.Expr) -> bool:
    """Whether a node was read as a part of another, so that it has no words of its own."""
    is_unread = isinstance(node, exp.Func) and "start" not in node.meta
    return _OURS in node.meta or (is_unread and not isinstance(node, (exp.Binary, exp.Connector)))


def _put_together(node: exp.Expr, words: _Words) -> None:
    parts = list(node.iter_expressions())
    if isinstance(node, exp.Func) and not all(_KEY in part.meta for part in parts):
        return  # an operator, one side of which the parser took apart
    inside = [each for part in parts for each in ([part] if _KEY in part.meta else part.iter_expressions())]
    spans = [(place.start, place.end) for part in inside if (place := part.meta.get(_KEY))]
    if "start" in node.meta:
        spans.append((node.meta["start"], words.end_of_call(node.meta["start"], node.meta["end"] + 1)))
    if spans:
        node.meta[_KEY] = words.closed(min(start for start, _ in spans), max(end for _, end in spans))


class _Words:
    """The words of a text, with the parentheses among them."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self._text, self._tokens = text, tokens
        self._starts = [token.start for token in tokens]
        self._partner: dict[int, int] = {}
        opened: list[int] = []
        for number, token in enumerate(tokens):
            if token.token_type is TokenType.L_PAREN:
                opened.append(number)
            elif token.token_type is TokenType.R_PAREN and opened:
                self._partner[number] = opened.pop()
                self._partner[self._partner[number]] = number

    def end_of_call(self, start: int, end: int) -> int:
        """Where what starts with a name ends: behind the parentheses after it, where there are some."""
        opened = bisect_left(self._starts, start) + 1
        partner = self._partner.get(opened, 0)
        return self._tokens[partner].end + 1 if partner > opened else end

    def closed(self, start: int, end: int) -> TextSpan:
        """The place with the other end of every parenthesis in it."""
        first, last = bisect_left(self._starts, start), bisect_right(self._starts, end - 1) - 1
        partners = [self._partner[number] for number in range(first, last + 1) if number in self._partner]
        first, last = min([first, *partners]), max([last, *partners])
        if not 0 <= first <= last < len(self._tokens):
            return TextSpan(self._text, start, end)
        return TextSpan(self._text, min(start, self._starts[first]), max(end, self._tokens[last].end + 1))


_PARSED = (
    "_parse_statement", "_parse_select", "_parse_with", "_parse_cte", "_parse_table", "_parse_join", "_parse_where",
    "_parse_group", "_parse_having", "_parse_qualify", "_parse_order", "_parse_limit", "_parse_grouping_sets",
    "_parse_cube_or_rollup", "_parse_lateral", "_parse_into",
    "_parse_table_sample", "_parse_locks", "_parse_unary", "_parse_function", "_parse_interval", "_parse_ordered",
)  # fmt: skip
"""Steps of the parser between whose first and last word what they return stands. Few, because each of them is in the
stack once more for every parenthesis."""


@lru_cache
def _placing(kind: type[Parser]) -> type[Parser]:
    """The parser, which says where what it reads stands."""
    steps: dict[str, Any] = {name: _step(getattr(kind, name)) for name in _PARSED}
    return type(f"Placing{kind.__name__}", (kind,), {**steps, "expression": _leaf(kind.expression)})


def _step(parse: Callable[..., Any]) -> Callable[..., Any]:
    def placed(self: Any, *args: Any, **kwargs: Any) -> Any:
        first, index = self._curr, self._index
        found = parse(self, *args, **kwargs)
        for node in found if isinstance(found, list) else [found]:
            if self._index > index and isinstance(node, exp.Expr):
                _place(node, self.sql, first.start, self._prev.end + 1)
        return found

    return placed


def _leaf(build: Callable[..., Any]) -> Callable[..., Any]:
    """A node without parts is the word that was read last."""

    def placed(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = build(self, *args, **kwargs)
        if "start" not in found.meta and self._prev and next(iter(found.iter_expressions()), None) is None:
            _place(found, self.sql, self._prev.start, self._prev.end + 1)
        return found

    return placed


def _place(node: exp.Expr, text: str, start: int, end: int) -> None:
    """What several steps return stands where all of them read."""
    parts = [part.meta[_KEY] for part in (node, *node.iter_expressions()) if _KEY in part.meta]
    first, last = min([start, *(part.start for part in parts)]), max([end, *(part.end for part in parts)])
    node.meta[_KEY] = TextSpan(text, first, last)


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


def name_column(node: exp.Expr) -> str:
    """What a column without a name is called: its text."""
    return spell(node).lower()[:60]


def spell(node: exp.Expr) -> str:
    """The node as DuckDB writes it; nothing where that fails, because arguments are missing or of another kind."""
    try:
        return str(node.sql(dialect="duckdb", comments=False))
    except (SqlglotError, AttributeError, LookupError, TypeError, ValueError):
        return ""
