"""The statements of a block: one that adds up integers, one per count that needs rows of its own, one per choice.

Nothing else about the rows leaves the engine. Statements are written from typed parts; every value is bound, but for
integers and floats of the plan itself.

Rows first get the block's keys and its values on their grids (``_rows``); where keys are not public, a person keeps few
of them, in the person's own order (`discreet.engines.bounded_keys`). Then every row gets its weight (``_weighted``).

Where the engine keeps the number of rows of every unit in its table (``_n``), a question about the whole table takes it
as it is; one about some of the rows counts those units alone that could have too many. Marks of keys that it keeps
(`discreet.engines.bounded_keys`) are read by questions about the whole table. Nothing else changes by either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import wraps
from typing import Concatenate, ParamSpec

from discreet.catalog.column import ColumnType
from discreet.engines.bounded_keys import spell_value, turn_order, write_number
from discreet.engines.stored_columns import use_stored_key_bound, use_stored_rows_per_key
from discreet.engines.value_grid import describe_steps, in_steps, is_exact, real
from discreet.exact.grid import LARGEST_STEPS
from discreet.query.aggregates.aggregate import PlannedSelection
from discreet.query.aggregates.statistics import DistinctUnits, ValueScale
from discreet.query.bind.relation import RowCounts, list_unit_columns, name_grid_column
from discreet.query.expressions.expression import Expression, Field, Statement, canonical
from discreet.query.plan.sensitivity import AggregationPlan, PricedStatistic
from discreet.query.plan.top_groups import TopSelection
from discreet.query.run.first_rows import count_first, count_reached, weigh_first

__all__ = [
    "Parameters",
    "add_up",
    "count_apart",
    "count_at_limit",
    "list_limits",
    "write_histogram",
    "write_statements",
    "write_sums",
    "write_weights",
]


Parameters = list[object]

_SHORT = 2**31
_PLACES = 2**32
"""Keys that are not public are fewer, or the last of them are left out: a place times so many still fits 64 bits."""


_Of = ParamSpec("_Of")
_Write = Callable[Concatenate[AggregationPlan, _Of], tuple[str, Parameters]]


def _keep(write: _Write[_Of]) -> _Write[_Of]:
    """The same, written when it is first needed and kept with the plan: checks, fingerprint and run read one text."""

    @wraps(write)
    def kept(plan: AggregationPlan, /, *of: _Of.args, **none: _Of.kwargs) -> tuple[str, Parameters]:
        found = plan.written.get((write, *map(id, of)))
        if found is None:
            # What it is of is part of the plan, so that no other has its place in memory.
            found = plan.written[write, *map(id, of)] = write(plan, *of, **none)
        return found[0], list(found[1])

    return kept


def write_statements(plan: AggregationPlan) -> list[tuple[str, Parameters]]:
    """Every statement that the plan runs, in order."""
    together = add_up(plan)
    sums = [write_sums(plan)] if together else []
    sums += [write_weights(plan, plan.top)] if plan.top is not None else []
    apart = [count_apart(plan, priced) for k, priced in enumerate(plan.parts) if k not in together]
    at_limit = [] if plan.earlier is None else [count_at_limit(plan)]
    return [*sums, *apart, *(write_histogram(plan, choice) for choice in plan.choices), *at_limit]


def add_up(plan: AggregationPlan) -> dict[int, PricedStatistic]:
    """The parts whose integers one statement adds up, by their places; the others are counted apart.

    People are counted along with sums where each of them is one row, or has one row that stands for them in a group.
    """
    has_one_each = _has_one_row_each(plan) or "_held" in _marks(plan)
    return {k: priced for k, priced in enumerate(plan.parts) if priced.part.is_summed(one_row_each=has_one_each)}


@_keep
def write_sums(plan: AggregationPlan) -> tuple[str, Parameters]:
    """The integers s0_0, s0_1, … of all parts that are added up, with the block's keys k0, k1, …."""
    statement = _opened(plan)
    together = [_SummedColumn(plan, priced, f"x{k}", statement) for k, priced in add_up(plan).items()]
    source = _weighted(plan, [text for column in together if (text := column.write())], statement)
    keys = _keys(plan)
    sums = [
        f"{_saturate(integer)} AS s{column.name[1:]}_{j}"
        for column in together
        for j, integer in enumerate(column.priced.part.integers(column))
    ]
    text = f"WITH {source} SELECT {', '.join([*keys, *sums, '1 AS one'])} FROM {_source(plan)}{_group(keys)}"
    return text, statement.parameters


