"""Lift what is above an aggregate: groups and aggregates become columns of the block's noisy table.

A column that is neither is refused, so nothing of a row can be named above its block.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sqlglot import exp

from discreet.errors import QueryRefused
from discreet.query.aggregates import is_aggregate, read_aggregate
from discreet.query.allowed_above import check_node
from discreet.query.block import Block
from discreet.query.expression import Constant
from discreet.query.places import replacing
from discreet.query.reading import LookUp, read
from discreet.query.refusal import refuse, refuse_part, spelled

__all__ = ["lifted"]

_Node = TypeVar("_Node", bound=exp.Expr)
Answer = Callable[[exp.Expr], exp.Query]
"""What a subquery becomes: a query over noisy and public tables."""

_PARTS = ("expressions", "having", "qualify", "order", "distinct", "limit", "offset", "windows")
_SEE_ALIASES = ("having", "qualify", "order")
_BELOW = ("with_", "joins", "where", "group")
_NOT_VALUES = (exp.Alias, exp.Ordered, exp.Order, exp.Having, exp.Literal, exp.Identifier, exp.Subquery, exp.Query)


def lifted(node: exp.Select, block: Block, look_up: LookUp, answer: Answer) -> exp.Select:
    """The query over the block's noisy table that ``node`` asks for."""
    unknown = {key for key, value in node.args.items() if value} - {*_PARTS, *_BELOW, "from_"}
    if unknown:
        raise refuse_part(node, min(unknown), "{} is not understood here", "leave it out")
    projections = [_named(projection) for projection in node.expressions]
    above = _shell(node)
    above.set("from_", exp.From(this=exp.Table(this=exp.to_identifier(block.name))))
    lift = _Lift(block, look_up, answer)
    aliases = {projection.alias.casefold() for projection in projections}
    for part in _PARTS:
        value = projections if part == "expressions" else node.args.get(part)
        lift.aliases = aliases if part in _SEE_ALIASES else set()
        above.set(part, [lift.of(v) for v in value] if isinstance(value, list) else value and lift.of(value))
    having = above.args.get("having")
    if having is not None:  # the noisy table has one row per group, so HAVING is its WHERE
        above.set("having", None)
        above.set("where", replacing(having, exp.Where(this=having.this)))
    return above


def _named(projection: exp.Expr) -> exp.Expr:
    if isinstance(projection, exp.Star) or (isinstance(projection, exp.Column) and projection.is_star):
        raise refuse(projection, "* cannot be grouped", "name the columns")
    if isinstance(projection, exp.Alias):
        return projection
    is_column = isinstance(projection, exp.Column)
    shown = projection.name if is_column else spelled(projection).lower()[:60]
    return replacing(projection, exp.alias_(projection.copy(), shown, quoted=True))


def _shell(node: _Node) -> _Node:
    """A node of the same kind that stands at the same place of the text, with nothing inside."""
    shell = type(node)()
    shell.meta.update(node.meta)
    return shell


class _Lift:
    def __init__(self, block: Block, look_up: LookUp, answer: Answer) -> None:
        self.block, self.look_up, self.answer = block, look_up, answer
        self.aliases: set[str] = set()

    def of(self, node: exp.Expr) -> exp.Expr:
        """``node`` with aggregates and groups replaced by columns of the noisy table."""
        if is_aggregate(node):
            return self._column(node, self.block.ask(read_aggregate(node, self.look_up)))
        if isinstance(node, (exp.Query, exp.Subquery)):
            return replacing(node, exp.Subquery(this=self.answer(node)))
        key = self._key(node)
        if key is not None:
            return self._column(node, f"k{key}")
        if isinstance(node, exp.Column):
            return self._alias(node)
        check_node(node)  # before what is inside it: a column in a function that nobody knows is not what is wrong
        return self._inside(node)

    def _inside(self, node: exp.Expr) -> exp.Expr:
        found = _shell(node)
        for name, value in node.args.items():
            if isinstance(value, list):
                found.set(name, [self.of(v) if isinstance(v, exp.Expr) else v for v in value])
            elif isinstance(value, (exp.Identifier, exp.DataType, exp.Var)):
                found.set(name, value.copy())
            elif isinstance(node, exp.Window) and name == "this":  # its function is not an aggregate over rows
                check_node(value)
                found.set(name, self._inside(value))
            else:
                found.set(name, self.of(value) if isinstance(value, exp.Expr) else value)
        return found

    def _alias(self, node: exp.Column) -> exp.Expr:
        if not node.table and node.name.casefold() in self.aliases:
            return node.copy()
        self.look_up(node)
        remedy = "add it to GROUP BY, or use COUNT, SUM, AVG …"
        raise refuse(node, "a column must be grouped by or aggregated", remedy)

    def _key(self, node: exp.Expr) -> int | None:
        if isinstance(node, _NOT_VALUES):
            return None
        try:
            typed = read(node, self.look_up)
        except QueryRefused:
            return None
        is_key = not isinstance(typed, Constant) and typed in self.block.keys
        return self.block.keys.index(typed) if is_key else None

    def _column(self, node: exp.Expr, name: str) -> exp.Column:
        table = exp.to_identifier(self.block.name, quoted=True)
        return replacing(node, exp.column(exp.to_identifier(name, quoted=True), table=table))
