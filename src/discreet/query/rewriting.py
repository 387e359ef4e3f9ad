"""Shorthands written out: GROUP BY ALL, and one value of APPROX_QUANTILES.

Each is replaced by what it stands for, so that the passes after this one know one form alone.
"""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from discreet.query.aggregates import is_aggregate
from discreet.query.places import replacing

__all__ = ["written_out"]


def written_out(query: exp.Query) -> exp.Query:
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