@_keep
def count_apart(plan: AggregationPlan, priced: PricedStatistic) -> tuple[str, Parameters]:
    """The integer ``s`` of a count of people or of different values, with the block's keys."""
    condition, values = priced.part.condition, priced.part.counted
    statement = _opened(plan, values_are_few=values is not None and not _has_one_row_each(plan))
    keys, columns, tests = _keys(plan), [], []
    if condition is not None:
        columns, tests = [f"{condition.write(statement)} AS f"], ["f"]
    if values is not None:
        columns, tests = [*columns, f"{canonical(values).write(statement)} AS x"], [*tests, "x IS NOT NULL"]
    rows = _rows(plan, columns, statement)
    kept = f" WHERE {' AND '.join(tests)}" if tests else ""
    if values is not None:
        return _values_statement(plan, priced, values, rows, kept, statement), statement.parameters
    has_places = plan.rule is not None and not _has_one_row_each(plan) and "_held" not in statement.marks
    weighted = _with_weights("_present", priced.max_contribution, priced.weight, _at_most(plan))
    count = f"{_saturate(_total('w'))} AS s"
    present = _present(plan, kept, is_marked="_held" in statement.marks)
    if plan.earlier is not None:
        weighted = _with_first_weights(plan, "_present", priced.max_contribution, priced.weight, statement, condition)
    text = f"WITH {rows}, _present AS ({present}), {weighted} SELECT {', '.join([*keys, count])}"
    named = " JOIN _order USING (place)" if has_places else ""
    return f"{text} FROM _weighted{named}{_group(keys)}", statement.parameters


def _present(plan: AggregationPlan, kept: str, *, is_marked: bool) -> str:
    """The units of each group, once each; those of unlisted keys by the places of their keys."""
    if _has_one_row_each(plan):
        return f"SELECT {', '.join(['_unit', *_keys(plan)])} FROM _rows{kept}"
    if is_marked and not kept:
        return f"SELECT {', '.join([*_unit(plan), *_keys(plan)])} FROM _rows WHERE _held > 0"
    if plan.rule is None or is_marked:
        return f"SELECT DISTINCT {', '.join([*_unit(plan), *_keys(plan)])} FROM _rows{kept}"
    return f"SELECT DISTINCT _unit, place FROM _rows{kept}" if kept else "SELECT _unit, place FROM _mine"


def _values_statement(
    plan: AggregationPlan, priced: PricedStatistic, values: Expression, rows: str, kept: str, statement: Statement
) -> str:
    keys = _keys(plan)
    columns = ", ".join([*keys, "x"])
    source = f"SELECT DISTINCT {', '.join(list_unit_columns(statement))}, {columns} FROM _rows{kept}"
    if not _has_one_row_each(plan):
        texts = [spell_value("x", values.type), *_spelled_keys(plan)]
        order = ", ".join([turn_order("_salt", write_number(texts, statement.bind_secret())), "x", *keys])
        source = _first_few(source, order, priced.max_contribution)
    text = f"WITH {rows}, _present AS ({source}) SELECT {', '.join([*keys, 'COUNT(DISTINCT x) AS s'])} FROM _present"
    return f"{text}{_group(keys)}"


