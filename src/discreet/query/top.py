"""The largest groups by name alone: k selections instead of a noisy count for every group, where that errs less.

A query that orders groups by one count, keeps the first k and shows nothing but their keys does not need the counts. A
race among the groups with the first k over the line costs k exponential mechanisms (`mechanisms/top_k.md`): a unit's
weights all point the same way, so each costs factor times the unit's weight.

Which errs less does not depend on the price. At 95 %, k picks among G groups fall short of the truth by at most
k·ln(19k(G-1)) in units of B/ε, or by √k·ln(19k(G-1))/√8 in units of B/√ρ; noisy counts may be off by ln(20G), or by
√(ln(40G)), twice, for a group that is too high and one that is too low.
"""

from __future__ import annotations

import math

from sqlglot import exp

from discreet.privacy.loss import Pure
from discreet.query.block import Aggregate, AggregateKind
from discreet.query.shares import Price

__all__ = ["selection_is_better", "wanted_top"]

_NOT_ALLOWED = ("where", "having", "qualify", "distinct", "offset", "windows", "joins")
_ODDS = 19


def wanted_top(above: exp.Select, aggregates: list[Aggregate]) -> int | None:
    """How many groups are wanted, where a query shows the names of the largest ones and nothing else."""
    order, limit = above.args.get("order"), above.args.get("limit")
    if order is None or limit is None or any(above.args.get(part) for part in _NOT_ALLOWED):
        return None
    if [aggregate.kind for aggregate in aggregates] != [AggregateKind.COUNT] or len(order.expressions) != 1:
        return None
    (by,) = order.expressions
    shown = [projection.unalias() for projection in above.expressions]
    by_count = isinstance(by.this, exp.Column) and by.this.name == "a0" and by.args.get("desc")
    only_keys = all(isinstance(column, exp.Column) and column.name.startswith("k") for column in shown)
    count = limit.expression
    if not (by_count and only_keys and isinstance(count, exp.Literal) and not count.is_string and count.name.isdigit()):
        return None
    return int(count.name) or None


def selection_is_better(top: int, groups: int, price: Price) -> bool:
    """Whether choosing ``top`` of so many groups errs less than counting all of them."""
    if top >= groups:
        return False
    picks = math.log(_ODDS * top * (groups - 1))
    if isinstance(price, Pure):
        return top * picks < 2 * math.log((_ODDS + 1) * groups)
    return math.sqrt(top / 8) * picks < 2 * math.sqrt(math.log(2 * (_ODDS + 1) * groups))
