"""Blocks of groups and aggregates over private rows, and how GROUP BY is read.

A key is a column, an expression, a position or an alias of the SELECT list.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from discreet.errors import QueryRefused
from discreet.query.aggregates.aggregate import Aggregate
from discreet.query.bind.relation import PartitionFilter, Relation
from discreet.query.expressions.expression import Expression
from discreet.query.expressions.read import LookUp, read
from discreet.query.parse.alternatives import not_answered
from discreet.query.parse.places import refuse

__all__ = ["PrivateAggregation", "group_keys"]


def group_keys(node: exp.Select, look_up: LookUp) -> dict[Expression, exp.Expr]:
    """What a query groups by, and where it first says so: a key named twice is one, as no row has two values of it."""
    group = node.args.get("group")
    if group is None:
        return {}
    unknown = [key for key, value in group.args.items() if value and key != "expressions"]
    if unknown and isinstance(group.args[unknown[0]], list):
        raise not_answered(group.args[unknown[0]][0], "in GROUP BY", ())
    if unknown:
        raise refuse(group, "groups are columns and expressions that are named", "write GROUP BY x, y")
    keys: dict[Expression, exp.Expr] = {}
    for part in group.expressions:
        if isinstance(part, exp.Tuple) and not part.expressions:  # GROUP BY () is one group of all rows
            continue
        meant = _meant(part, node, look_up)
        # What is said of a group names the column, and not its position in the SELECT list.
        keys.setdefault(read(meant, look_up), meant if isinstance(part, exp.Literal) else part)
    return keys


def _meant(part: exp.Expr, node: exp.Select, look_up: LookUp) -> exp.Expr:
    """What a group stands for: a position or an alias of the SELECT list, or an expression."""
    if isinstance(part, exp.Literal) and not part.is_string:
        place = int(part.this) if str(part.this).isdigit() else 0
        if not 1 <= place <= len(node.expressions):
            raise refuse(part, f"GROUP BY positions go from 1 to {len(node.expressions)}", "name the column")
        return _unnamed(node.expressions[place - 1])
    if isinstance(part, exp.Column) and not part.table:
        named = [p for p in node.expressions if isinstance(p, exp.Alias) and p.alias.casefold() == part.name.casefold()]
        if named and not _is_column(part, look_up):
            return _unnamed(named[0])
    return part


def _unnamed(projection: exp.Expr) -> exp.Expr:
    return projection.unalias()


def _is_column(node: exp.Column, look_up: LookUp) -> bool:
    try:
        look_up(node)
    except QueryRefused:
        return False
    return True


@dataclass
class PrivateAggregation:
    """Groups and aggregates over private rows."""

    number: int
    """Which block of the query it is."""
    rows: Relation
    """The private rows."""
    keys: list[Expression]
    """What the rows are grouped by."""
    places: list[exp.Expr]
    """Where the query says so, for refusals that point."""
    asked: dict[Aggregate, str] = field(default_factory=dict)
    """What is asked about each group, each once, and the column of the noisy table that will hold it."""
    top: int | None = None
    """How many groups are wanted, where only the names of the largest are shown."""

    @property
    def name(self) -> str:
        """The noisy table's name above the block."""
        return f"_block{self.number}"

    @property
    def aggregates(self) -> list[Aggregate]:
        """What is asked about each group, each once."""
        return list(self.asked)

    @property
    def restriction(self) -> PartitionFilter | None:
        """Whose rows they are alone, where the query says so."""
        known = () if self.rows.privacy is None else self.rows.privacy.restrictions
        return known[0] if known else None

    def ask(self, aggregate: Aggregate) -> str:
        """The column of the noisy table that will hold this aggregate."""
        return self.asked.setdefault(aggregate, f"a{len(self.asked)}")