@_keep
def write_weights(plan: AggregationPlan, top: TopSelection) -> tuple[str, Parameters]:
    """The weight ``s`` of every group, for a choice among groups."""
    statement = _opened(plan)
    tests = []
    if top.aggregate.condition is not None:
        tests.append(top.aggregate.condition.write(statement))
    if top.aggregate.argument is not None:
        tests.append(f"{_presence(top.aggregate.argument, statement)} IS NOT NULL")
    source = _weighted(plan, [f"{' AND '.join(tests) or 'TRUE'} AS f"], statement)
    keys, weight = _keys(plan), f"{_saturate(_total('w'))} AS s"
    text = f"SELECT {', '.join([*keys, weight])} FROM {_source(plan)} WHERE f"
    return f"WITH {source} {text}{_group(keys)}", statement.parameters


@_keep
def write_histogram(plan: AggregationPlan, choice: PlannedSelection) -> tuple[str, Parameters]:
    """The weight ``s`` of every grid point or listed value ``x`` in every group."""
    statement = _opened(plan)
    argument = choice.aggregate.argument
    if argument is None:
        raise AssertionError("a choice is made between values")
    if choice.grid is None:
        value = canonical(argument).write(statement)
    else:
        value = _on_grid(argument, Fraction(0), *choice.grid, "BIGINT", statement)
    condition = "TRUE" if choice.aggregate.condition is None else choice.aggregate.condition.write(statement)
    source = _weighted(plan, [f"{value} AS x", f"{condition} AS f"], statement)
    keys = [*_keys(plan), "x"]
    text = f"SELECT {', '.join(keys)}, {_saturate(_total('w'))} AS s FROM {_source(plan)} WHERE x IS NOT NULL AND f"
    return f"WITH {source} {text}{_group(keys)}", statement.parameters


def _opened(plan: AggregationPlan, *, values_are_few: bool = False) -> Statement:
    """A statement for the plan; rows say the salt of their unit where it chooses among its keys or values."""
    privacy, marks = plan.block.rows.privacy, _marks(plan)
    rows = 1 if privacy is None else max(privacy.contribution.times, privacy.contribution.plus)
    keys_are_few = plan.rule is not None and not _has_one_row_each(plan) and "_held" not in marks
    return Statement(
        counted=plan.counted,
        stored=plan.stored,
        marks=marks,
        rows=rows,
        secret=plan.secret,
        salted=keys_are_few or values_are_few,
    )


def _marks(plan: AggregationPlan) -> dict[str, str]:
    """What the engine wrote beside the rows about their keys, for a question about a whole table by one column.

    That is which keys of a unit are kept (``_held``), and how many rows of it have the same key (``_alike``).
    """
    if _tally(plan) is not RowCounts.EXACTLY or len(plan.block.keys) != 1:
        return {}
    (key,) = plan.block.keys
    if not isinstance(key, Field) or key.column is None:
        return {}
    table, column, limits = key.column
    stored = plan.stored.get(table.casefold())
    if stored is None:
        return {}
    held = None if plan.rule is None else use_stored_key_bound(column, limits, most=plan.rule.per_unit, stored=stored)
    alike = None if plan.rows_per_group is None else use_stored_rows_per_key(column, limits, stored)
    return {name: kept for name, kept in (("_held", held), ("_alike", alike)) if kept is not None}


def _keys(plan: AggregationPlan) -> list[str]:
    return [f"k{k}" for k in range(len(plan.block.keys))]


def _group(keys: list[str]) -> str:
    return f" GROUP BY {', '.join(keys)}" if keys else ""


def _has_one_row_each(plan: AggregationPlan) -> bool:
    return plan.block.rows.privacy is not None and plan.block.rows.privacy.one_row_each


def _tally(plan: AggregationPlan) -> RowCounts:
    """What the engine's own count of a unit's rows says about the rows of the block."""
    return plan.block.rows.tallied if plan.counted else RowCounts.NOTHING


def _at_most(plan: AggregationPlan) -> RowCounts:
    """The same for fewer rows."""
    return RowCounts.NOTHING if _tally(plan) is RowCounts.NOTHING else RowCounts.AT_MOST


def _unit(plan: AggregationPlan) -> list[str]:
    return ["_unit"] if _tally(plan) is RowCounts.NOTHING else ["_unit", "_n"]


