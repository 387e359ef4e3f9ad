"""Relations: rows that an engine can produce, each of which belongs to exactly one unit, or is public.

A relation writes itself as one SELECT. Private relations carry a column ``_unit``; whatever is done to the rows
(filtering, computing, joining), a row of the result depends on the data of its own unit and on public tables alone.
Names inside are made by us (c1, c2, …), so no name of an analyst reaches an engine.

A relation may be restricted to people with certain keys, so that questions about others do not concern them. A column
with one value per person divides people into parts that cannot meet. Where a condition of WHERE demands that such a
column equals listed constants, a person with another value, or with none, has no row that remains.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import Enum, auto
from fractions import Fraction
from itertools import count

from discreet.catalog.column import Column, ColumnType, Value
from discreet.catalog.table import Table
from discreet.engines.bounded_keys import spell_value, write_salt
from discreet.engines.duckdb.manifest import Stored
from discreet.engines.parameters import quote
from discreet.engines.stored_columns import use_stored_clamp, use_stored_steps
from discreet.engines.value_grid import clamp_value, describe_limits
from discreet.privacy.neighbours import Neighbours
from discreet.query.bind.contribution import ContributionBound, Truncation
from discreet.query.bind.multiplicity import Alike, CountAlike, of_renamed, of_table
from discreet.query.expressions.calendar import epoch
from discreet.query.expressions.expression import (
    Call,
    Constant,
    Expression,
    Field,
    Origin,
    Statement,
    collect_fields,
    name_expression,
)
from discreet.query.expressions.interval import UNKNOWN, Interval

__all__ = [
    "FindEnds",
    "Names",
    "Part",
    "PartitionFilter",
    "Privacy",
    "Relation",
    "RowCounts",
    "filter_rows",
    "find_partition_filters",
    "join_rows",
    "list_unit_columns",
    "name_grid_column",
    "normalise",
    "project",
    "scan_table",
    "unite_rows",
    "without_partitions",
]


_KINDS = (ColumnType.TEXT, ColumnType.INTEGER, ColumnType.BOOLEAN, ColumnType.DATE)
"""Types whose equality is that of their spelling; 0.0 and -0.0 are equal and spelled differently."""

Part = tuple[str, str, str]
"""A protected table, its column, and the bounds and default that its values are moved to.

With other bounds a person can have another key, so what was asked under both is about everybody.
"""


@dataclass(frozen=True)
class PartitionFilter:
    """Only people whose column has one of these keys."""

    part: Part
    keys: frozenset[str]
    """The keys as they are spelled."""

    def is_apart_from(self, other: PartitionFilter) -> bool:
        """Whether nobody can be in both."""
        return self.part == other.part and not self.keys & other.keys


def find_partition_filters(condition: Expression) -> tuple[PartitionFilter, ...]:
    """What a condition demands of columns that divide people."""
    if isinstance(condition, Field):
        return _demanded(condition, [Constant.of(True)])
    if not isinstance(condition, Call):
        return ()
    if condition.template == "{0} AND {1}":
        return tuple(found for part in condition.arguments for found in find_partition_filters(part))
    first, *others = condition.arguments
    if condition.template.startswith("{0} IN (") or condition.template == "{0} = {1}":
        return _demanded(first, others) or (_demanded(others[0], [first]) if len(others) == 1 else ())
    if condition.template == "{0} IS TRUE":
        return _demanded(first, [Constant.of(True)])
    if condition.template in ("NOT {0}", "{0} IS FALSE"):
        return _demanded(first, [Constant.of(False)])
    return ()


def _demanded(field: Expression, values: list[Expression]) -> tuple[PartitionFilter, ...]:
    if not isinstance(field, Field) or field.divides is None or field.type not in _KINDS:
        return ()
    if not all(isinstance(value, Constant) and value.type is field.type for value in values):
        return ()
    constants = [value.value for value in values if isinstance(value, Constant)]
    return (PartitionFilter(field.divides, frozenset(_spelled(value) for value in constants if value is not None)),)


def _spelled(value: Value) -> str:
    return value.isoformat() if isinstance(value, (date, datetime)) else str(value)


Writer = Callable[[Statement], str]
FindEnds = Callable[[str, str], tuple[Value, Value] | None]
"""The least and the greatest value of a public table's column; None where it has none."""


