"""Corrections of what is computed above noisy counts: quotients that are missing, and totals that are not biased.

A quotient is missing where its divisor is a count that may be zero, as far as its interval tells. Nobody knows then
whether there is anything to divide by: SUM(x) / COUNT(*) of an empty group would show noise divided by noise. It is
NULL in SQL where the count is zero, and so it is here where the count may be; so are the means that are asked for as
AVG. Outer aggregates pass over it.

Totals over groups are taken of counts as they were measured, not of the zeros that stand for those below zero. A count
below zero is shown as zero. A sum of such counts would be too large on average, by what was cut off: the noise of a
thousand small groups cancels, what is left of it after cutting does not. So where a query sums or averages counts over
groups, in a window or not, the counts are read as they were measured. A total that is itself a count, or a mean of
counts, is then moved to zero or above and made whole, as any count is. Quotients that hold such a total read all of
their counts so, so that shares add up to one.

Only what is linear in the counts is read so: in ``SUM(LN(n))`` a count below zero would leave a hole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from discreet.query.answer.interval_columns import carry, find_leaf
from discreet.query.answer.noisy_columns import NoisyQuery, NoisyTable, read_view
from discreet.query.parse.places import name_column

__all__ = ["MEASURED", "find_own_parts", "guard_divisors", "name_columns", "unclip_totals"]


MEASURED = "_measured"
"""The ending of the column of a noisy table that has a count before it was made plausible."""

_REWRITTEN = (exp.Sum, exp.Avg, exp.Div)
_LINEAR = (exp.Column, exp.Identifier, exp.Paren, exp.Add, exp.Sub, exp.Neg, exp.Literal, exp.Cast, exp.DataType)


def unclip_totals(query: exp.Query, tables: Mapping[str, NoisyTable]) -> exp.Query:
    """The query with sums and means over counts taken of the counts as measured."""
    taken = query.copy()
    views = [read_view(select, tables) for select in taken.find_all(exp.Select)]
    for view in views:
        for total in list(find_own_parts(view.query, exp.Sum, exp.Avg)):
            _take_measured(view, total)
    for view in views:
        for quotient in list(find_own_parts(view.query, exp.Div)):
            if any(column.name.endswith(MEASURED) for column in quotient.find_all(exp.Column)):
                _replace_counts(view, quotient)
    return taken


def name_columns(query: exp.Query) -> exp.Query:
    """The query with the text of columns as their names, where a correction may rewrite them."""
    named = query.copy()
    for select in named.find_all(exp.Select):
        for projection in select.expressions:
            is_named = isinstance(projection, (exp.Alias, exp.Column, exp.Star))
            if not is_named and any(isinstance(one, _REWRITTEN) for one in projection.walk(prune=_is_query)):
                projection.replace(exp.alias_(projection.copy(), name_column(projection), quoted=True))
    return named


def find_own_parts(select: exp.Expr, *kinds: type[exp.Expr]) -> Iterator[exp.Expr]:
    """What stands in the clauses of this query itself; ends of intervals, whose names begin with __, are left alone."""
    for key, value in select.args.items():
        parts = value if isinstance(value, list) else [value]
        if key not in ("from_", "joins", "with_"):
            for part in parts:
                if isinstance(part, exp.Expr) and not part.alias_or_name.startswith("__"):
                    yield from (one for one in part.walk(prune=_is_query) if isinstance(one, kinds))


def _is_query(node: exp.Expr) -> bool:
    return isinstance(node, (exp.Query, exp.Subquery))


def _take_measured(view: NoisyQuery, total: exp.Expr) -> None:
    """Let a total read counts as they were measured, where it is linear in them."""
    is_linear = all(isinstance(part, _LINEAR) for part in total.this.walk())
    is_count = isinstance(total.this, exp.Column)
    if not is_linear or not _replace_counts(view, total.this):
        return
    if is_count:
        whole = total
        while isinstance(whole.parent, (exp.Filter, exp.Window)) and whole.parent.this is whole:
            whole = whole.parent
        whole.replace(_made_plausible(whole, is_count=isinstance(total, exp.Sum)))


def _replace_counts(view: NoisyQuery, node: exp.Expr) -> bool:
    """Put counts as measured in the place of counts, outside of other aggregates; whether there were any."""
    parts = node.walk(prune=lambda one: isinstance(one, (exp.AggFunc, exp.Window)) or _is_query(one))
    counts = [one for one in parts if isinstance(one, exp.Column) and _is_count(view, one)]
    for column in counts:
        column.replace(carry(view, column, MEASURED))
    return bool(counts)


def _is_count(view: NoisyQuery, column: exp.Column) -> bool:
    found = find_leaf(view, column, each_once=False)
    return found is not None and found[1] in found[0].shape.counts


def _made_plausible(total: exp.Expr, *, is_count: bool) -> exp.Expr:
    """Zero where the total is below it; whole where it is a count."""
    rounded = exp.Cast(this=exp.Round(this=total.copy()), to=exp.DataType.build("hugeint", dialect="duckdb"))
    is_below = exp.LT(this=total.copy(), expression=exp.Literal.number(0))
    ifs = [exp.If(this=is_below, true=exp.Literal.number(0))]
    return exp.Paren(this=exp.Case(ifs=ifs, default=rounded if is_count else total.copy()))


_BARE = (exp.Paren, exp.Nullif, exp.Cast)
_NEIGHBOURS = (exp.Lag, exp.Lead)


def guard_divisors(query: exp.Query, tables: Mapping[str, NoisyTable]) -> exp.Query:
    """The query with quotients that are NULL where a count that they divide by may be zero."""
    guarded = query.copy()
    for view in [read_view(select, tables) for select in guarded.find_all(exp.Select)]:
        for quotient in reversed(list(find_own_parts(view.query, exp.Div))):  # the inner ones first
            around = quotient.find_ancestor(exp.AggFunc, exp.Select)
            if view.is_grouped and not isinstance(around, exp.AggFunc):
                continue
            low = _least(view, quotient.expression)
            if low is not None:
                is_sure = exp.GT(this=low, expression=exp.Literal.number(0))
                quotient.replace(exp.Paren(this=exp.Case(ifs=[exp.If(this=is_sure, true=quotient.copy())])))
    return guarded


def _least(view: NoisyQuery, node: exp.Expr) -> exp.Expr | None:
    """The lower end of a count, in its own row or in that of a neighbour; None for anything else."""
    if isinstance(node, _BARE):
        return _least(view, node.this)
    if isinstance(node, exp.Window) and isinstance(node.this, _NEIGHBOURS):
        return _of_neighbour(view, node)
    found = find_leaf(view, node, each_once=False)
    is_count = found is not None and found[1] in found[0].shape.counts
    return carry(view, node, "_low") if is_count else None


def _of_neighbour(view: NoisyQuery, window: exp.Window) -> exp.Expr | None:
    low = None if window.this.args.get("default") is not None else _least(view, window.this.this)
    if low is None:
        return None
    other = window.copy()
    other.this.set("this", low)
    return other
