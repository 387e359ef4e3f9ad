"""Intervals for whatever is computed above the aggregates: what to add to the query, and what to make of it.

A value of the answer is made of parts: linear forms of noisy cells, quotients of two of them, and single noisy values
that are neither, such as means.

Claim. A value that is made of m parts lies within its ends with the probability that is asked for, c, at least, where
the ends of each part are taken at the confidence 1 - (1 - c) / m.

Proof. Each part lies outside its own ends with probability at most (1 - c) / m, so any of the m does with probability
at most 1 - c, whatever they have to do with each other (the union bound). Where all lie within their ends, the value
that is computed from them lies within its own, by interval arithmetic.

The parts are as large as can be: an expression that is a form or a quotient as a whole is one part, and its interval is
that of its own noise. `forms_above` finds the form of every cell of the answer, `cells_above` its interval, and
`ends_above` the ends of other values. Rows of UNION ALL come from one query each, so they are made of its parts alone.

No ends are known for what ranks or counts rows by noisy values, for DISTINCT and other set operations, for what is not
arithmetic, and for what is computed over rows that noise chose; for quotients whose divisor may be zero they are
unknown in those rows where it may. A row that noise chose, by HAVING or by ORDER BY with LIMIT, is not any row: the
claim is about cells that are named beforehand, and `notes_above` says so.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from discreet.query.answer.interval_columns import Demand, InSql, find_leaf
from discreet.query.answer.interval_expressions import bound_expression
from discreet.query.answer.interval_rules import BoundExpressions
from discreet.query.answer.linear_forms import Linear, Write, find_linear_form, find_quotient
from discreet.query.answer.noisy_columns import NoisyQuery, NoisyTable, QuerySource, TableSource, read_column, read_view
from discreet.query.bind.group_by import PrivateAggregation
from discreet.query.plan.sensitivity import AggregationPlan

__all__ = ["Extended", "Followed", "FormColumns", "describe_shape", "with_intervals"]


_LONGEST = 1000


@dataclass(frozen=True)
class FormColumns:
    """A linear form, or a quotient of two, by the names of the columns that were added for it."""

    above: str
    below: str | None
    shown: str
    """Its value as the query shows it, made of counts that are not below zero."""
    low: str
    high: str
    """What its ends are called in those of the column."""


@dataclass(frozen=True)
class Followed:
    """A column of the answer that has ends."""

    position: int
    cells: int
    """How many parts share the probability to miss."""
    parts: tuple[FormColumns, ...]
    ends: BoundExpressions
    """Over the columns that were added, and the ends of the parts."""


@dataclass(frozen=True)
class Extended:
    """A query with columns added behind its own, and what they mean."""

    query: exp.Query
    added: tuple[str, ...]
    """The names of those columns."""
    followed: tuple[Followed, ...]
    has_totals: bool
    """Whether noisy tables need what the ends of a sum over groups are made of."""

    @property
    def divisors(self) -> frozenset[int]:
        """How many parts share the probability to miss: noisy tables need ends for each of these numbers."""
        return frozenset(each.cells for each in self.followed)

    @property
    def has_forms(self) -> bool:
        """Whether noisy tables need the forms of their aggregates."""
        return any(each.parts for each in self.followed)


def describe_shape(block: PrivateAggregation, plan: AggregationPlan) -> NoisyTable:
    """What is known beforehand about a block's table."""
    keys = [f"k{k}" for k in range(len(block.keys))]
    aggregates = {f"a{a}": asked for a, asked in enumerate(block.aggregates)}
    linear = [name for name, asked in aggregates.items() if plan.form_of(asked) is not None]
    counts = [name for name, asked in aggregates.items() if asked.is_count and plan.top is None]
    return NoisyTable(
        (*keys, *aggregates),
        None if plan.releases_keys else len(plan.groups),
        is_noisy=True,
        linear=frozenset([] if plan.releases_keys else linear),
        counts=frozenset(counts),
        formed=frozenset(linear),
    )