class Names:
    """Internal names, each used once in a query."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._marks = count(1)

    def new(self, prefix: str = "c") -> str:
        """A name that no other part of the query has."""
        return f"{prefix}{next(self._numbers)}"

    def mark(self) -> str:
        """A name that no statement has, for what is known of rows; names of statements stay as they are without it."""
        return f"m{next(self._marks)}"


@dataclass(frozen=True)
class Privacy:
    """Whose rows they are, and how much one unit may count."""

    unit: str
    """The unit's domain: tables of one domain share their units."""
    neighbours: Neighbours
    """What is hidden."""
    rows: int
    """The total weight of a unit's rows, by the policies of its tables."""
    groups: int
    """How many unlisted groups a unit can make visible, by these policies."""
    tables: frozenset[str]
    """The protected tables that were read."""
    one_row_each: bool
    """Whether every unit has at most one row, so that nothing needs bounding."""
    contribution: ContributionBound
    """How many rows a unit can have."""
    most_rows: int
    """How many a unit may become by joins."""
    restrictions: tuple[PartitionFilter, ...] = ()
    """Whose rows they are alone."""
    truncated: tuple[Truncation, ...] = ()
    """What was left out before joins."""
    foreign_keys: frozenset[tuple[str, str, str, str]] = frozenset()
    """Which columns lead to which, by the folded names of their tables and their own."""
    periods: frozenset[tuple[str, str]] = frozenset()
    """Of tables that grow, the table and the name of every period that is read."""

    @property
    def counted_rows(self) -> int:
        """The total weight of a unit's rows here: no more than it has if it has no more in any table than counts."""
        return min(self.rows, self.contribution.usual)

    @property
    def counted_groups(self) -> int:
        """How many unlisted groups a unit can make visible here."""
        most = self.contribution.most
        return self.groups if most is None else min(self.groups, most)

    def meet(self, other: Privacy, contribution: ContributionBound) -> Privacy:
        """Of rows that were made from rows of both, and how many these are."""
        return Privacy(
            self.unit,
            self.neighbours,
            max(self.rows, other.rows),
            max(self.groups, other.groups),
            self.tables | other.tables,
            self.one_row_each and other.one_row_each,
            contribution,
            min(self.most_rows, other.most_rows),
            self.restrictions + other.restrictions,
            tuple(dict.fromkeys(self.truncated + other.truncated)),
            self.foreign_keys | other.foreign_keys,
            self.periods | other.periods,
        )


class RowCounts(Enum):
    """What the number of rows of a unit in its table, where an engine keeps it as ``_n``, says about some rows."""

    EXACTLY = auto()
    """The unit has that many of them."""
    AT_MOST = auto()
    """The unit has no more of them."""
    NOTHING = auto()
    """Nothing, as after a join."""


@dataclass(frozen=True)
class Relation:
    """Rows with typed columns."""

    columns: tuple[tuple[str, Field], ...]
    """What an analyst calls each column, and what it is."""
    write: Writer
    """Writes the SELECT that produces the rows."""
    privacy: Privacy | None
    """None for public rows."""
    public: frozenset[str] = frozenset()
    """The public tables that were read."""
    tallied: RowCounts = RowCounts.NOTHING
    """How many rows a unit has here."""
    stepped: frozenset[str] = frozenset()
    """The fields, by name, that a table also has in steps where these are stored; see `name_grid_column`."""
    alike: Alike | None = None
    """How many public rows can have the same values; None for private rows."""
    conditions: tuple[Expression, ...] = ()
    """What every row meets, or met when it was made, in terms of the fields there were."""

    def find(self, name: str) -> list[Field]:
        """The columns with this name, without regard to case."""
        wanted = name.casefold()
        return [field for visible, field in self.columns if visible.casefold() == wanted]


def without_partitions(rows: Relation) -> Relation:
    """The same rows without partition filters.

    Without snapshots one person may match two partitions in turn, so parallel composition does not hold.
    """
    return rows if rows.privacy is None else replace(rows, privacy=replace(rows.privacy, restrictions=()))


