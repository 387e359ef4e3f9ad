"""Weights of rows: only the units with too many rows are looked up, and they are few.

A plan counts the rows of every unit and joins the counts to the rows. In PostgreSQL every worker of a parallel scan
would count them all for itself. So here the units with more rows than count in full are collected first, once, into two
arrays, and the rows of all others have the full weight.

No two workers share a count, so one worker would do all the counting. Rows that are read from one table are counted in
two halves, by a hash of their unit, which two workers do side by side: each reads all rows and counts half of them.
Where people have few rows and numbers for names, they are counted in order: along an index on the column, where there
is one, in a third of the time; else sorted, which still waits less for memory than looking up a million hashes does.
Where the server knows the middle of such numbers, the halves are those below it and the others, and each worker reads
half of the index.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar

from sqlglot import exp

from discreet.engines.translate.expression import ValueKind, WriterScope, Written
from discreet.engines.translate.writer import Rule, SourceTable, StatementWriter

__all__ = ["COUNTED", "HEAVY", "HEAVY_RULES", "ROWS", "WEIGHTED", "heavy_units", "is_in_order", "with_heavy_units"]


COUNTED, WEIGHTED, ROWS, _ALL = "_counted", "_weighted", "_rows", "_all"
HEAVY = f"unnest((SELECT units FROM {COUNTED}), (SELECT counts FROM {COUNTED})) AS {COUNTED}(_unit, n)"
"""The units with too many rows, and how many."""
_HASHES = {ValueKind.INTEGER: "hashint8", ValueKind.TEXT: "hashtext"}
"""Equal units have equal numbers of 32 bits; about half of them are below zero."""
_FEW = 100
"""Rows of one person. Where most have more, there are fewer people, and their hashes are close at hand."""
_IN_ORDER = "in order"


class _Half(exp.Expression):
    """Whether a unit is below the middle, or not below: by its hash, or by itself where units are read in order."""

    arg_types: ClassVar = {"this": True, "function": True, "sign": True, "in_order": True}


class _Lessened(exp.Expression):
    """A weight that is less than the full one, because its unit has too many rows."""

    arg_types: ClassVar = {"this": True, "full": True}


def heavy_units(query: str) -> str:
    """The query for units and their rows, collected once."""
    return f"{COUNTED} AS MATERIALIZED (SELECT array_agg(_unit) AS units, array_agg(n) AS counts FROM ({query}) h)"


def with_heavy_units(node: exp.Select, sources: Mapping[str, SourceTable] | None) -> exp.Select:
    """A statement in which only such units are counted, where it counts units for weights.

    They are counted in halves where the units of its ``sources`` can be parted.
    """
    named = {one.alias: one.this for one in node.args["with_"].expressions} if node.args.get("with_") else {}
    if COUNTED not in named:
        return node
    (case,) = (one.this for one in named[WEIGHTED].expressions if one.alias == "w")
    limit, full, part = case.args["ifs"][0].this, case.args["ifs"][0].args["true"], case.args["default"]
    named[COUNTED].set("having", exp.Having(this=exp.GT(this=exp.Count(this=exp.Star()), expression=limit.expression)))
    most = int(limit.expression.this)
    limit.replace(exp.Is(this=exp.column("n"), expression=exp.Null()))
    part.replace(_Lessened(this=part.copy(), full=full.copy()))
    (join,) = named[WEIGHTED].args["joins"]
    join.set("side", "LEFT")
    if sources is not None:
        _count_in_halves(named, sources, most)
    return node


def is_in_order(table: exp.Table) -> bool:
    """Whether the units of this table are to be read in order."""
    return bool(table.meta.get(_IN_ORDER))


def _count_in_halves(named: Mapping[str, Any], sources: Mapping[str, SourceTable], most: int) -> None:
    function = None if _ALL in named else _hash_of_units(named[ROWS], sources)
    if function is None:
        return
    in_order = function == _HASHES[ValueKind.INTEGER] and most <= _FEW
    named[COUNTED].args["from_"].this.meta[_IN_ORDER] = in_order
    first, second = named[COUNTED].copy(), named[COUNTED].copy()
    for half, sign in ((first, "<"), (second, ">=")):
        below = _Half(this=exp.column("_unit"), function=function, sign=sign, in_order=in_order)
        half.set("where", exp.Where(this=below))
    named[COUNTED].replace(exp.Union(this=first, expression=second, distinct=False))


def _hash_of_units(rows: Any, sources: Mapping[str, SourceTable]) -> str | None:
    """The hash for the units of one table; None where there are several, which would be joined once more."""
    if rows.find(exp.Join, exp.Union) is not None:
        return None
    (table,) = rows.find_all(exp.Table)
    unit = sources[table.name].unit
    return None if unit is None else _HASHES.get(unit)


def _half(writer: Any, node: _Half, scope: WriterScope) -> Written:
    unit, sign = writer.write(node.this, scope).text, node.args["sign"]
    if node.args["in_order"] and writer.middle is not None:
        return Written(f"({unit} {sign} {writer.middle})", ValueKind.BOOLEAN)
    return Written(f"({node.args['function']}({unit}) {sign} '0'::int4)", ValueKind.BOOLEAN)


def _lessened(writer: StatementWriter, node: _Lessened, scope: WriterScope) -> Written:
    return replace(writer.write(node.this, scope), low=Fraction(0), high=Fraction(node.args["full"].this))


HEAVY_RULES: Mapping[type[exp.Expr], Rule] = {_Half: _half, _Lessened: _lessened}
