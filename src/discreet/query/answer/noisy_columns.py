"""What a query above the aggregates does with noisy values: which columns hold noise, and which rows noise chose.

It reads the query alone. Where it cannot tell, a value counts as noisy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from sqlglot import exp

__all__ = ["NoisyQuery", "NoisyTable", "QuerySource", "Source", "TableSource", "read_column", "read_view"]


_QUERIES = (exp.Query, exp.Subquery)
_APART = (exp.Window, *_QUERIES)
"""What is computed over rows of its own."""
_Found = TypeVar("_Found")


@dataclass(frozen=True)
class NoisyTable:
    """A table that the query reads, without its values."""

    columns: tuple[str, ...]
    """Their names; a public table without any may have any."""
    rows: int | None
    """How many groups a noisy table has; None where noise chose which are shown."""
    is_noisy: bool
    """Whether it is a block's table, whose columns are keys k0, k1, … and aggregates a0, a1, …"""
    linear: frozenset[str] = frozenset()
    """The aggregates whose noise is a sum of noises of their own in every group."""
    counts: frozenset[str] = frozenset()
    """The aggregates that are counts, shown as zero where they were measured below it."""
    formed: frozenset[str] = frozenset()
    """The aggregates that are linear forms of noisy integers, whoever chose the groups."""


@dataclass(frozen=True)
class TableSource:
    """A table in FROM."""

    alias: str
    names: tuple[str, ...]
    node: exp.Expr
    shape: NoisyTable

    @property
    def is_chosen(self) -> bool:
        """Whether noise decided which rows it has."""
        return self.shape.rows is None

    def is_noisy(self, name: str) -> bool:
        """Whether a column holds noise."""
        return self.shape.is_noisy and not name.startswith("k")


@dataclass(frozen=True)
class QuerySource:
    """A subquery in FROM."""

    alias: str
    view: NoisyQuery

    @property
    def names(self) -> tuple[str, ...]:
        """What it shows."""
        return tuple(self.view.names)

    @property
    def is_chosen(self) -> bool:
        """Whether noise decided which rows it shows."""
        return self.view.is_chosen

    def is_noisy(self, name: str) -> bool:
        """Whether a column holds noise."""
        return any(self.view.shows_noise(position) for position in self.view.positions(name))


Source = TableSource | QuerySource


def read_view(query: exp.Query, tables: Mapping[str, NoisyTable]) -> NoisyQuery:
    """The view of a query; stars in it are written out, and subqueries in FROM get a name."""
    inner = query.unnest() if isinstance(query, exp.Subquery) else query
    if not isinstance(inner, exp.Query):
        raise AssertionError("a subquery holds a query")
    return NoisyQuery(inner, tables)


def read_column(table: str, name: str) -> exp.Column:
    """A column by its exact name, in a table or in the only one there is."""
    place = exp.to_identifier(table, quoted=True) if table else None
    return exp.column(exp.to_identifier(name, quoted=True), table=place)