def scan_table(
    table: Table,
    privacy: Privacy | None,
    names: Names,
    unit_columns: frozenset[str],
    count: CountAlike,
    ends: FindEnds | None = None,
    salted_by: frozenset[str] = frozenset(),
) -> Relation:
    """All rows of a table, with defaults filled in and values moved into their bounds.

    Public rows have a ``count``, and ``ends`` tells between which values a column of them lies. What names a unit, for
    its salt, are the values of the columns ``salted_by``, by folded names.
    """
    pairs = [(column, _field(column, names.new(), unit_columns)) for column in table.columns]
    public = frozenset([table.name] if privacy is None else [])
    if privacy is None:
        scan = names.mark()
        pairs = [(column, _public(field, table, column, scan, ends)) for column, field in pairs]
    else:
        pairs = [(column, _private(field, table, column, privacy)) for column, field in pairs]

    def write(statement: Statement) -> str:
        stored = statement.stored.get(table.name.casefold())
        parts = [f"{normalise(column, statement, stored)} AS {field.name}" for column, field in pairs]
        of_unit = [
            f"{statement.marks[name]} AS {name}" if name in statement.marks else name
            for name in _of_unit(privacy, tallied, statement)
        ]
        if statement.salted and privacy is not None and (stored is None or not stored.salted):
            of_unit[1] = f"{_salt(table, salted_by, statement)} AS _salt"
        parts += [f"{kept} AS {name_grid_column(field)}" for column, field in pairs if (kept := _steps(column, stored))]
        return f"SELECT {', '.join(of_unit + parts)} FROM {_read_from(table, stored)}"

    has_several = privacy is not None and not privacy.one_row_each
    tallied = RowCounts.EXACTLY if has_several else RowCounts.NOTHING
    names_of_fields = frozenset(field.name for _, field in pairs)
    columns = tuple((column.name, field) for column, field in pairs)
    alike = of_table(table.name, {field.name: column.name for column, field in pairs}, count) if public else None
    return Relation(columns, write, privacy, public, tallied, names_of_fields, alike)


def _read_from(table: Table, stored: Stored | None) -> str:
    """Where the rows are: the table, or the files of the periods of it that are read, and of no others."""
    if stored is None or not stored.grows:
        return quote(table.name)
    if stored.native:  # a server is told the periods by a condition
        return quote(stored.sources[0])
    return f"({' UNION ALL BY NAME '.join(f'FROM {quote(one)}' for one in stored.sources)})"


def _public(field: Field, table: Table, column: Column, scan: str, ends: FindEnds | None) -> Field:
    """A column of a public table: where its policy states no bounds, they are those of its values."""
    found = replace(field, origin=Origin(table.name, column.name, scan=scan))
    if ends is None or not column.type.is_ordered or column.bounds is not None:
        return found
    stated = ends(table.name, column.name)
    if stated is None:
        return found
    numbers = [_number(end, column.type) for end in (*stated, *([] if column.default is None else [column.default]))]
    return replace(found, interval=Interval(min(numbers), max(numbers)))


def name_grid_column(field: Field) -> str:
    """What a field is called in steps, in rows that have it so."""
    return f"{field.name}_steps"


def _steps(column: Column, stored: Stored | None) -> str | None:
    return None if stored is None else use_stored_steps(column.name, stored)


def _salt(table: Table, salted_by: frozenset[str], statement: Statement) -> str:
    """The salt of the unit of a row, where no ingest stored it."""
    named = [column for column in table.columns if column.name.casefold() in salted_by]
    return write_salt([spell_value(quote(column.name), column.type) for column in named], statement.bind_secret())


def list_unit_columns(statement: Statement) -> list[str]:
    """The columns that name the unit of a private row, and its salt where that is needed."""
    return ["_unit", "_salt"] if statement.salted else ["_unit"]


def _of_unit(privacy: Privacy | None, tallied: RowCounts, statement: Statement) -> list[str]:
    """The columns that say whose a row is, and what is known about the rows of its unit."""
    if privacy is None or tallied is RowCounts.NOTHING:
        return [] if privacy is None else list_unit_columns(statement)
    return [*list_unit_columns(statement), *(["_n"] if statement.counted else []), *statement.marks]