# Rows, keys and weights.


def _rows(plan: AggregationPlan, columns: list[str], statement: Statement) -> str:
    """``_rows``: the unit, the keys, and these columns."""
    # Parameters are numbered as they are written, so the columns that came before stay before the rows.
    keys = [f"{canonical(key).write(statement)} AS k{k}" for k, key in enumerate(plan.block.keys)]
    inner = plan.block.rows.write(statement)
    salt = ["_salt"] if statement.salted else []
    select = (
        f"SELECT {', '.join([*_unit(plan), *salt, *statement.marks, *keys, *columns, '1 AS one'])} FROM ({inner}) r"
    )
    if plan.rule is None or _has_one_row_each(plan):
        return f"_rows AS ({select})"
    if "_held" in statement.marks:
        return f"_rows AS ({select} WHERE _held <> 0)"
    # The rows of a table are read again sooner than they are kept; those of a join are not.
    again = "AS" if plan.block.rows.tallied is RowCounts.NOTHING else "AS NOT MATERIALIZED"
    number = write_number(_spelled_keys(plan), statement.bind_secret())
    few = _few_keys(_keys(plan), plan.rule.per_unit, number, again, is_counted=_tally(plan) is not RowCounts.NOTHING)
    return f"_all {again} ({select}), {few}"


def _spelled_keys(plan: AggregationPlan) -> list[str]:
    return [spell_value(name, key.type) for name, key in zip(_keys(plan), plan.block.keys, strict=True)]


def _few_keys(names: list[str], most: int, number: str, again: str, *, is_counted: bool) -> str:
    """``_rows``: of ``_all`` the rows with the first few keys of their unit, in the unit's own order.

    Keys are hashed once, in ``_order``, and not for everybody who holds them, and numbered there by their values, as
    ``place``: which of two has the lower number depends on these two alone. ``_mine`` are the pairs of units and places
    that count.
    """
    listed = ", ".join(names)
    found = "_order.place, _order.h" if most == 1 else "_order.place"
    same = " AND ".join(f"_all.{name} IS NOT DISTINCT FROM _order.{name}" for name in names)
    ordered = [
        f"_keys AS (SELECT DISTINCT {listed} FROM _all)",
        f"_order AS (SELECT {listed}, {number} AS h, row_number() OVER (ORDER BY {listed}) AS place FROM _keys)",
        f"_ranked {again} (SELECT _all.*, {found} FROM _all JOIN _order ON {same})",
    ]
    return ", ".join([*ordered, *(_first_key() if most == 1 else _first_keys(most, is_counted=is_counted))])


def _first_key() -> list[str]:
    """One number holds the place of a key in the unit's order and, for keys that share it, among all keys."""
    first = f"MIN({turn_order('_salt', 'h')} * {_PLACES} + place)"
    return [
        f"_first AS (SELECT _unit, {first} AS first FROM _ranked WHERE place < {_PLACES} GROUP BY _unit)",
        f"_mine AS (SELECT _unit, first % {_PLACES} AS place FROM _first)",
        f"_rows AS (SELECT _ranked.* FROM _ranked JOIN _mine ON {_same_pair('_ranked', '_mine')})",
    ]