def with_intervals(query: exp.Query, tables: Mapping[str, NoisyTable]) -> Extended:
    """The query with what is needed for the ends of every column that has them."""
    extended = query.copy()
    top = _Level(read_view(extended, tables), lambda name: read_column("", name), itertools.count())
    width = len(top.view.names)
    followed: list[Followed] = []
    has_totals = False
    for position in range(width):
        trial = Demand()
        if not top.view.shows_noise(position) or top.ends(position, trial, []) is None or not trial.total:
            continue
        followed.append(_follow(top, position, trial.total))
        has_totals |= trial.has_totals
    added = tuple(each.alias for each in extended.selects[width:])
    return Extended(extended if followed else query, added, tuple(followed), has_totals)


def _follow(top: _Level, position: int, cells: int) -> Followed:
    parts: list[FormColumns] = []
    ends = top.ends(position, Demand(cells, is_trial=False), parts)
    if ends is None:
        raise AssertionError("what was found in a trial is found again")
    return Followed(position, cells, tuple(parts), ends)


@dataclass
class _Level:
    """A query, the columns that are added to it, and how they are brought up to the answer."""

    view: NoisyQuery
    lift: Callable[[str], exp.Expr]
    """What a column that was added here is called in the answer."""
    numbers: Iterator[int]
    sides: list[NoisyQuery] = field(init=False)
    """The queries whose rows it shows, one after the other."""

    def __post_init__(self) -> None:
        self.sides = _sides(self.view)

    def ends(self, position: int, demand: Demand, parts: list[FormColumns]) -> BoundExpressions | None:
        """The ends of a shown column, over columns of the answer; see `_ColumnPlace`."""
        if not self.sides:
            return None
        if len(self.sides) == 1:
            return self._ends_of_side(0, position, demand, parts)
        return self._ends_of_several(position, demand, parts)

    def _ends_of_side(
        self, side: int, position: int, demand: Demand, parts: list[FormColumns]
    ) -> BoundExpressions | None:
        node = self.sides[side].projections[position].unalias()
        is_long = next(itertools.islice(node.walk(), _LONGEST, None), None) is not None
        return None if is_long else bound_expression(node, _ColumnPlace(self, side, demand, parts))

    def _ends_of_several(self, position: int, demand: Demand, parts: list[FormColumns]) -> BoundExpressions | None:
        """A row is of one side: its ends are those of that side, and made of that side's parts alone."""
        found: list[BoundExpressions | None] = []
        most: dict[tuple[int, str], int] = {}
        for side, view in enumerate(self.sides):
            own = Demand(demand.divisor, demand.is_trial)
            if not view.shows_noise(position):
                found.append(None)
                continue
            ends = self._ends_of_side(side, position, own, parts)
            if ends is None:
                return None
            found.append(ends)
            most = max(most, own.cells, key=lambda cells: sum(cells.values()))
        demand.cells.update(most)
        which = self._bring_numbers(demand)
        low = _of_side(which, [None if each is None else each.low for each in found])
        high = _of_side(which, [None if each is None else each.high for each in found])
        return BoundExpressions(low, high, is_plain=False)

    def _bring_numbers(self, demand: Demand) -> exp.Expr:
        name = f"__{next(self.numbers)}"
        if demand.is_trial:
            return read_column("", name)
        for side, view in enumerate(self.sides):
            view.query.append("expressions", exp.alias_(exp.Literal.number(side), name, quoted=True))
        return self.lift(name)

    def bring(self, side: int, write: Write, name: str) -> exp.Expr:
        """Add a column to a side, and one without values to the others."""
        added = write()
        for each, view in enumerate(self.sides):
            value = added if each == side else exp.Null()
            view.query.append("expressions", exp.alias_(value, name, quoted=True))
        return self.lift(name)


def _sides(view: NoisyQuery) -> list[NoisyQuery]:
    if view.is_united:
        return [each for side in view.sides for each in _sides(side)]
    return [view] if view.is_open else []