def _private(field: Field, table: Table, column: Column, privacy: Privacy) -> Field:
    own = (table.name, column.name, describe_limits(column))
    return replace(field, column=own, rows_per_key=column.rows_per_key, divides=_divides(table, column, privacy))


def _field(column: Column, name: str, unit_columns: frozenset[str]) -> Field:
    nullable = column.may_be_missing and column.default is None
    is_unit = column.name.casefold() in unit_columns
    is_clamped = column.bounds is not None
    made = Field(column.type, _interval(column), nullable, name, column.listed, is_unit, is_clamped=is_clamped)
    return replace(made, keys_from=column.key_table, lists_missing=nullable and column.lists_missing)


def _divides(table: Table, column: Column, privacy: Privacy) -> tuple[str, str, str] | None:
    """Whether a column has one value per unit; a default could give a unit with missing values a second one."""
    is_constant = privacy.one_row_each or (column.constant_per_unit and column.default is None)
    moved = [None if value is None else str(value) for value in (column.lower, column.upper, column.default)]
    return (table.name, column.name, repr(moved)) if is_constant else None  # ledgers hold this text: it stays


def _interval(column: Column) -> Interval:
    if column.bounds is None:
        return Interval.of(0, 1) if column.type is ColumnType.BOOLEAN else UNKNOWN
    stated = (*column.bounds, *([column.default] if column.default is not None else []))
    ends = [_number(end, column.type) for end in stated]
    return Interval(min(ends), max(ends))


def _number(value: Value, kind: ColumnType) -> Fraction:
    if isinstance(value, (date, datetime)):
        return epoch(value)
    if isinstance(value, str):
        return Fraction(0)
    return Fraction(float(value)) if kind is ColumnType.REAL else Fraction(value)  # as the engine is handed it


def normalise(column: Column, statement: Statement, stored: Stored | None = None) -> str:
    """The column with its default and its bounds; NaN and infinity were turned into NULL when the data was taken in."""
    kept = None if stored is None else use_stored_clamp(column, stored)
    return kept or clamp_value(column, quote(column.name), statement.bind)


def filter_rows(relation: Relation, condition: Expression, names: Names) -> Relation:
    """The rows that meet a condition."""
    alias = names.new("r")

    def write(statement: Statement) -> str:
        return f"SELECT * FROM ({relation.write(statement)}) {alias} WHERE {condition.write(statement)}"

    privacy = relation.privacy
    if privacy is not None:
        privacy = replace(privacy, restrictions=privacy.restrictions + find_partition_filters(condition))
    tallied = RowCounts.NOTHING if relation.tallied is RowCounts.NOTHING else RowCounts.AT_MOST
    conditions = (*relation.conditions, condition)
    return replace(relation, write=write, privacy=privacy, tallied=tallied, conditions=conditions)


def project(relation: Relation, columns: list[tuple[str, Expression]], names: Names) -> Relation:
    """The same rows with computed columns; a column that is passed on keeps what is public about it."""
    alias = names.new("r")
    made = [(visible, expression, name_expression(expression, names.new())) for visible, expression in columns]

    def write(statement: Statement) -> str:
        of_unit = _of_unit(relation.privacy, relation.tallied, statement)
        parts = [f"{expression.write(statement)} AS {field.name}" for _, expression, field in made]
        return f"SELECT {', '.join(of_unit + parts)} FROM ({relation.write(statement)}) {alias}"

    columns_made = tuple((visible, field) for visible, _, field in made)
    passed = {field.name: expression.name for _, expression, field in made if isinstance(expression, Field)}
    alike = relation.alike and of_renamed(relation.alike, passed)
    made_rows = Relation(columns_made, write, relation.privacy, relation.public, relation.tallied, alike=alike)
    return replace(made_rows, conditions=relation.conditions)


