"""Growth: a query is written out before it is planned, and one that is short in text can be huge when written out.

Each table of a WITH stands wherever it is named. Named twice by the next, which is named twice by the one after, it
stands a million times after twenty lines. So what is written out is counted while it is built, and refused in time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlglot import exp

from discreet.query.refusal import refuse

__all__ = ["Growth"]

_MOST_PARTS = 300
_DEEPEST = 40
_MOST_WORDS = 20_000
_REMEDY = "name each table of a WITH fewer times, or ask in several questions"


class Growth:
    """What one query became so far."""

    def __init__(self) -> None:
        self._parts = 0
        self._depth = 0
        self._words = 0

    @contextmanager
    def part(self, node: exp.Expr) -> Iterator[None]:
        """One more query, table or subquery, inside those that are being built."""
        self._parts += 1
        self._depth += 1
        if self._parts > _MOST_PARTS:
            raise refuse(node, f"a question may read at most {_MOST_PARTS} tables once WITH is written out", _REMEDY)
        if self._depth > _DEEPEST:
            raise refuse(node, f"subqueries may be nested at most {_DEEPEST} levels deep", _REMEDY)
        try:
            yield
        finally:
            self._depth -= 1

    def check_stars(self, node: exp.Select) -> None:
        """Refuse to name all columns twice: the columns would double with every query around it."""
        stars = [one.args.get("table") for one in node.expressions if one.is_star]
        names = {"" if name is None else name.name.casefold() for name in stars}
        if len(names) < len(stars) or (len(names) > 1 and "" in names):
            raise refuse(node, "* may name each column once", "list the columns that you need twice by name")

    def copied(self, query: exp.Query) -> exp.Query:
        """A copy of a query, to stand where it is named."""
        self._words += sum(1 for _ in query.walk())
        if self._words > _MOST_WORDS:
            raise refuse(query, "the question is too large once WITH is written out", _REMEDY)
        return query.copy()
