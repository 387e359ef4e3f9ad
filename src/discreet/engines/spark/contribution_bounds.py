"""Weights of rows: how many rows a unit has is counted where the rows pass by, or in a second reading of them.

A plan counts the rows of every unit and joins the counts to the rows. Spark keeps no result of a named query, so it
would read and compute the rows twice. There are two ways:

- in passing: a window counts the rows of a unit. Whatever the rows are, every one is counted with those that it is
  added up with. All rows are sent around and sorted for it, which takes longer than all the rest.
- apart: units with more rows than count in full are found in a reading of their own, and their rows weigh less. Few
  units are, so rows stay where they are. If a second reading found other rows than the first, a unit that was light
  when it was counted could add up more than it may; `discreet.engines.spark.tables` says when that cannot be.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sqlglot
from sqlglot import exp

from discreet.engines.translate.expression import ValueKind, WriterScope, Written
from discreet.engines.translate.rules import PLAIN_RULES
from discreet.engines.translate.writer import StatementWriter

__all__ = ["Readings", "count_apart_in_spark", "count_in_passing", "count_readings", "window"]


_ROWS, _COUNTED, _HEAVY, _WEIGHTED = "_rows", "_counted", "_heavy", "_weighted"
_UNSTEADY = (exp.Window, exp.AggFunc, exp.Limit)
"""What the order of rows could change: places of equal rows, and whatever is the first of something."""


@dataclass(frozen=True)
class Readings:
    """How often a statement reads its rows."""

    repeated: bool
    """Whether it reads some twice, so that what it says of a unit holds only if they are the same both times."""
    apart: bool
    """Whether the heavy units can be counted apart: rows are chosen one by one, and weighed by their number alone."""


@lru_cache(maxsize=256)
def count_readings(statement: str) -> Readings:
    """How often a statement in the language of plans reads its rows, where units are counted in passing."""
    node = sqlglot.parse_one(statement, read="duckdb")
    named = _named(node)
    apart = list(named) == [_ROWS, _COUNTED, _WEIGHTED] and not any(named[_ROWS].find_all(*_UNSTEADY))
    uses = Counter(table.name for table in count_in_passing(node).find_all(exp.Table) if not table.this.quoted)
    return Readings(any(number > 1 for number in uses.values()), apart)


def count_in_passing(node: exp.Expr) -> exp.Expr:
    """The statement without its query for the rows of units, where it has one."""
    named = _named(node)
    if _COUNTED not in named:
        return node
    _lessen(named[_WEIGHTED])
    before = node.args["with_"]
    before.set("expressions", [one for one in before.expressions if one.alias != _COUNTED])
    source = named[_COUNTED].args["from_"].this.name
    count = exp.Window(this=exp.Count(this=exp.Star()), partition_by=[exp.column("_unit")])
    rows = exp.select(exp.Star(), exp.alias_(count, "n")).from_(source)
    weighted = named[_WEIGHTED]
    weighted.set("joins", None)
    weighted.args["from_"].set("this", exp.Subquery(this=rows, alias=exp.TableAlias(this=exp.to_identifier(source))))
    return node


def count_apart_in_spark(node: exp.Expr) -> exp.Expr:
    """The statement with a query for the heavy units alone; rows of all others weigh in full."""
    named = _named(node)
    case = _lessen(named[_WEIGHTED])
    limit = case.args["ifs"][0].this
    named[_COUNTED].set("having", exp.Having(this=exp.GT(this=exp.Count(this=exp.Star()), expression=limit.expression)))
    limit.replace(exp.Is(this=exp.column("n"), expression=exp.Null()))
    (join,) = named[_WEIGHTED].args["joins"]
    join.set("side", "LEFT")
    join.set("this", exp.to_table(_HEAVY))
    for one in node.args["with_"].expressions:
        if one.alias == _COUNTED:
            one.set("alias", exp.TableAlias(this=exp.to_identifier(_HEAVY)))
    return node


def _named(node: exp.Expr) -> dict[str, Any]:
    before = node.args.get("with_")
    return {} if before is None else {one.alias: one.this for one in before.expressions}


def _lessen(weighted: Any) -> Any:
    """The weight of a row, which is told never to be more than the full one: sums need fewer parts for it."""
    (case,) = (one.this for one in weighted.expressions if one.alias == "w")
    full, part = case.args["ifs"][0].args["true"], case.args["default"]
    case.set("default", exp.Least(this=part.copy(), expressions=[full.copy()]))
    return case


def window(writer: StatementWriter, node: exp.Window, scope: WriterScope) -> Written:
    """The number of rows of a unit, or the place of a row among them."""
    if not isinstance(node.this, exp.Count):
        return _place(writer, node, scope)
    apart = ", ".join(writer.write(one, scope).text for one in node.args["partition_by"])
    count = writer.write(node.this, scope)
    return Written(f"{count.text} OVER (PARTITION BY {apart})", ValueKind.INTEGER, count.low)


_place = PLAIN_RULES[exp.Window]
