"""Split a query at its aggregates: private rows below, noisy tables above.

In one walk over the tree every name is resolved against the catalog, the private rows are built, each aggregate over
them is cut out as a block, and what is above is left as a query over the blocks' noisy tables and public tables. All of
it looks at the text and the policy alone, so a plan, a price or a refusal can say nothing about the rows.

A query is written out before it is planned, and one that is short in text can be huge when written out. Each table of a
WITH stands wherever it is named. Named twice by the next, which is named twice by the one after, it stands a million
times after twenty lines. So what is written out is counted while it is built, and refused in time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property

from sqlglot import exp

from discreet.catalog.catalog import Catalog
from discreet.catalog.column import Value
from discreet.errors import QueryRefused
from discreet.query.bind.group_by import PrivateAggregation, group_keys
from discreet.query.bind.join import (
    check_rows,
    filter_in_public,
    find_shared_columns,
    join,
    list_tests,
    split_conditions,
    split_in_predicates,
)
from discreet.query.bind.multiplicity import CountAlike
from discreet.query.bind.names import (
    Aliased,
    Released,
    Scope,
    Shared,
    Visible,
    check_alias,
    collect_names,
    find_table,
    get_alias,
    table_rows,
)
from discreet.query.bind.per_unit import names_unit, per_unit
from discreet.query.bind.periods import holds_in_all_rows, names_period
from discreet.query.bind.post_processing import (
    check_all,
    only_picks,
    post_processing,
    read_top,
    rewrite_post_processing,
)
from discreet.query.bind.relation import FindEnds, Names, Relation, filter_rows, project, unite_rows, without_partitions
from discreet.query.expressions.dates import format_iso_date
from discreet.query.expressions.decimals import as_key
from discreet.query.expressions.expression import DecimalType, Expression, Field, Type, collect_fields
from discreet.query.expressions.narrowing import find_facts, narrow_interval
from discreet.query.expressions.read import LookUp, read, read_condition
from discreet.query.expressions.types import as_type, number_type
from discreet.query.parse.parser import has_aggregate
from discreet.query.parse.places import refuse, refuse_part

__all__ = ["QuerySizeLimit", "SplitQuery", "cut_at_aggregates"]


_MOST_PARTS = 300
_DEEPEST = 40
_MOST_WORDS = 20_000
_REMEDY = "name each table of a WITH fewer times, or ask in several questions"

_BESIDE = "use it beside an aggregate: SELECT x, COUNT(*) … GROUP BY x ORDER BY 2"
_BY_GROUP = "write SELECT x, COUNT(*) … GROUP BY x, or inside FROM (…) SELECT person, x … GROUP BY person, x"


class QuerySizeLimit:
    """What one query became so far."""

    def __init__(self) -> None:
        self._parts = 0
        self._depth = 0
        self._words = 0

    @contextmanager
    def part(self, node: exp.Expr) -> Iterator[None]:
        """One more query, table or subquery, inside those that are being built."""
        self._parts += 1
        self._depth += 1
        if self._parts > _MOST_PARTS:
            raise refuse(node, f"a question may read at most {_MOST_PARTS} tables once WITH is written out", _REMEDY)
        if self._depth > _DEEPEST:
            raise refuse(node, f"subqueries may be nested at most {_DEEPEST} levels deep", _REMEDY)
        try:
            yield
        finally:
            self._depth -= 1

    def check_stars(self, node: exp.Select) -> None:
        """Refuse to name all columns twice: the columns would double with every query around it."""
        stars = [one.args.get("table") for one in node.expressions if one.is_star]
        names = {"" if name is None else name.name.casefold() for name in stars}
        if len(names) < len(stars) or (len(names) > 1 and "" in names):
            raise refuse(node, "* may name each column once", "list the columns that you need twice by name")

    def copied(self, query: exp.Query) -> exp.Query:
        """A copy of a query, to stand where it is named."""
        self._words += sum(1 for _ in query.walk())
        if self._words > _MOST_WORDS:
            raise refuse(query, "the question is too large once WITH is written out", _REMEDY)
        return query.copy()


_ROW_PARTS = {"expressions", "from_", "joins", "where", "with_"}
_NO_ROWS = "single rows of a protected table are never shown"
_ASK_THE_CROWD = "ask about the crowd: SELECT COUNT(*), AVG(…) or GROUP BY a column"

Found = Relation | Released


@dataclass(eq=False)
class SplitQuery:
    """A query cut at its aggregates."""

    blocks: list[PrivateAggregation]
    """What is measured, in the order in which it was found."""
    above: exp.Query
    """The post-processing, over tables named after the blocks and public tables."""
    public_tables: list[str] = field(default_factory=list)
    """Public tables that the post-processing reads."""
    multiplicities: Mapping[tuple[str, tuple[str, ...]], int] = field(default_factory=dict)
    """How many rows of public tables, alike in which columns, it was built on."""
    public_ends: Mapping[tuple[str, str], tuple[Value, Value] | None] = field(default_factory=dict)
    """Between which values columns of public tables lie, it was built on."""
    refused_together: list[QueryRefused] = field(default_factory=list)
    """Why it cannot be asked about several periods at once, where a unit is in one; empty where it can be."""
    is_by_row: bool = True
    """Whether rows below the aggregates are made of one row each, or of rows of one period, of a table that grows."""
    clock: str | None = None
    """What CURRENT_DATE means, where nobody named a moment and the question has one of its own."""

    @cached_property
    def only_picks(self) -> bool:
        """Whether the post-processing picks and names columns of one block, which has them, and does nothing else."""
        return len(self.blocks) == 1 and not self.public_tables and only_picks(self.above)


def cut_at_aggregates(
    query: exp.Query, catalog: Catalog, *, at_rest: bool, count_alike: CountAlike, find_ends: FindEnds | None
) -> SplitQuery:
    """Cut a query at its aggregates, or refuse it with the place and the reason.

    Where rows are not ``at_rest`` between two readings, a person can be in two parts of a column, one after the other.
    What ``count_alike`` and ``find_ends`` said of public tables stays with the query, which holds for no other rows.
    """
    counted: dict[tuple[str, tuple[str, ...]], int] = {}

    def count(table: str, columns: tuple[str, ...]) -> int:
        found = counted[table, columns] = count_alike(table, columns)
        return found

    looked_up: dict[tuple[str, str], tuple[Value, Value] | None] = {}

    def ends(table: str, column: str) -> tuple[Value, Value] | None:
        found = looked_up[table, column] = None if find_ends is None else find_ends(table, column)
        return found

    splitter = _Splitter(catalog, count, ends, at_rest=at_rest)
    above = splitter.answer(query, Scope())
    if not at_rest:
        for block in splitter.blocks:
            block.rows = without_partitions(block.rows)
    together, is_by_row = splitter.refused_together, splitter.is_by_row
    return SplitQuery(splitter.blocks, above, sorted(splitter.public), counted, looked_up, together, is_by_row)


class _Splitter:
    def __init__(self, catalog: Catalog, count_alike: CountAlike, ends: FindEnds, *, at_rest: bool) -> None:
        self.catalog = catalog
        self._count_alike, self._ends, self._at_rest = count_alike, ends, at_rest
        self.names = Names()
        self.blocks: list[PrivateAggregation] = []
        self.public: set[str] = set()
        self.refused_together: list[QueryRefused] = []
        self.is_by_row = True
        self._growing = [table for table in catalog if table.time is not None]
        self._growth = QuerySizeLimit()
        # By identity; the node is kept so that no other can take its place in memory.
        self._released: dict[int, tuple[exp.Expr, Released]] = {}

    # What a query becomes.

    def build(self, node: exp.Expr, scope: Scope) -> Found:
        """What a query produces: rows, private or public, or something that may leave and is measured once."""
        known = self._released.get(id(node))
        if known is not None:
            return known[1]
        with self._growth.part(node):
            found = self._built(node, scope)
        if isinstance(found, Released):
            self._released[id(node)] = node, found
        return found

    def _built(self, node: exp.Expr, scope: Scope) -> Found:
        if isinstance(node, exp.Subquery):
            check_alias(node)
            if {key for key, value in node.args.items() if value} - {"this", "alias"}:
                raise refuse(node, "only an alias can follow a subquery", "put the rest inside its parentheses")
            return self.build(node.this, scope)
        if isinstance(node, exp.Select):
            return self._select(node, scope.extended(node))
        if isinstance(node, exp.SetOperation):
            return self._set_operation(node, scope.extended(node))
        raise refuse(node, "only SELECT can be used here", "write SELECT … FROM …")

    def answer(self, node: exp.Expr, scope: Scope) -> exp.Query:
        """A query over noisy and public tables that answers ``node``."""
        return self._leaving(self.build(node, scope), node, scope)

    def _leaving(self, found: Found, node: exp.Expr, scope: Scope) -> exp.Query:
        if isinstance(found, Released):
            return self._growth.copied(found.above)
        if found.privacy is not None:
            raise refuse(node, _NO_ROWS, _ASK_THE_CROWD)
        inner = node.unnest()
        if isinstance(inner, exp.Select):
            return post_processing(inner, scope.extended(inner), self._public_source)
        raise refuse(node, "only SELECT can be used here", "write SELECT … FROM …")

    def _public_source(self, node: exp.Expr, scope: Scope) -> exp.Expr:
        """What a table or subquery becomes above: an answer, or a public table under its own name."""
        if not isinstance(node, exp.Table):
            return self.answer(node, scope)
        named = scope.find(node)
        if named is not None:
            return self._leaving(self._source(node, scope), named.query, named.scope)
        table = find_table(node, self.catalog)
        if not table.public:
            raise refuse(node, "private rows cannot be joined with an answer", "aggregate them first")
        self.public.add(table.name)
        return exp.Table(this=exp.to_identifier(table.name, quoted=True))

    # FROM, JOIN and WHERE.

    def _select(self, node: exp.Select, scope: Scope) -> Found:
        self._growth.check_stars(node)
        sources = self._sources(node, scope)
        rows_alone = [(alias, source) for alias, source in sources if isinstance(source, Relation)]
        is_private = any(relation.privacy is not None for _, relation in rows_alone)
        aggregated = has_aggregate(node)
        if not sources or len(rows_alone) < len(sources) or (not is_private and not _is_row_wise(node, aggregated)):
            return Released(post_processing(node, scope, self._public_source))
        if not is_private:
            return self._public_rows(node, rows_alone, scope)
        rows, look_up = self._rows(node, rows_alone, scope)
        if aggregated:
            return self._aggregated(node, rows, look_up, scope)
        if not _is_row_wise(node, aggregated):
            part = next(key for key, value in node.args.items() if value and key not in _ROW_PARTS)
            rule = "{} on single rows of a protected table cannot be answered"
            raise refuse_part(node, part, rule, _BY_GROUP if part == "distinct" else _BESIDE)
        return project(rows, _projections(node, look_up), self.names)

    def _public_rows(self, node: exp.Select, aliased: list[Aliased], scope: Scope) -> Found:
        """Rows that can be joined with private ones where each part of the query is understood; else an answer."""
        try:
            rows, look_up = self._rows(node, aliased, scope)
            return project(rows, _projections(node, look_up), self.names)
        except QueryRefused:
            return Released(post_processing(node, scope, self._public_source))

    def _sources(self, node: exp.Select, scope: Scope) -> list[tuple[str, Found]]:
        clause = node.args.get("from_")
        places = [clause.this] if clause is not None else []
        places += [each.this for each in node.args.get("joins") or []]
        return [(get_alias(place), self._source(place, scope)) for place in places]

    def _source(self, node: exp.Expr, scope: Scope) -> Found:
        if isinstance(node, exp.Subquery):
            return self.build(node, scope)
        named = scope.find(node) if isinstance(node, exp.Table) else None
        if named is None:
            check_alias(node)
            with self._growth.part(node):
                table = find_table(node, self.catalog)
                return table_rows(table, self.catalog, self.names, self._count_alike, self._ends)
        return self.build(named.query, named.scope)

    def _rows(self, node: exp.Select, aliased: list[Aliased], scope: Scope) -> tuple[Relation, Visible]:
        rows, shared, joins = aliased[0][1], _NOTHING_SHARED, node.args.get("joins") or []
        conditions, tests = split_conditions(joins, list_tests(node.args.get("where")), aliased)
        for count, (each, on) in enumerate(zip(joins, conditions, strict=True), start=1):
            left, right = rows, aliased[count][1]
            visible = collect_names(aliased[: count + 1], shared)
            rows = join(each, left, right, visible, self.names, on=on, at_rest=self._at_rest)
            self._check_joined(each, left, right)
            shared = find_shared_columns(each, left, right, shared)
        # After an outer join, columns of the optional side may be missing; the joined relation knows which.
        look_up = collect_names(aliased, shared).known_as({field.name: field for _, field in rows.columns})
        members, tests = split_in_predicates(tests)
        for member in members:
            rows = filter_in_public(rows, member, self.build(member.args["query"], scope), look_up, self.names)
        tests = self._undecided(tests, rows, look_up)
        if tests:
            condition = read_condition(exp.and_(*tests), look_up)
            rows = narrow_columns(filter_rows(rows, condition, self.names), condition)
            look_up = look_up.known_as({field.name: field for _, field in rows.columns})
        return rows, look_up

    # Periods.

    def _undecided(self, tests: list[exp.Expr], rows: Relation, look_up: LookUp) -> list[exp.Expr]:
        """The tests that rows of the periods which are read may fail."""
        if rows.privacy is None or not rows.privacy.periods:
            return tests
        return [one for one in tests if not holds_in_all_rows(read_condition(one, look_up), self._growing)]

    def _has_period_units(self, rows: Relation) -> bool:
        """Whether a unit of these rows is in one period, and they are of a table that grows."""
        privacy = rows.privacy
        return privacy is not None and any(
            table.is_by_period and table.name in privacy.tables for table in self._growing
        )

    def _check_joined(self, node: exp.Join, left: Relation, right: Relation) -> None:
        """Rows of one person in different periods are rows of different units, and never meet."""
        if left.privacy is None or right.privacy is None or not self._has_period_units(left):
            return
        self.is_by_row = False
        names = {name for _, name in left.privacy.periods | right.privacy.periods}
        if len(names) > 1:
            rule = f"rows of {left.privacy.unit} meet within one period"
            self.refused_together.append(refuse(node, rule, "keep one period of both tables with WHERE"))

    def _check_per_unit(self, group: exp.Expr, keys: Iterable[Expression], rows: Relation) -> None:
        """One row of a person over several periods would be a row of several units."""
        if rows.privacy is None or not self._has_period_units(rows):
            return
        tables = [table for table in self._growing if table.name in rows.privacy.tables]
        if any(names_period(key, tables) for key in keys):
            return
        self.is_by_row = False
        if len(rows.privacy.periods) > 1:
            every = "" if tables[0].time is None else tables[0].time.every.value
            rule = f"a row of one person over several {every}s cannot be used where a person and {every} is protected"
            self.refused_together.append(refuse(group, rule, f"GROUP BY the person and the {every}"))

    def _check_units(self, node: exp.Expr, block: PrivateAggregation) -> None:
        """Counted over several periods, people would count once in each."""
        privacy = block.rows.privacy
        if privacy is None or len(privacy.periods) < 2 or not self._has_period_units(block.rows):
            return
        if any(one.counts_units for one in block.aggregates):
            rule = "people are counted within one period, because a person in another one is another unit"
            self.refused_together.append(refuse(node, rule, "GROUP BY the period, or keep one period with WHERE"))

    # Set operations.

    def _set_operation(self, node: exp.SetOperation, scope: Scope) -> Found:
        sides = [(self.build(side, scope), side) for side in (node.left, node.right)]
        if any(isinstance(side, Relation) and side.privacy is not None for side, _ in sides):
            return self._united(node, [side for side, _ in sides])
        if {key for key, value in node.args.items() if value} - _UNION_PARTS:
            raise refuse(node, "only ORDER BY and LIMIT can follow here", "leave the rest out")
        for clause in filter(None, map(node.args.get, ("order", "limit", "offset"))):
            check_all(clause)
        above = node.copy()
        above.set("with_", None)
        for key, (side, part) in zip(("this", "expression"), sides, strict=True):
            above.set(key, self._leaving(side, part, scope))
        return Released(above)

    def _united(self, node: exp.SetOperation, sides: list[Found]) -> Relation:
        relations = [side for side in sides if isinstance(side, Relation) and side.privacy is not None]
        more = {key for key, value in node.args.items() if value} - {"this", "expression", "with_"}
        if not isinstance(node, exp.Union) or more or len(relations) != 2:
            raise refuse(node, "private rows are put together with UNION ALL of protected tables", "write UNION ALL")
        first, second = (relation.privacy for relation in relations)
        if first is None or second is None or first.unit != second.unit or first.neighbours != second.neighbours:
            raise refuse(node, "UNION ALL needs tables of the same people", "ask one question about each")
        relations = _with_common_decimals(relations, self.names)
        shapes = [[field.type for _, field in relation.columns] for relation in relations]
        if shapes[0] != shapes[1]:
            rule = "UNION ALL needs the same columns, of the same types, in the same order"
            raise refuse(node, rule, "name the columns on both sides")
        rows = unite_rows(relations, self.names)
        check_rows(node, rows)
        return rows

    # Aggregates.

    def _aggregated(self, node: exp.Select, rows: Relation, look_up: LookUp, scope: Scope) -> Found:
        keys = group_keys(node, look_up)
        if any(names_unit(key) for key in keys):
            self._check_per_unit(node.args["group"], keys, rows)
            return per_unit(node, rows, list(keys), look_up, self.names)
        for key in keys:
            _check_key(key, node.args["group"])
        block = PrivateAggregation(len(self.blocks) + 1, rows, list(keys), list(keys.values()))
        self.blocks.append(block)
        above = rewrite_post_processing(node, block, look_up, lambda query: self.answer(query, scope))
        # What is selected was found among them as they were read.
        block.keys = [format_iso_date(as_key(place, key)) for key, place in keys.items()]
        block.top = read_top(above, block.aggregates)
        self._check_units(node, block)
        if not block.aggregates:
            raise refuse(node, "nothing is measured: GROUP BY alone asks for no number", "add COUNT(*)")
        return Released(above)


_NOTHING_SHARED: Shared = {}
_UNION_PARTS = {"this", "expression", "with_", "distinct", "order", "limit", "offset"}


def _with_common_decimals(relations: list[Relation], names: Names) -> list[Relation]:
    """The same rows, where columns of decimals have as many digits after the point in both, or are real in both."""
    shapes = [[field.type for _, field in relation.columns] for relation in relations]
    if len(shapes[0]) != len(shapes[1]):
        return relations
    kinds = [_common_decimal(pair) for pair in zip(*shapes, strict=True)]
    return [_as_numbers(relation, kinds, names) for relation in relations]


def _common_decimal(pair: tuple[Type, ...]) -> Type | None:
    has_decimal = any(isinstance(kind, DecimalType) for kind in pair)
    return number_type(pair) if has_decimal and all(kind.is_numeric for kind in pair) else None


def _as_numbers(rows: Relation, kinds: list[Type | None], names: Names) -> Relation:
    wanted: list[tuple[str, Expression]] = [
        (visible, field if kind is None else as_type(field, kind))
        for (visible, field), kind in zip(rows.columns, kinds, strict=True)
    ]
    is_same = all(one is two for (_, one), (_, two) in zip(rows.columns, wanted, strict=True))
    return rows if is_same else project(rows, wanted, names)


def _is_row_wise(node: exp.Select, aggregated: bool) -> bool:
    return not aggregated and not [key for key, value in node.args.items() if value and key not in _ROW_PARTS]


def _check_key(key: Expression, group: exp.Expr) -> None:
    if isinstance(key, Field) and key.is_unit:
        rule = "people without a row on this side of the outer join would be one group"
        raise refuse(group, rule, "GROUP BY the identifier of the side that is kept, or use an inner JOIN")
    if any(used.is_unit for used in collect_fields(key)):
        remedy = "GROUP BY the identifier itself in a subquery"
        raise refuse(group, "the person's own identifier cannot be computed with", remedy)


def _projections(node: exp.Select, visible: Visible) -> list[tuple[str, Expression]]:
    columns: list[tuple[str, Expression]] = []
    for projection in node.expressions:
        if projection.is_star:
            columns += visible.starred(projection)
        else:
            columns.append((projection.alias_or_name or f"col{len(columns)}", read(projection.unalias(), visible)))
    return columns


def narrow_columns(rows: Relation, condition: Expression) -> Relation:
    """Rows that meet a condition, with what it says about their columns."""
    facts = find_facts(condition)
    columns = [(name, replace(column, interval=narrow_interval(column, facts))) for name, column in rows.columns]
    return replace(rows, columns=tuple(columns))
