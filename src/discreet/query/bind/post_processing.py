"""Queries over noisy and public tables: left as they are, every name in them resolved and every function checked.

Post-processing may use operators, and functions from a list that is closed. It runs where there is nothing private. The
list keeps out what reads files, settings or the clock, what differs from call to call, and what fills memory.

What is above an aggregate is lifted: groups and aggregates become columns of the block's noisy table. A column that is
neither is refused, so nothing of a row can be named above its block.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sqlglot import exp

from discreet.errors import QueryRefused
from discreet.query.aggregates.aggregate import Aggregate
from discreet.query.aggregates.registry import read_aggregate
from discreet.query.bind.group_by import PrivateAggregation
from discreet.query.bind.names import Scope, check_alias
from discreet.query.expressions.date_dialects import CLOCKS, DATE_SPELLINGS
from discreet.query.expressions.expression import Constant
from discreet.query.expressions.functions import RULES
from discreet.query.expressions.read import LookUp, check_complete, read
from discreet.query.parse.alternatives import not_answered
from discreet.query.parse.parser import is_aggregate
from discreet.query.parse.places import name_column, refuse, refuse_part, replacing

__all__ = [
    "ALLOWED_ABOVE",
    "check_all",
    "check_node",
    "only_picks",
    "post_processing",
    "read_top",
    "rewrite_post_processing",
]


_MORE = (
    exp.Count, exp.CountIf, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Median, exp.Quantile, exp.PercentileCont,
    exp.PercentileDisc, exp.ApproxQuantile, exp.Stddev, exp.StddevSamp, exp.StddevPop, exp.Variance, exp.VariancePop,
    exp.Corr, exp.CovarPop, exp.CovarSamp, exp.First, exp.Last, exp.ArgMax, exp.ArgMin, exp.LogicalAnd, exp.LogicalOr,
    exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile, exp.Lag, exp.Lead,
    exp.FirstValue, exp.LastValue, exp.NthValue,
    exp.Case, exp.If, exp.Nvl2, exp.Cast, exp.TryCast, exp.Exists, exp.Any, exp.And, exp.Or, exp.Xor,
)  # fmt: skip
ALLOWED_ABOVE = frozenset({*RULES, *DATE_SPELLINGS, *_MORE} - {*CLOCKS, exp.AtTimeZone})
"""Functions that may be used on noisy and public values."""
_CLOSED = (
    exp.Command, exp.Placeholder, exp.Parameter, exp.SessionParameter, exp.Into, exp.TableSample, exp.Pivot, exp.Lock,
    exp.Lateral, exp.Unnest, exp.UDTF, exp.MatchRecognize, exp.Lambda, exp.Kwarg, exp.PropertyEQ, exp.Hint, exp.Struct,
    exp.Dot, exp.Bracket,
)  # fmt: skip


def check_all(node: exp.Expr) -> None:
    """Refuse whatever is not allowed anywhere inside ``node``."""
    for part in node.walk():
        check_node(part)


def check_node(node: exp.Expr) -> None:
    """Refuse ``node`` itself when it is not allowed."""
    is_unknown = isinstance(node, exp.Func) and type(node) not in ALLOWED_ABOVE
    if is_unknown or isinstance(node, _CLOSED):
        raise not_answered(node, "here", ALLOWED_ABOVE)
    if isinstance(node, exp.Func):
        check_complete(node)
    if isinstance(node, exp.LimitOptions) and (node.args.get("percent") or node.args.get("with_ties")):
        raise refuse(node, "rows are limited by their number, without PERCENT and WITH TIES", "write LIMIT 10")


AnswerExpression = Callable[[exp.Expr, Scope], exp.Expr]
"""What a table or a subquery becomes: a public table's own name, or a query over noisy and public tables."""

_PARTS = {
    "expressions", "from_", "joins", "where", "group", "having", "qualify", "order", "distinct", "limit", "offset",
    "windows", "with_",
}  # fmt: skip