def _first_keys(most: int, *, is_counted: bool) -> list[str]:
    """Only units that hold too many keys are looked at again, and what they hold beyond is left out.

    Who has no more rows than keys to keep needs no look at all, where rows are counted.
    """
    pairs = "SELECT DISTINCT _unit, place FROM _ranked"
    held = f"SELECT _unit, place, MIN(_salt) AS _salt FROM _ranked{f' WHERE _n > {most}' if is_counted else ''}"
    others = f"{pairs} WHERE _n <= {most} UNION ALL " if is_counted else ""
    order = f"{turn_order('_held._salt', '_order.h')}, _held.place"
    nth = f"row_number() OVER (PARTITION BY _held._unit ORDER BY {order}) AS nth"
    theirs = "_held JOIN _many ON _held._unit = _many._unit JOIN _order ON _held.place = _order.place"
    within, outside = f"_held LEFT JOIN _beyond ON {_same_pair('_held', '_beyond')}", "WHERE _beyond._unit IS NULL"
    return [
        f"_held AS ({held} GROUP BY _unit, place)",
        f"_many AS (SELECT _unit FROM _held GROUP BY _unit HAVING COUNT(*) > {most})",
        f"_theirs AS (SELECT _held._unit, _held.place, {nth} FROM {theirs})",
        f"_beyond AS (SELECT _unit, place FROM _theirs WHERE nth > {most})",
        f"_mine AS ({others}SELECT _held._unit, _held.place FROM {within} {outside})",
        f"_rows AS (SELECT _ranked.* FROM _ranked LEFT JOIN _beyond ON {_same_pair('_ranked', '_beyond')} {outside})",
    ]


def _same_pair(one: str, two: str) -> str:
    return f"{one}._unit = {two}._unit AND {one}.place = {two}.place"


def _first_few(source: str, order: str, most: int) -> str:
    """At most so many rows of each unit, in an order that depends on their values alone."""
    ranked = f"SELECT *, row_number() OVER (PARTITION BY _unit ORDER BY {order}) AS place FROM ({source}) d"
    return f"SELECT * EXCLUDE (place) FROM ({ranked}) p WHERE place <= {most}"


def _weighted(plan: AggregationPlan, columns: list[str], statement: Statement) -> str:
    """``_weighted``: keys, values on their grids, conditions, and a weight ``w`` for every row.

    Where a unit counts for less in each group, ``_shared`` has the same with weights that are lowered once more.
    """
    tallied = _tally(plan) if plan.rule is None else _at_most(plan)
    rows, number = _rows(plan, columns, statement), "_n"
    if "_held" in statement.marks:
        tallied, number = RowCounts.EXACTLY, "abs(_held)"
    each = (plan.rows_per_unit, plan.weight)
    if plan.earlier is None:
        weighted = f"{rows}, {_with_weights('_rows', *each, tallied, number)}"
    else:
        weighted = f"{rows}, {_with_first_weights(plan, '_rows', *each, statement)}"
    if plan.rows_per_group is None:
        return weighted
    names = [column.rpartition(" AS ")[2] for column in columns]
    shared = _shared(_keys(plan), names, plan.rows_per_group * plan.weight, is_counted="_alike" in statement.marks)
    return f"{weighted}, {shared}"


def _source(plan: AggregationPlan) -> str:
    """The rows with their weights."""
    return "_weighted" if plan.rows_per_group is None else "_shared"


def _shared(keys: list[str], names: list[str], most: int, *, is_counted: bool) -> str:
    """``_shared``: the rows of a unit in one group weigh ``most`` together at most, and none more than before."""
    number = f"COUNT(*) OVER (PARTITION BY {', '.join(['_unit', *keys])}) AS _alike"
    rows = "_weighted" if is_counted else f"(SELECT *, {number} FROM _weighted) g"
    weight = f"CASE WHEN {most} // _alike < w THEN {most} // _alike ELSE w END AS w"
    return f"_shared AS (SELECT {', '.join([*keys, *names, weight])} FROM {rows})"


def _with_weights(source: str, most: int, weight: int, tallied: RowCounts, number: str = "_n") -> str:
    """``_weighted``: a row of a unit with n rows weighs min(1, most / n), rounded down in integer units.

    Where rows say how many their unit has, they do so as ``number``.
    """
    if weight == 1:
        return f"_weighted AS (SELECT *, 1 AS w FROM {source})"
    each = "CASE WHEN {0} <= {1} THEN {2} ELSE {3} // {0} END AS w"
    if tallied is RowCounts.EXACTLY:
        return f"_weighted AS (SELECT *, {each.format(number, most, weight, most * weight)} FROM {source})"
    counted = f"SELECT _unit, COUNT(*) AS n FROM {source}"
    if tallied is RowCounts.NOTHING:
        return (
            f"_counted AS ({counted} GROUP BY _unit), _weighted AS (SELECT {source}.*, "
            f"{each.format('n', most, weight, most * weight)} FROM {source} JOIN _counted USING (_unit))"
        )
    return (
        f"_counted AS ({counted} WHERE _n > {most} GROUP BY _unit), _weighted AS (SELECT {source}.*, "
        f"{each.format('COALESCE(n, 1)', most, weight, most * weight)} FROM {source} LEFT JOIN _counted USING (_unit))"
    )


