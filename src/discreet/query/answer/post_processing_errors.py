"""Mistakes above the aggregates: which words they stand in, and what DuckDB says of them without names of ours.

The part of a query above its aggregates is DuckDB's to read. When it fails there, its parts are tried by themselves:
the smallest that fails is what the analyst is shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from sqlglot import exp

from discreet.errors import QueryRefused
from discreet.query.parse.places import refuse

__all__ = ["mistake_in", "refuse_post_processing"]


Complaint = Callable[[exp.Expr], str]
"""What is wrong with a query that is run; nothing where it runs."""

_MOST_TRIES = 200
_CLAUSES = ("where", "group", "having", "qualify", "order", "limit", "offset")
_SENTENCES: tuple[tuple[str, str, str], ...] = (
    (
        r'Referenced column "(?P<name>.+?)" not found',
        "there is no column {name} here",
        "name a column as the subquery calls it",
    ),
    (
        r'does not have a column named "(?P<name>.+?)"',
        "there is no column {name} here",
        "name a column as the subquery calls it",
    ),
    (
        r"Could not convert string (?P<name>'.*') to (?P<kind>\w+)",
        "a text is no number",
        "compare values of one type, or write TRY_CAST(x AS INTEGER)",
    ),
    (
        r"No function matches the given name and argument types '(?P<name>[^(]+)\((?P<kind>.*)\)'",
        "{name} does not take ({kind})",
        "write CAST(x AS VARCHAR), or another type that it takes",
    ),
    (
        r'column "?(?P<name>[^"]+?)"? must appear in the GROUP BY',
        "{name} must be grouped by or aggregated",
        "add it to GROUP BY, or use SUM, AVG …",
    ),
    (
        r"Subquery returns (?P<name>\d+) columns",
        "a subquery that stands for a value has one column, not {name}",
        "select one column",
    ),
    (
        r"same number of result columns",
        "both sides must have as many columns",
        "select as many columns on both sides",
    ),
    (
        r"Window functions are not supported here",
        "this function needs OVER",
        "write ROW_NUMBER() OVER (ORDER BY COUNT(*))",
    ),
)
"""Complaints of DuckDB's that people meet, in plain words, and what would work."""
_OURS = re.compile(r'"?_block\d+"?|\b[ak]\d+\b')
"""Names of noisy tables and of their columns, which no analyst knows."""


def refuse_post_processing(node: exp.Expr, complaint: str, otherwise: str) -> QueryRefused:
    """The refusal of ``node`` for what DuckDB says of it; its own words are kept where nothing plainer is known."""
    rule = "the part of the query above the aggregates failed"
    for pattern, plain, remedy in _SENTENCES:
        found = re.search(pattern, complaint)
        if found is not None and not _OURS.search(found[0]):
            return refuse(node, f"{rule}: {plain.format_map(found.groupdict())}", remedy)
    said = complaint.split("\n", maxsplit=1)[0].partition(": ")[2][:120]
    return refuse(node, rule if not said or _OURS.search(said) else f"{rule}: {said}", otherwise)


def mistake_in(query: exp.Expr, complaint: Complaint) -> exp.Expr:
    """The smallest part of a failing query that fails by itself."""
    tries = iter(range(_MOST_TRIES))

    def fails(part: exp.Expr) -> bool:
        return next(tries, None) is not None and bool(complaint(part))

    inner = [each for each in query.find_all(exp.Select) if each is not query and _stands_alone(each)]
    wrong = next((each for each in reversed(inner) if fails(each)), query)
    if not isinstance(wrong, exp.Select):
        return wrong
    for part, alone in _alone(wrong):
        if fails(alone):
            return part if isinstance(part.parent, exp.Join) else _smallest(part, wrong, fails)
    return wrong


def _stands_alone(select: exp.Select) -> bool:
    """Whether a query is a table or one side of a UNION, so that it can be run by itself."""
    around = select.parent
    return isinstance(around, exp.SetOperation) or (
        isinstance(around, exp.Subquery) and isinstance(around.parent, (exp.From, exp.Join))
    )


def _alone(select: exp.Select) -> Iterator[tuple[exp.Expr, exp.Select]]:
    """Each part of a query, and the query with nothing but that part."""
    for join in select.args.get("joins") or []:
        if join.args.get("on") is not None:
            yield join.args["on"], _over(select)
    for clause in _CLAUSES:
        part = select.args.get(clause)
        if part is not None:
            bare = _over(select)
            bare.set(clause, part.copy())
            yield part, bare
    for projection in select.expressions:
        yield projection, _of_value(projection, select)


def _over(select: exp.Select) -> exp.Select:
    """SELECT 1 from the same tables."""
    bare = exp.Select(expressions=[exp.Literal.number(1)])
    bare.set("from_", select.args["from_"].copy() if select.args.get("from_") is not None else None)
    bare.set("joins", [join.copy() for join in select.args.get("joins") or []])
    return bare


def _of_value(value: exp.Expr, select: exp.Select) -> exp.Select:
    bare = _over(select)
    bare.set("expressions", [value.copy()])
    bare.set("group", select.args["group"].copy() if select.args.get("group") is not None else None)
    return bare


def _smallest(part: exp.Expr, select: exp.Select, fails: Callable[[exp.Expr], bool]) -> exp.Expr:
    """The innermost value inside a failing part that fails where it is all that is selected."""
    inside = [each for each in part.iter_expressions() if isinstance(each, (exp.Condition, exp.Ordered, exp.Alias))]
    for each in inside:
        value = each.this if isinstance(each, (exp.Ordered, exp.Alias)) else each
        if isinstance(value, exp.Condition) and fails(_of_value(value, select)):
            return _smallest(value, select, fails)
    return part
