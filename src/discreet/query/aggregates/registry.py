"""Every aggregate over private rows, and reading one: what is not understood is refused.

A new aggregate is a class beside these and its name in `AGGREGATES`; parsing, planning, answering and the page about
SQL find it here.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from discreet.catalog.column import ColumnType
from discreet.query.aggregates.aggregate import Aggregate
from discreet.query.aggregates.counts import CountAggregate, UnitCountAggregate, ValueCountAggregate
from discreet.query.aggregates.mode import ModeAggregate
from discreet.query.aggregates.quantile import MaximumAggregate, MinimumAggregate, QuantileAggregate
from discreet.query.aggregates.sums import MeanAggregate, SumAggregate
from discreet.query.aggregates.variance import DeviationAggregate, VarianceAggregate
from discreet.query.expressions.expression import Call
from discreet.query.expressions.interval import UNKNOWN
from discreet.query.expressions.narrowing import find_facts, narrow
from discreet.query.expressions.read import LookUp, check_complete, read_condition
from discreet.query.parse.alternatives import not_answered

__all__ = ["AGGREGATES", "read_aggregate"]


AGGREGATES: tuple[type[Aggregate], ...] = (
    CountAggregate,
    SumAggregate,
    MeanAggregate,
    VarianceAggregate,
    DeviationAggregate,
    QuantileAggregate,
    MinimumAggregate,
    MaximumAggregate,
    ModeAggregate,
    UnitCountAggregate,
    ValueCountAggregate,
)
_BY_SPELLING = {node: kind for kind in AGGREGATES for node in kind.spellings}


def read_aggregate(node: exp.Expr, look_up: LookUp) -> Aggregate:
    """The aggregate that ``node`` asks for."""
    check_complete(node)
    if isinstance(node, exp.Filter):
        return _read_filtered(node, look_up)
    kind = _BY_SPELLING.get(type(node))
    if kind is None:
        raise not_answered(node, "over protected rows", _BY_SPELLING)
    return kind.read(node, look_up)


def _read_filtered(node: exp.Filter, look_up: LookUp) -> Aggregate:
    condition = read_condition(node.args["expression"].this, look_up)
    facts = find_facts(condition)
    inner = read_aggregate(node.this, lambda column: narrow(look_up(column), facts))
    if inner.condition is not None:
        condition = Call(ColumnType.BOOLEAN, UNKNOWN, True, "{0} AND {1}", (inner.condition, condition))
    return replace(inner, condition=condition)