# The first rows of a unit, in the order of periods (`first_rows.py`).


def _with_first_weights(
    plan: AggregationPlan,
    source: str,
    most: int,
    weight: int,
    statement: Statement,
    condition: Expression | None = None,
) -> str:
    """``_weighted``: the first ``most`` rows, or groups, of a unit count, in the order of periods."""
    earlier = _earlier_rows(plan, statement) if source == "_rows" else _earlier_groups(plan, statement, condition)
    return f"{count_first(source, earlier)}, {weigh_first(source, most, weight)}"


def _earlier_rows(plan: AggregationPlan, statement: Statement) -> str | None:
    """The rows of the block in earlier periods; None where there are no such periods."""
    if not plan.earlier:
        return None
    with statement.reading(plan.earlier):
        return plan.block.rows.write(statement)


def _earlier_groups(plan: AggregationPlan, statement: Statement, condition: Expression | None) -> str | None:
    """The groups of every unit in earlier periods, each once, where it has a row that meets a condition."""
    if not plan.earlier:
        return None
    keys = [f"{canonical(key).write(statement)} AS k{k}" for k, key in enumerate(plan.block.keys)]
    test = "" if condition is None else f" WHERE {condition.write(statement)}"
    return f"SELECT DISTINCT {', '.join(['_unit', *keys])} FROM ({_earlier_rows(plan, statement)}) r{test}"


@_keep
def count_at_limit(plan: AggregationPlan) -> tuple[str, Parameters]:
    """The integer ``s``: how many units reached, in the period of a plan of a series, what counts of them."""
    statement = _opened(plan)
    of_groups = list_limits(plan)
    source, most = ("_present", max(of_groups)) if of_groups else ("_rows", plan.rows_per_unit)
    texts = [_rows(plan, [], statement)]
    if of_groups:
        texts += [f"_present AS ({_present(plan, '', is_marked=False)})"]
    earlier = _earlier_groups(plan, statement, None) if of_groups else _earlier_rows(plan, statement)
    return f"WITH {', '.join([*texts, count_first(source, earlier)])} {count_reached(most)}", statement.parameters


def list_limits(plan: AggregationPlan) -> list[int]:
    """Where people alone are counted, the groups in which one of them counts, for every count; else none."""
    is_of_people = all(isinstance(priced.part, DistinctUnits) for priced in plan.parts)
    return [priced.max_contribution for priced in plan.parts] if is_of_people else []


# Values on their grids.


@dataclass(frozen=True)
class _SummedColumn:
    """A statistic that is added up: its value in a row, by a name, and the sums that its integers are made of."""

    plan: AggregationPlan
    priced: PricedStatistic
    name: str
    statement: Statement

    @property
    def scale(self) -> ValueScale:
        return self.priced.scale

    def write(self) -> str | None:
        """The value of a row, NULL where the statistic leaves the row out; None where no value is needed."""
        value, condition = self.priced.part.value(self), self.priced.part.condition
        if value is not None and condition is not None:
            value = f"CASE WHEN {condition.write(self.statement)} THEN {value} END"
        return None if value is None else f"{value} AS {self.name}"

    def held(self) -> str | None:
        return "CASE WHEN _held > 0 THEN 1 END" if "_held" in self.statement.marks else None

    def presence(self, argument: Expression | None) -> str:
        return "1" if argument is None else _presence(argument, self.statement)

    def on_grid(self, argument: Expression) -> str:
        scale = self.scale
        # Also when it is multiplied by itself.
        is_short = self.priced.weight == 1 and self.priced.part.whole(scale) < _SHORT
        kept = _kept_steps(self.plan, argument, scale) if is_short else None
        ends, kind = (scale.first, scale.last), "INTEGER" if is_short else "BIGINT"
        return kept or _on_grid(argument, scale.origin, scale.step, ends, kind, self.statement)

    def units(self) -> str:
        return _total("1" if _has_one_row_each(self.plan) else self.name)

    def everybody(self) -> str:
        return _total("w" if self.plan.weight > 1 else "1")

    def present(self) -> str:
        return _total(f"CASE WHEN {self.name} IS NOT NULL THEN {'w' if self.plan.weight > 1 else '1'} END")

    def power(self, exponent: int) -> str:
        return _total(" * ".join((["w"] if self.plan.weight > 1 else []) + [self.name] * exponent))


