"""The ends of a value above the aggregates, as two more columns of the same query: interval arithmetic in SQL.

It is what is left where a value is no linear form of noisy cells and no quotient of two: means, spreads, products, the
least and the greatest over groups. `intervals_above` says which confidence the noisy cells need, and why.

The cells that a value is made of are public: every aggregate in the expression counts once for each place in FROM where
its table stands, since two places can show two groups; below SUM, AVG, MIN, MAX or MEDIAN over groups it counts once
for every group of its table. The latter intervals hold for all groups together, so they also hold where noise chose
among the groups. Where keys are not public nobody may know how many groups there are, and what is computed over them
has no ends.

SUM and AVG of a column that is a count or a sum as it stands, over groups that neither noise nor a join chose, count as
one cell: the noises of the groups are independent, and `sums_over_groups` bounds their sum. So do windows of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from discreet.query.answer.interval_expressions import bound_expression
from discreet.query.answer.interval_rules import BoundExpressions
from discreet.query.answer.noisy_columns import NoisyQuery, TableSource, read_column, read_view

__all__ = ["TOTAL_PARTS", "Demand", "InSql", "carry", "column_ends", "find_leaf", "has_public_rows", "name_end"]


TOTAL_PARTS = ("raw", "each", "square", "least", "floor")
"""What the ends of a sum over groups are made of: values as they were measured, the reach of one group, the two numbers
of a `Spread`, and what no value lies below."""
_TOTAL = "total of "
_GROW_WITH_EACH = (exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Median)


def name_end(aggregate: str, end: str, divisor: int) -> str:
    """The column of a noisy table with an end of an aggregate, for values made of this many cells."""
    return f"{aggregate}_{end}_{divisor}"


@dataclass
class Demand:
    """Ends that are wanted, and the noisy cells that they are made of."""

    divisor: int = 1
    """How many cells share the probability to miss."""
    is_trial: bool = True
    """Whether the cells are counted and the query is left as it is."""
    over_groups: bool = False
    """Whether one value is made of all groups."""
    cells: dict[tuple[int, str], int] = field(default_factory=dict)
    """Per place of a noisy table in the query, and per aggregate: how many cells one value is made of."""

    @property
    def total(self) -> int:
        """How many cells one value is made of."""
        return sum(self.cells.values())

    @property
    def has_totals(self) -> bool:
        """Whether a sum over groups is among them."""
        return any(name.startswith(_TOTAL) for _, name in self.cells)

    def over_all_groups(self) -> Demand:
        """The same, for a value that is made of all groups."""
        return Demand(self.divisor, self.is_trial, True, self.cells)

    def counts_total(self, source: TableSource, node: exp.Expr) -> None:
        """Write down that a sum over groups is used, which is one cell; of other groups, it is another one."""
        self.cells[id(source.node), _TOTAL + node.sql()] = 1

    def counts(self, source: TableSource, name: str) -> bool:
        """Write down which cells are used; False where nobody may know how many they are."""
        place = id(source.node), name
        rows = source.shape.rows if self.over_groups else 1
        self.cells[place] = max(self.cells.get(place, 0), rows or 0)
        return rows is not None


def column_ends(view: NoisyQuery, position: int, demand: Demand) -> BoundExpressions | None:
    """The ends of a shown column, as two columns that are added to the query unless this is a trial."""
    ends = bound_expression(view.projections[position].unalias(), InSql(view, demand)) if view.is_open else None
    if ends is None:
        return None
    names = [f"__{end}_{position}_{demand.divisor}" for end in ("low", "high")]
    if not demand.is_trial and names[0] not in [each.alias for each in view.query.selects[len(view.names) :]]:
        for name, end in zip(names, (ends.low, ends.high), strict=True):
            view.query.append("expressions", exp.alias_(end.copy(), name, quoted=True))
    return BoundExpressions(read_column("", names[0]), read_column("", names[1]), ends.is_plain)


class InSql:
    """Where an expression stands: in which query, for which demand, inside or outside of an aggregate."""

    def __init__(self, view: NoisyQuery, demand: Demand, *, is_inside: bool = False) -> None:
        self.view, self.demand, self.is_inside = view, demand, is_inside

    def is_noisy(self, node: exp.Expr) -> bool:
        """Whether noise can change the value."""
        return self.view.is_noisy(node)

    def leaf(self, node: exp.Expr) -> BoundExpressions | None:
        """The ends of a noisy column, subquery or aggregate; None where none are known."""
        if isinstance(node, exp.Column):
            return self._column(node)
        if isinstance(node, exp.Subquery):
            return self._subquery(node)
        return self._aggregate(node)

    def _column(self, node: exp.Column) -> BoundExpressions | None:
        found = self.view.found(node)
        if not found:
            return self.view.unfolded(node, lambda meant: bound_expression(meant, self), unknown=None)
        if len(found) > 1 or (self.view.is_grouped and not self.is_inside):
            return None
        (source,) = found
        if isinstance(source, TableSource):
            return self._table_column(source, node.name)
        positions = source.view.positions(node.name)
        ends = column_ends(source.view, positions[0], self.demand) if len(positions) == 1 else None
        return None if ends is None else self._qualified(source.alias, ends)

    def _table_column(self, source: TableSource, name: str) -> BoundExpressions | None:
        if not self.demand.counts(source, name):
            return None
        low, high = (read_column("", name_end(name, end, self.demand.divisor)) for end in ("low", "high"))
        return self._qualified(source.alias, BoundExpressions(low, high))

    def public(self, node: exp.Expr) -> exp.Expr:
        """A public value stands where it is used."""
        return node

    def whole(self, node: exp.Expr) -> BoundExpressions | None:
        """No expression is known better than its parts."""
        return None

    def _qualified(self, table: str, ends: BoundExpressions) -> BoundExpressions:
        low, high = (read_column(table, end.name) for end in (ends.low, ends.high))
        return BoundExpressions(low, high, ends.is_plain and not self.view.noise_joined_rows)

    def _subquery(self, node: exp.Subquery) -> BoundExpressions | None:
        """One value from a query of its own: its ends are read from that query with the ends added."""
        view = read_view(node if self.demand.is_trial else node.copy(), self.view.tables)
        ends = column_ends(view, 0, self.demand) if len(view.names) == 1 else None
        if ends is None:
            return None
        alias = exp.TableAlias(this=exp.to_identifier("__one", quoted=True))
        low, high = (
            exp.select(end.copy()).from_(exp.Subquery(this=view.query.copy(), alias=alias.copy())).subquery()
            for end in (ends.low, ends.high)
        )
        return BoundExpressions(low, high, ends.is_plain and not view.is_chosen)

    def _aggregate(self, node: exp.Expr) -> BoundExpressions | None:
        """A sum, mean, least, greatest or median never falls when one of its values grows."""
        seen = node.this if isinstance(node, exp.Window) else node
        call = seen.this if isinstance(seen, exp.Filter) else seen
        is_plain = [key for key, value in call.args.items() if value] == ["this"]
        is_read = (
            is_plain and isinstance(call, _GROW_WITH_EACH) and not isinstance(call.this, (exp.Distinct, exp.Order))
        )
        if not is_read or self.is_inside or (isinstance(seen, exp.Filter) and self.is_noisy(seen.expression)):
            return None
        if not self.is_noisy(call.this):  # noise chose the rows of public values, and no ends say which
            return None
        total = self._total(node, call)
        if total is not None or isinstance(node, exp.Window):
            return total
        x = bound_expression(call.this, InSql(self.view, self.demand.over_all_groups(), is_inside=True))
        if x is None or not x.is_plain:
            return None
        # An aggregate passes over NULL: where the ends of a value are unknown, so are those of the aggregate.
        counts = [_over(node, exp.Count(this=value.copy())) for value in (x.low, call.this)]
        is_known = exp.EQ(this=counts[0], expression=counts[1])
        ends = [_over(node, type(call)(this=end.copy())) for end in (x.low, x.high)]
        low, high = (exp.Case(ifs=[exp.If(this=is_known.copy(), true=end)]) for end in ends)
        return BoundExpressions(low, high)

    def _total(self, node: exp.Expr, call: exp.Expr) -> BoundExpressions | None:
        """The ends of a sum or mean of groups whose noises are independent; see `sums_over_groups`."""
        leaf = find_leaf(self.view, call.this) if isinstance(call, (exp.Sum, exp.Avg)) else None
        if leaf is None or leaf[1] not in leaf[0].shape.linear or not self._is_public_choice(node):
            return None
        self.demand.counts_total(leaf[0], node)
        raw, each, square, least_reach, floor = (
            carry(self.view, call.this, name_end("", end, self.demand.divisor), is_trial=self.demand.is_trial)
            for end in TOTAL_PARTS
        )

        def over(kind: type[exp.AggFunc], column: exp.Expr) -> exp.Expr:
            return _over(node, kind(this=column.copy()))

        count = over(exp.Count, raw)
        worst = exp.Mul(this=count.copy(), expression=over(exp.Max, each))
        root = exp.Sqrt(this=exp.Mul(this=count.copy(), expression=over(exp.Max, square)))
        reach = _call("LEAST", worst, _call("GREATEST", root, over(exp.Max, least_reach)))
        is_known = _call("ISFINITE", over(exp.Max, each))
        # A total below its floor is shown at the floor, and takes its interval along.
        shown = _call("GREATEST", over(exp.Sum, raw), over(exp.Max, floor))
        low, high = (
            _call("GREATEST", kind(this=shown.copy(), expression=reach.copy()), over(exp.Max, floor))
            for kind in (exp.Sub, exp.Add)
        )
        if isinstance(call, exp.Avg):
            low, high = (exp.Div(this=end, expression=count.copy()) for end in (low, high))
        low, high = (exp.Case(ifs=[exp.If(this=is_known.copy(), true=end)]) for end in (low, high))
        return BoundExpressions(low, high)

    def _is_public_choice(self, node: exp.Expr) -> bool:
        """Whether noise decides nothing about the rows that are added up."""
        return not self.view.noise_chose_rows if not isinstance(node, exp.Window) else has_public_rows(node, self.view)


def has_public_rows(window: exp.Window, view: NoisyQuery) -> bool:
    """Whether noise decides nothing about the rows that a window function sees, nor about their order."""
    settings = [value for key, value in window.args.items() if key != "this"] + [view.query.args.get("windows")]
    parts = [part for each in settings for part in (each if isinstance(each, list) else [each])]
    return not view.noise_chose_groups and not any(view.is_noisy(part) for part in parts if isinstance(part, exp.Expr))


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


def find_leaf(view: NoisyQuery, node: exp.Expr, *, each_once: bool = True) -> tuple[TableSource, str] | None:
    """The noisy table and the aggregate that a column is, row by row; None where anything was done to it.

    With ``each_once`` also where a join or noise may have left groups out, or brought them in several times.
    """
    is_found = isinstance(node, exp.Column) and view.is_open and not (each_once and view.query.args.get("joins"))
    found = view.found(node) if is_found and isinstance(node, exp.Column) else []
    if len(found) != 1:
        return None
    (source,) = found
    if isinstance(source, TableSource):
        return source, node.name
    positions = source.view.positions(node.name)
    if len(positions) != 1 or (each_once and source.is_chosen) or source.view.is_grouped:
        return None
    return find_leaf(source.view, source.view.projections[positions[0]].unalias(), each_once=each_once)


def carry(view: NoisyQuery, node: exp.Expr, ending: str, *, is_trial: bool = False) -> exp.Expr:
    """Bring the column that stands beside a column of a noisy table up to where that column was brought."""
    if not isinstance(node, exp.Column):
        raise AssertionError("columns are carried")
    (source,) = view.found(node)
    if isinstance(source, TableSource):
        return read_column(source.alias, node.name + ending)
    (position,) = source.view.positions(node.name)
    carried = carry(source.view, source.view.projections[position].unalias(), ending, is_trial=is_trial)
    name = f"__{position}{ending}"
    if not is_trial and name not in [each.alias for each in source.view.query.selects[len(source.view.names) :]]:
        source.view.query.append("expressions", exp.alias_(carried, name, quoted=True))
    return read_column(source.alias, name)


def _over(node: exp.Expr, aggregate: exp.Expr) -> exp.Expr:
    """An aggregate over the same rows as ``node``."""
    if isinstance(node, exp.Window):
        window = node.copy()
        window.set("this", _over(node.this, aggregate))
        return window
    is_part = isinstance(node, exp.Filter)
    return exp.Filter(this=aggregate, expression=node.expression.copy()) if is_part else aggregate