def post_processing(node: exp.Select, scope: Scope, answer: AnswerExpression) -> exp.Select:
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


def _source(place: exp.Expr, scope: Scope, answer: AnswerExpression) -> exp.Expr:
    check_alias(place)
    found = answer(place, scope)
    alias = exp.to_identifier(place.alias_or_name, quoted=True)
    named = exp.TableAlias(this=alias) if place.alias_or_name else None
    if isinstance(found, exp.Table):
        found.set("alias", named)
        return found
    return exp.Subquery(this=found, alias=named)


def _subquery(node: exp.Expr, scope: Scope, answer: AnswerExpression) -> exp.Expr:
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


_Node = TypeVar("_Node", bound=exp.Expr)
AnswerQuery = Callable[[exp.Expr], exp.Query]
"""What a subquery becomes: a query over noisy and public tables."""

_AGGREGATE_PARTS = ("expressions", "having", "qualify", "order", "distinct", "limit", "offset", "windows")
_SEE_ALIASES = ("having", "qualify", "order")
_BELOW = ("with_", "joins", "where", "group")
_NOT_VALUES = (exp.Alias, exp.Ordered, exp.Order, exp.Having, exp.Literal, exp.Identifier, exp.Subquery, exp.Query)


def rewrite_post_processing(
    node: exp.Select, block: PrivateAggregation, look_up: LookUp, answer: AnswerQuery
) -> exp.Select:
    """The query over the block's noisy table that ``node`` asks for."""
    unknown = {key for key, value in node.args.items() if value} - {*_AGGREGATE_PARTS, *_BELOW, "from_"}
    if unknown:
        raise refuse_part(node, min(unknown), "{} is not understood here", "leave it out")
    projections = [_named(projection) for projection in node.expressions]
    above = _shell(node)
    above.set("from_", exp.From(this=exp.Table(this=exp.to_identifier(block.name))))
    lift = _Lift(block, look_up, answer)
    aliases = {projection.alias.casefold() for projection in projections}
    for part in _AGGREGATE_PARTS:
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
    shown = projection.name if is_column else name_column(projection)
    return replacing(projection, exp.alias_(projection.copy(), shown, quoted=True))


def _shell(node: _Node) -> _Node:
    """A node of the same kind that stands at the same place of the text, with nothing inside."""
    shell = type(node)()
    shell.meta.update(node.meta)
    return shell


class _Lift:
    def __init__(self, block: PrivateAggregation, look_up: LookUp, answer: AnswerQuery) -> None:
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


_PICKING = frozenset({exp.Select, exp.From, exp.Table, exp.Identifier, exp.Alias, exp.Column})


def only_picks(query: exp.Query) -> bool:
    """Whether a query picks and names columns of one table, and does nothing else.

    Where the table has them, that cannot fail, and shows the rows that the table has.
    """
    return all(type(part) in _PICKING and (type(part) is not exp.Column or part.table) for part in query.walk())


_NOT_ALLOWED = ("where", "having", "qualify", "distinct", "offset", "windows", "joins")


def read_top(above: exp.Select, aggregates: list[Aggregate]) -> int | None:
    """How many groups are wanted, where a query shows the names of the largest ones and nothing else."""
    order, limit = above.args.get("order"), above.args.get("limit")
    if order is None or limit is None or any(above.args.get(part) for part in _NOT_ALLOWED):
        return None
    if [aggregate.ranks_groups for aggregate in aggregates] != [True] or len(order.expressions) != 1:
        return None
    (by,) = order.expressions
    shown = [projection.unalias() for projection in above.expressions]
    by_count = isinstance(by.this, exp.Column) and by.this.name == "a0" and by.args.get("desc")
    only_keys = all(isinstance(column, exp.Column) and column.name.startswith("k") for column in shown)
    count = limit.expression
    if not (by_count and only_keys and isinstance(count, exp.Literal) and not count.is_string and count.name.isdigit()):
        return None
    return int(count.name) or None