def _kept_steps(plan: AggregationPlan, argument: Expression, scale: ValueScale) -> str | None:
    """The values of a column in the steps of this very grid, where its table was taken in with them."""
    if not isinstance(argument, Field) or argument.column is None or argument.name not in plan.block.rows.stepped:
        return None
    table, column, limits = argument.column
    stored = plan.stored.get(table.casefold())
    wanted = describe_steps(limits, scale.origin, scale.step)
    return name_grid_column(argument) if stored is not None and stored.steps.get(column) == wanted else None


def _presence(argument: Expression, statement: Statement) -> str:
    """One where there is a value; NaN and infinity are none."""
    text = argument.write(statement)
    may_be_infinite = isinstance(argument.type, ColumnType) and argument.type.is_numeric
    test = f"isfinite(CAST({text} AS DOUBLE))" if may_be_infinite else f"{text} IS NOT NULL"
    return f"CASE WHEN {test} THEN 1 END"


def _on_grid(
    argument: Expression, origin: Fraction, step: Fraction, ends: tuple[int, int], kind: str, statement: Statement
) -> str:
    """The value in steps from the origin, moved into its bounds and between ``ends``; NULL where there is none."""
    known = argument.interval.known
    if known is None:
        raise AssertionError("values on a grid have bounds")
    text = f"CAST({argument.write(statement)} AS DOUBLE)"
    low, high = (real(end) for end in known)
    steps = in_steps(text, origin, step)
    if isinstance(argument, Field) and argument.is_clamped and is_exact(known, origin, step):
        return f"CAST({steps} AS {kind})"  # the value itself was moved into its bounds, where it is read
    # Clamped in steps, whatever planning knows of the value: the ends are integers that doubles have too, so what lies
    # between them is rounded to an integer between them.
    first, last = (real(Fraction(end)) for end in ends)
    whole = f"CASE WHEN {steps} BETWEEN {first} AND {last} THEN CAST({steps} AS {kind})"
    clamped = f"{whole} WHEN {steps} < {first} THEN {ends[0]} ELSE {ends[1]} END"
    outer = (min(max(round((end - origin) / step), ends[0]), ends[1]) for end in known)
    beyond = "CASE WHEN {} < {} THEN {} ELSE {} END".format(text, low, *outer)
    # Nearly every value lies within its bounds, and the first branch is the cheap one.
    return f"CASE WHEN {text} BETWEEN {low} AND {high} THEN {clamped} WHEN isfinite({text}) THEN {beyond} END"


# Sums.


def _total(summand: str) -> str:
    """A sum in 128 bits; over no rows it is zero."""
    total = "COUNT(*)" if summand == "1" else f"SUM({summand})"
    return f"COALESCE(CAST({total} AS HUGEINT), 0)"


def _saturate(total: str) -> str:
    """A sum that leaves room for noise in 64 bits; one further out is moved to the end, which takes no pair apart."""
    most = LARGEST_STEPS
    return f"CAST(GREATEST(LEAST({total}, {most}), -{most}) AS BIGINT)"
