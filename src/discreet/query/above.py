"""Queries over noisy and public tables: left as they are, every name in them resolved and every function checked."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from discreet.query.allowed_above import check_all
from discreet.query.refusal import refuse_part
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
        raise refuse_part(node, min(unknown), "{} is not understood here", "leave it out")
    # Sources and subqueries are answered as the nodes they were first built from, so that nothing is measured twice.
    above = node.copy()
    above.set("with_", None)
    pairs = zip(_sources_of(node), _sources_of(above), strict=True)
    answered = [(place, _source(original, scope, answer)) for original, place in pairs]
    pairs = zip(_queries_of(node), _queries_of(above), strict=True)
    answered += [(place, _subquery(original, scope, answer)) for original, place in pairs]
    for place, found in answered:
        place.replace(found)
    check_all(above)
    return above


def _sources_of(node: exp.Select) -> list[exp.Expr]:
    clause = node.args.get("from_")
    places = [clause.this] if clause is not None else []
    return places + [join.this for join in node.args.get("joins") or []]


def _source(place: exp.Expr, scope: Scope, answer: Answer) -> exp.Expr:
    check_alias(place)
    found = answer(place, scope)
    alias = exp.to_identifier(place.alias_or_name, quoted=True)
    named = exp.TableAlias(this=alias) if place.alias_or_name else None
    if isinstance(found, exp.Table):
        found.set("alias", named)
        return found
    return exp.Subquery(this=found, alias=named)


def _subquery(node: exp.Expr, scope: Scope, answer: Answer) -> exp.Expr:
    found = answer(node, scope)
    return exp.Subquery(this=found) if isinstance(node, exp.Subquery) else found


def _queries_of(node: exp.Select) -> list[exp.Expr]:
    """Subqueries in expressions, each without those inside it; not those of FROM, JOIN and WITH."""
    found: list[exp.Expr] = []
    for key, value in node.args.items():
        parts = [part for part in (value if isinstance(value, list) else [value]) if isinstance(part, exp.Expr)]
        if key == "joins":
            parts = [join.args["on"] for join in parts if join.args.get("on") is not None]
        if key not in ("from_", "with_"):
            found += [query for part in parts for query in _queries_in(part)]
    return found


def _queries_in(root: exp.Expr) -> list[exp.Expr]:
    kinds = (exp.Subquery, exp.Query)
    return [part for part in root.walk(prune=lambda node: isinstance(node, kinds)) if isinstance(part, kinds)]