def join_rows(
    left: Relation,
    right: Relation,
    kind: str,
    condition: Expression,
    names: Names,
    *,
    contribution: ContributionBound | None,
    alike: Alike | None = None,
) -> Relation:
    """Pairs of rows; rows of two protected tables meet only within one unit.

    Of private pairs a unit has so many (``contribution``); of public ones so many are ``alike``.
    """
    a, b = names.new("r"), names.new("r")
    both = left.privacy is not None and right.privacy is not None

    def write(statement: Statement) -> str:
        unit = [one for name in list_unit_columns(statement) for one in _unit_of_pair(left, right, kind, a, b, name)]
        fields = [f"{a}.{field.name}" for _, field in left.columns] + [
            f"{b}.{field.name}" for _, field in right.columns
        ]
        sides = f"({left.write(statement)}) {a} {kind} JOIN ({right.write(statement)}) {b}"
        test = condition.write(statement) + (f" AND {a}._unit = {b}._unit" if both else "")
        return f"SELECT {', '.join(unit + fields)} FROM {sides} ON {test}"

    columns = _outer(left, kind in ("RIGHT", "FULL"), names) + _outer(right, kind in ("LEFT", "FULL"), names)
    privacy = _privacy_of_pair(left, right, kind, contribution)
    conditions = _conditions_of_pair(left, right, kind, condition)
    return Relation(columns, write, privacy, left.public | right.public, alike=alike, conditions=conditions)


def _conditions_of_pair(left: Relation, right: Relation, kind: str, condition: Expression) -> tuple[Expression, ...]:
    """What all pairs meet: where a side can be absent, it meets the same or is missing as a whole."""
    if kind == "INNER":
        return (*left.conditions, *right.conditions, condition)
    if kind == "FULL":
        return ()
    kept, optional = (left, right) if kind == "LEFT" else (right, left)
    names = frozenset(field.name for _, field in optional.columns)
    compared = next((field for field in collect_fields(condition) if field.name in names), None)
    if compared is None:
        return kept.conditions
    absent = Call(ColumnType.BOOLEAN, UNKNOWN, False, "{0} IS NULL", (_maybe_absent(compared),))
    theirs = (*map(_maybe_absent, optional.conditions), _maybe_absent(condition, names))
    return (*kept.conditions, *(_or(one, absent) for one in theirs))


def _maybe_absent(expression: Expression, names: frozenset[str] | None = None) -> Expression:
    """The same about a side that can be absent, whose fields have these names; all fields, where none are given."""
    if isinstance(expression, Call):
        return replace(expression, arguments=tuple(_maybe_absent(part, names) for part in expression.arguments))
    if not isinstance(expression, Field) or (names is not None and expression.name not in names):
        return expression
    computed = expression.computed and _maybe_absent(expression.computed)
    origin = expression.origin and replace(expression.origin, may_be_absent=True)
    return replace(expression, origin=origin, computed=computed, nullable=True, may_be_absent=True)


def _or(one: Expression, other: Expression) -> Expression:
    return Call(ColumnType.BOOLEAN, UNKNOWN, True, "{0} OR {1}", (one, other))


def _unit_of_pair(left: Relation, right: Relation, kind: str, a: str, b: str, name: str) -> list[str]:
    """The column of this name that says whose a pair is."""
    if left.privacy is None and right.privacy is None:
        return []
    if right.privacy is None:
        return [f"{a}.{name}"]
    if left.privacy is None:
        return [f"{b}.{name}"]
    return [{"RIGHT": f"{b}.{name}", "FULL": f"COALESCE({a}.{name}, {b}.{name}) AS {name}"}.get(kind, f"{a}.{name}")]


def _privacy_of_pair(
    left: Relation, right: Relation, kind: str, contribution: ContributionBound | None
) -> Privacy | None:
    known = left.privacy or right.privacy
    if known is None or contribution is None:
        if known is not None:
            raise AssertionError("rows of people are bounded before they are joined")
        return None
    if left.privacy is not None and right.privacy is not None:
        # An outer join keeps people of one side whatever the other side demands.
        kept = {"LEFT": left.privacy.restrictions, "RIGHT": right.privacy.restrictions, "FULL": ()}
        both = left.privacy.meet(right.privacy, contribution)
        # A full join keeps both rows of a person whom its condition keeps apart.
        one_row_each = both.one_row_each and kind != "FULL"
        return replace(both, one_row_each=one_row_each, restrictions=kept.get(kind, both.restrictions))
    # A public table may match a row many times.
    return replace(known, one_row_each=False, contribution=contribution)