def _of_side(which: exp.Expr, values: list[exp.Expr | None]) -> exp.Expr:
    ifs = [
        exp.If(this=exp.Literal.number(side), true=value.copy())
        for side, value in enumerate(values)
        if value is not None
    ]
    return exp.Case(this=which.copy(), ifs=ifs)


class _ColumnPlace:
    """Where an expression stands, for ends that are put together when the query has run.

    What they are made of is brought up to the answer: public values, the ends of single noisy values, and for each part
    its forms and its value.
    """

    def __init__(self, level: _Level, side: int, demand: Demand, parts: list[FormColumns]) -> None:
        self.level, self.side, self.demand, self.parts = level, side, demand, parts
        self.view = level.sides[side]

    def is_noisy(self, node: exp.Expr) -> bool:
        """Whether noise can change the value."""
        return self.view.is_noisy(node)

    def public(self, node: exp.Expr) -> exp.Expr:
        """A number as it stands; anything else as a column of the answer."""
        is_number = isinstance(node, exp.Literal) and not node.is_string
        return node if is_number else self._bring(node.copy)

    def whole(self, node: exp.Expr) -> BoundExpressions | None:
        """The ends of a linear form, or of a quotient of two, as one part; a single noisy value is neither."""
        if find_leaf(self.view, node, each_once=False) is not None:
            return None
        form, quotient = find_linear_form(node, self.view), None
        if form is None:
            quotient = find_quotient(node, self.view)
        if form is None and quotient is None:
            return None
        self.demand.cells[id(self.view), f"part {node.sql()}"] = 1
        if self.demand.is_trial:
            return BoundExpressions(
                read_column("", "__low"), read_column("", "__high"), form is not None and form.is_plain
            )
        if quotient is not None:
            return self._part(node, quotient.above, quotient.below)
        return None if form is None else self._part(node, form, None)

    def leaf(self, node: exp.Expr) -> BoundExpressions | None:
        """The ends of a column of a subquery, wherever they come from; of others as SQL knows them."""
        source = self._query_source(node)
        if source is not None:
            positions = source.view.positions(node.name)
            return self._level_of(source).ends(positions[0], self.demand, self.parts) if len(positions) == 1 else None
        if isinstance(node, exp.Column) and not self.view.found(node):
            return self.view.unfolded(node, lambda meant: bound_expression(meant, self), unknown=None)
        ends = InSql(self.view, self.demand).leaf(node)
        if ends is None:
            return None
        return BoundExpressions(self._bring(ends.low.copy), self._bring(ends.high.copy), ends.is_plain)

    def _query_source(self, node: exp.Expr) -> QuerySource | None:
        found = self.view.found(node) if isinstance(node, exp.Column) and not self.view.is_grouped else []
        return found[0] if len(found) == 1 and not isinstance(found[0], TableSource) else None

    def _level_of(self, source: QuerySource) -> _Level:
        def lift(name: str) -> exp.Expr:
            return self.level.bring(self.side, lambda: read_column(source.alias, name), name)

        return _Level(source.view, lift, self.level.numbers)

    def _part(self, node: exp.Expr, above: Linear, below: Linear | None) -> BoundExpressions:
        number = next(self.level.numbers)
        forms = [self._bring(form.write).name for form in (above, below) if form is not None]
        # The name begins with no underscore, so that totals in it are taken of what was measured, as in the query.
        shown = self._bring(node.copy, f"shown {number}").name
        low, high = f"__{number}_low", f"__{number}_high"
        self.parts.append(FormColumns(forms[0], forms[1] if below is not None else None, shown, low, high))
        return BoundExpressions(read_column("", low), read_column("", high), below is None and above.is_plain)

    def _bring(self, write: Write, name: str | None = None) -> exp.Expr:
        name = name or f"__{next(self.level.numbers)}"
        return read_column("", name) if self.demand.is_trial else self.level.bring(self.side, write, name)
