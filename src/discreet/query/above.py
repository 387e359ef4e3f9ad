"""Queries over noisy and public tables: left as they are, every name in them resolved and every function checked."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from discreet.query.allowed_above import check_all
from discreet.query.refusal import refuse
from discreet.query.scope import Scope, check_alias

__all__ = ["post_processing"]

Answer = Callable[[exp.Expr, Scope], exp.Expr]
"""What a table or a subquery becomes: a public table's own name, or a query over noisy and public tables."""

_PARTS = {
    "expressions", "from_", "joins", "where", "group", "having", "qualify", "order", "distinct", "limit", "offset",
    "windows", "with_",
}  # fmt: skip


def post_processing(node: exp.Select, scope: Scope, answer: Answer) -> exp.Select:
    """The query with what WITH named put in place."""
    unknown = {key for key, value in node.args.items() if value} - _PARTS
    if unknown:
        raise refuse(node, f"{min(unknown).rstrip('_').upper()} is not understood here", "leave it out")
    above = node.copy()
    above.set("with_", None)
    clause = above.args.get("from_")
    places = [clause.this] if clause is not None else []
    places += [join.this for join in above.args.get("joins") or []]
    for place in places:
        place.replace(_source(place, scope, answer))
    inside = {id(part) for place in places for part in place.walk()}
    for query in [found for found in _outermost_queries(above) if id(found) not in inside]:
        found = answer(query, scope)
        query.replace(exp.Subquery(this=found) if isinstance(query, exp.Subquery) else found)
    check_all(above)
    return above


def _source(place: exp.Expr, scope: Scope, answer: Answer) -> exp.Expr:
    check_alias(place)
    found = answer(place, scope)
    alias = exp.to_identifier(place.alias_or_name, quoted=True)
    named = exp.TableAlias(this=alias) if place.alias_or_name else None
    if isinstance(found, exp.Table):
        found.set("alias", named)
        return found
    return exp.Subquery(this=found, alias=named)


def _outermost_queries(above: exp.Select) -> list[exp.Expr]:
    """Subqueries in expressions, each without those inside it; FROM and JOIN were put in place before."""
    found: list[exp.Expr] = []
    for key, value in above.args.items():
        for part in value if isinstance(value, list) else [value]:
            if not isinstance(part, exp.Expr) or key == "from_":
                continue
            roots = [part.args.get("on")] if key == "joins" else [part]
            for root in roots:
                found += _queries_in(root) if root is not None else []
    return found


def _queries_in(root: exp.Expr) -> list[exp.Expr]:
    kinds = (exp.Subquery, exp.Query)
    return [part for part in root.walk(prune=lambda node: isinstance(node, kinds)) if isinstance(part, kinds)]
