"""Weights of rows: how many rows a unit has is counted where the rows pass by, not in a second reading of them.

A plan counts the rows of every unit and joins the counts to the rows. Spark keeps no result of a named query: it would
read and compute the rows twice, and a row that has only a number for its unit could get another one the second time.
"""

from __future__ import annotations

from sqlglot import exp

from discreet.engines.translation.plain_rules import PLAIN_RULES
from discreet.engines.translation.scope import Scope
from discreet.engines.translation.writer import Writer
from discreet.engines.translation.written import Kind, Written

__all__ = ["counted_in_passing", "window"]

_COUNTED, _WEIGHTED = "_counted", "_weighted"


def counted_in_passing(node: exp.Expr) -> exp.Expr:
    """The statement without its query for the rows of units, where it has one."""
    before = node.args.get("with_")
    named = {} if before is None else {one.alias: one for one in before.expressions}
    if before is None or _COUNTED not in named:
        return node
    before.set("expressions", [one for one in before.expressions if one.alias != _COUNTED])
    source = named[_COUNTED].this.args["from_"].this.name
    count = exp.Window(this=exp.Count(this=exp.Star()), partition_by=[exp.column("_unit")])
    rows = exp.select(exp.Star(), exp.alias_(count, "n")).from_(source)
    weighted = named[_WEIGHTED].this
    weighted.set("joins", None)
    weighted.args["from_"].set("this", exp.Subquery(this=rows, alias=exp.TableAlias(this=exp.to_identifier(source))))
    return node


def window(writer: Writer, node: exp.Window, scope: Scope) -> Written:
    """The number of rows of a unit, or the place of a row among them."""
    if not isinstance(node.this, exp.Count):
        return _place(writer, node, scope)
    apart = ", ".join(writer.write(one, scope).text for one in node.args["partition_by"])
    count = writer.write(node.this, scope)
    return Written(f"{count.text} OVER (PARTITION BY {apart})", Kind.INTEGER, count.low)


_place = PLAIN_RULES[exp.Window]