def _outer(relation: Relation, may_be_missing: bool, names: Names) -> tuple[tuple[str, Field], ...]:
    if not may_be_missing:
        return relation.columns
    found = Field(ColumnType.BOOLEAN, UNKNOWN, False, names.mark())
    return tuple((visible, _optional(field, found)) for visible, field in relation.columns)


def _optional(field: Field, found: Field) -> Field:
    origin = field.origin and replace(field.origin, may_be_absent=True)
    computed = field.computed and _or_absent(_maybe_absent(field.computed), found)
    return replace(field, nullable=True, may_be_absent=True, origin=origin, computed=computed)


def _or_absent(computed: Expression, found: Field) -> Expression:
    """What a field shows where an outer join ``found`` a row, and NULL where it found none."""
    return Call(computed.type, computed.interval, True, "CASE WHEN {1} THEN {0} END", (computed, found))


def unite_rows(relations: list[Relation], names: Names) -> Relation:
    """The rows of several relations of one unit, one below the other."""
    count = len(relations[0].columns)
    columns = [_stacked([relation.columns[k] for relation in relations], names) for k in range(count)]
    aliases = [names.new("r") for _ in relations]

    def write(statement: Statement) -> str:
        parts = [_renamed(r, columns, alias, statement) for r, alias in zip(relations, aliases, strict=True)]
        return " UNION ALL ".join(parts)

    privacy = relations[0].privacy
    for other in (relation.privacy for relation in relations[1:]):
        privacy = privacy.meet(other, privacy.contribution + other.contribution) if privacy and other else None
    public = frozenset(table for relation in relations for table in relation.public)
    if privacy is not None:
        privacy = replace(privacy, one_row_each=False, restrictions=())
    return Relation(tuple(columns), write, privacy, public)


def _stacked(parts: list[tuple[str, Field]], names: Names) -> tuple[str, Field]:
    """A column of a union: public about it is what is public about all its parts."""
    visible, first = parts[0]
    fields = [field for _, field in parts]
    interval = first.interval
    for other in fields[1:]:
        interval = interval.hull(other.interval)
    keys = [field.keys for field in fields]
    listed = None if None in keys else tuple(dict.fromkeys(key for each in keys for key in each or ()))
    nullable, is_unit = any(field.nullable for field in fields), all(field.is_unit for field in fields)
    made = Field(first.type, interval, nullable, names.new(), listed, is_unit, origin=_stacked_origin(fields, names))
    may_be_absent = any(field.may_be_absent for field in fields)
    stated = [field.rows_per_key for field in fields]
    lists_missing = any(field.lists_missing for field in fields)
    in_group = None if None in stated else max(most for most in stated if most is not None)
    pieces = max(field.pieces for field in fields)
    made = replace(made, may_be_absent=may_be_absent, lists_missing=lists_missing)
    return visible, replace(made, pieces=pieces, rows_per_key=in_group)


def _stacked_origin(fields: list[Field], names: Names) -> Origin | None:
    """The public column that all parts show, in whatever rows of it: columns of a union need not be of one row."""
    origins = {field.origin and replace(field.origin, may_be_absent=False, scan="") for field in fields}
    if len(origins) > 1 or None in origins:
        return None
    absent = any(field.origin is not None and field.origin.may_be_absent for field in fields)
    return replace(next(one for one in origins if one), may_be_absent=absent, scan=names.mark())


def _renamed(relation: Relation, columns: list[tuple[str, Field]], alias: str, statement: Statement) -> str:
    pairs = zip(relation.columns, columns, strict=True)
    renamed = [f"{old.name} AS {new.name}" for (_, old), (_, new) in pairs]
    unit = list_unit_columns(statement) if relation.privacy is not None else []
    return f"SELECT {', '.join(unit + renamed)} FROM ({relation.write(statement)}) {alias}"
