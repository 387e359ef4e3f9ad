"""A quotient is missing where its divisor is a count that may be zero, as far as its interval tells.

Nobody knows then whether there is anything to divide by: SUM(x) / COUNT(*) of an empty group would show noise divided
by noise. It is NULL in SQL where the count is zero, and so it is here where the count may be; so are the means that are
asked for as AVG. Outer aggregates pass over it.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from discreet.query.ends_above import carry, leaf_of
from discreet.query.noisy_view import Shape, View, view_of
from discreet.query.unclipped_totals import own_parts

__all__ = ["guard_divisors"]

_BARE = (exp.Paren, exp.Nullif, exp.Cast)
_NEIGHBOURS = (exp.Lag, exp.Lead)


def guard_divisors(query: exp.Query, tables: Mapping[str, Shape]) -> exp.Query:
    """The query with quotients that are NULL where a count that they divide by may be zero."""
    guarded = query.copy()
    for view in [view_of(select, tables) for select in guarded.find_all(exp.Select)]:
        for quotient in reversed(list(own_parts(view.query, exp.Div))):  # the inner ones first
            around = quotient.find_ancestor(exp.AggFunc, exp.Select)
            if view.is_grouped and not isinstance(around, exp.AggFunc):
                continue
            low = _least(view, quotient.expression)
            if low is not None:
                is_sure = exp.GT(this=low, expression=exp.Literal.number(0))
                quotient.replace(exp.Paren(this=exp.Case(ifs=[exp.If(this=is_sure, true=quotient.copy())])))
    return guarded


def _least(view: View, node: exp.Expr) -> exp.Expr | None:
    """The lower end of a count, in its own row or in that of a neighbour; None for anything else."""
    if isinstance(node, _BARE):
        return _least(view, node.this)
    if isinstance(node, exp.Window) and isinstance(node.this, _NEIGHBOURS):
        return _of_neighbour(view, node)
    found = leaf_of(view, node, each_once=False)
    is_count = found is not None and found[1] in found[0].shape.counts
    return carry(view, node, "_low") if is_count else None


def _of_neighbour(view: View, window: exp.Window) -> exp.Expr | None:
    low = None if window.this.args.get("default") is not None else _least(view, window.this.this)
    if low is None:
        return None
    other = window.copy()
    other.this.set("this", low)
    return other