class NoisyQuery:
    """One SELECT, or a set operation."""

    def __init__(self, query: exp.Query, tables: Mapping[str, NoisyTable]) -> None:
        self.query, self.tables = query, tables
        sides = (query.left, query.right) if isinstance(query, exp.SetOperation) else ()
        self.sides = [read_view(side, tables) for side in sides]
        """The two queries of a set operation."""
        self.sources = [self._source(place, k) for k, place in enumerate(_places(query))]
        self.is_open = isinstance(query, exp.Select) and not query.args.get("distinct") and self._expand_stars()
        """Whether columns can be added to it without changing those it shows."""
        self.projections: list[exp.Expr] = list(query.selects)
        self.names = [projection.alias_or_name for projection in self.projections]
        self._unfolding: set[str] = set()
        self._is_choosing = False

    @cached_property
    def is_united(self) -> bool:
        """Whether it shows all rows of several queries, one after the other, each of which columns can be added to."""
        of = self.query.args.get
        is_all = isinstance(self.query, exp.Union) and not of("distinct") and not of("by_name")
        return is_all and all(side.is_open or side.is_united for side in self.sides)

    def positions(self, name: str) -> list[int]:
        """Where a name is shown."""
        return [k for k, shown in enumerate(self.names) if shown.casefold() == name.casefold()]

    def found(self, column: exp.Column) -> list[Source]:
        """The sources that a column may come from; none for a name that the query itself gives."""
        table, name = column.table.casefold(), column.name.casefold()
        named = [source for source in self.sources if table in ("", source.alias.casefold())]
        found = [source for source in named if name in [known.casefold() for known in source.names]]
        return found or [s for s in named if isinstance(s, TableSource) and not s.names and not s.shape.is_noisy]

    def unfolded(self, column: exp.Column, follow: Callable[[exp.Expr], _Found], unknown: _Found) -> _Found:
        """What follows from the expression that a name of this query's own stands for."""
        name = column.name.casefold()
        positions = self.positions(name) if not column.table else []
        if not positions or name in self._unfolding:
            return unknown
        self._unfolding.add(name)
        try:
            return follow(self.projections[positions[0]].unalias())
        finally:
            self._unfolding.discard(name)

    # Sources.

    def _source(self, place: exp.Expr, number: int) -> Source:
        if isinstance(place, exp.Table):
            shape = self.tables.get(place.name, NoisyTable((), 0, is_noisy=True))
            return TableSource(place.alias_or_name, shape.columns, place, shape)
        if not place.alias_or_name:
            place.set("alias", exp.TableAlias(this=exp.to_identifier(f"__from_{number}", quoted=True)))
        if not isinstance(place, exp.Query):
            raise AssertionError("rows come from tables and queries")
        return QuerySource(place.alias_or_name, read_view(place, self.tables))

    def _expand_stars(self) -> bool:
        """Write every star out, so that added columns stay out of it; False where that might change its meaning."""
        if not any(projection.is_star for projection in self.query.selects):
            return True
        joins = self.query.args.get("joins") or []
        if any(each.args.get("using") or each.method or each.kind in ("SEMI", "ANTI") for each in joins):
            return False
        shown = [one for each in self.query.selects for one in (self._star(each) if each.is_star else [each])]
        names = [each.alias_or_name.casefold() for each in shown]
        if any(each.is_star for each in shown) or len(names) > len(set(names)):
            return False
        self.query.set("expressions", shown)
        return True

    def _star(self, projection: exp.Expr) -> list[exp.Expr]:
        star = projection.this if isinstance(projection, exp.Column) else projection
        if [value for value in star.args.values() if value]:
            return [projection]
        wanted = projection.table.casefold() if isinstance(projection, exp.Column) else None
        meant = [source for source in self.sources if wanted in (None, source.alias.casefold())]
        if not all(source.names for source in meant):
            return [projection]
        return [read_column(source.alias, name) for source in meant for name in source.names]

    # Noise in values.

    def shows_noise(self, position: int) -> bool:
        """Whether a shown column holds noise."""
        if self.is_united:
            return any(position < len(side.names) and side.shows_noise(position) for side in self.sides)
        projection = self.projections[position]
        if not isinstance(self.query, exp.Select) or projection.is_star:
            return self._holds_noise(self.query)
        return self.is_noisy(projection)

    def is_noisy(self, node: exp.Expr) -> bool:
        """Whether noise can change the value of an expression in this query."""
        parts = node.walk(prune=lambda part: isinstance(part, _QUERIES))
        return any(self._is_noisy_part(part) for part in parts)

    def _is_noisy_part(self, part: exp.Expr) -> bool:
        if isinstance(part, _QUERIES):
            return self._holds_noise(part)
        if isinstance(part, (exp.AggFunc, exp.Window)):
            return not self._is_choosing and self.noise_chose_rows  # rows are chosen before they are aggregated
        return isinstance(part, exp.Column) and not part.is_star and self._is_noisy_column(part)

    def _is_noisy_column(self, column: exp.Column) -> bool:
        found = self.found(column)
        if found:
            return any(source.is_noisy(column.name) for source in found)
        return self.unfolded(column, self.is_noisy, unknown=True)

    def _holds_noise(self, node: exp.Expr) -> bool:
        return any(self.tables.get(table.name, NoisyTable((), 0, True)).is_noisy for table in node.find_all(exp.Table))

    # Noise in the choice of rows.

    @cached_property
    def noise_joined_rows(self) -> bool:
        """Whether noise decided which rows belong together."""
        return any(self._decides(join.args.get("on")) for join in self.query.args.get("joins") or [])

    @cached_property
    def noise_chose_rows(self) -> bool:
        """Whether noise decided which rows are read, or how they are put together."""
        if isinstance(self.query, exp.SetOperation):
            return self._is_chosen_set(self.query)
        self._is_choosing = True
        is_read = self.noise_joined_rows or self._decides(self.query.args.get("where")) or self._groups_by_noise()
        self._is_choosing = False
        return is_read or any(source.is_chosen for source in self.sources)

    @cached_property
    def noise_chose_groups(self) -> bool:
        """Whether noise decided which rows a window function sees: those that were read, grouped and kept."""
        return self.noise_chose_rows or self._decides(self.query.args.get("having"))

    @cached_property
    def is_grouped(self) -> bool:
        """Whether one row of it stands for several."""
        if self.query.args.get("group") or self.query.args.get("having"):
            return True
        parts = [p for one in self.projections for p in one.walk(prune=lambda part: isinstance(part, _APART))]
        return any(isinstance(part, exp.AggFunc) for part in parts)

    @cached_property
    def is_chosen(self) -> bool:
        """Whether noise decided which rows are shown."""
        if self.noise_chose_rows or isinstance(self.query, exp.SetOperation):
            return self.noise_chose_rows
        of = self.query.args.get
        is_cut = (of("limit") or of("offset")) and self._decides(of("order"))
        is_merged = of("distinct") and any(self.shows_noise(position) for position in range(len(self.names)))
        return bool(self._decides(of("having")) or self._decides(of("qualify")) or is_cut or is_merged)

    def _is_chosen_set(self, query: exp.SetOperation) -> bool:
        is_merged = query.args.get("distinct") or not isinstance(query, exp.Union)
        is_cut = query.args.get("order") and query.args.get("limit")
        return any(side.is_chosen for side in self.sides) or (bool(is_merged or is_cut) and self._holds_noise(query))

    def _groups_by_noise(self) -> bool:
        group = self.query.args.get("group")
        if group is None:
            return False
        keys = [each for each in self.projections if not each.is_star and not each.find(exp.AggFunc)]
        return self._decides(group) or bool(group.args.get("all") and any(self.is_noisy(key) for key in keys))

    def _decides(self, clause: exp.Expr | None) -> bool:
        """Whether noise is in a clause, whose names may be columns, or names and numbers of what is shown."""
        if clause is None:
            return False
        return self.is_noisy(clause) or any(self.is_noisy(shown) for shown in self._shown_in(clause))

    def _shown_in(self, clause: exp.Expr) -> list[exp.Expr]:
        named = [k for column in clause.find_all(exp.Column) if not column.table for k in self.positions(column.name)]
        parts = clause.expressions if isinstance(clause, (exp.Order, exp.Group)) else []
        numbers = [part.this if isinstance(part, exp.Ordered) else part for part in parts]
        numbered = [int(number.name) - 1 for number in numbers if isinstance(number, exp.Literal) and number.is_int]
        return [self.projections[k] for k in (*named, *numbered) if 0 <= k < len(self.names)]


def _places(query: exp.Expr) -> list[exp.Expr]:
    """The tables and subqueries of FROM and JOIN."""
    if not isinstance(query, exp.Select):
        return []
    clause = query.args.get("from_")
    return ([] if clause is None else [clause.this]) + [join.this for join in query.args.get("joins") or []]
