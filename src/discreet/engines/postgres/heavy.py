"""Weights of rows: only the units with too many rows are looked up, and they are few.

A plan counts the rows of every unit and joins the counts to the rows. In PostgreSQL every worker of a parallel scan
would count them all for itself. So here the units with more rows than count in full are collected first, once, into two
arrays, and the rows of all others have the full weight.
"""

from __future__ import annotations

from sqlglot import exp

__all__ = ["COUNTED", "HEAVY", "heavy_units", "with_heavy_units"]

COUNTED, _WEIGHTED = "_counted", "_weighted"
HEAVY = f"unnest((SELECT units FROM {COUNTED}), (SELECT counts FROM {COUNTED})) AS {COUNTED}(_unit, n)"
"""The units with too many rows, and how many."""


def heavy_units(query: str) -> str:
    """The query for units and their rows, collected once."""
    return f"{COUNTED} AS MATERIALIZED (SELECT array_agg(_unit) AS units, array_agg(n) AS counts FROM ({query}) h)"


def with_heavy_units(node: exp.Select) -> exp.Select:
    """A statement in which only such units are counted, where it counts units for weights."""
    named = {one.alias: one.this for one in node.args["with_"].expressions} if node.args.get("with_") else {}
    if COUNTED not in named:
        return node
    (case,) = (one.this for one in named[_WEIGHTED].expressions if one.alias == "w")
    limit = case.args["ifs"][0].this
    named[COUNTED].set("having", exp.Having(this=exp.GT(this=exp.Count(this=exp.Star()), expression=limit.expression)))
    limit.replace(exp.Is(this=exp.column("n"), expression=exp.Null()))
    (join,) = named[_WEIGHTED].args["joins"]
    join.set("side", "LEFT")
    return node
