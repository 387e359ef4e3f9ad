"""Relations: rows that an engine can produce, each of which belongs to exactly one unit, or is public.

A relation writes itself as one SELECT. Private relations carry a column ``_unit``; whatever is done to the rows
(filtering, computing, joining), a row of the result depends on the data of its own unit and on public tables alone.
Names inside are made by us (c1, c2, …), so no name of an analyst reaches an engine.
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
from discreet.engines.identifier import quoted
from discreet.engines.limits import kept_within, limited, limits_of
from discreet.engines.manifest import Stored
from discreet.engines.steps import kept_steps
from discreet.engines.unit_order import salt_of, spelled
from discreet.privacy.neighbours import Neighbours
from discreet.query.calendar import epoch
from discreet.query.contribution import Contribution, Truncation
from discreet.query.expression import Call, Expression, Field, Origin, Statement, named
from discreet.query.interval import UNKNOWN, Interval
from discreet.query.multiplicity import Alike, CountAlike, of_renamed, of_table
from discreet.query.restriction import Restriction, restrictions_of

__all__ = [
    "Names",
    "Privacy",
    "Relation",
    "Tallied",
    "filtered",
    "in_steps_of",
    "joined",
    "normalised",
    "projected",
    "scanned",
    "undivided",
    "unit_columns_of",
    "united",
]

Writer = Callable[[Statement], str]


class Names:
    """Internal names, each used once in a query."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def new(self, prefix: str = "c") -> str:
        """A name that no other part of the query has."""
        return f"{prefix}{next(self._numbers)}"


@dataclass(frozen=True)
class Privacy:
    """Whose rows they are, and how much one unit may count."""

    unit: str
    """The unit's domain: tables of one domain share their units."""
    neighbours: Neighbours
    """What is hidden."""
    rows: int
    """The total weight of a unit's rows."""
    groups: int
    """How many unlisted groups a unit can make visible."""
    tables: frozenset[str]
    """The protected tables that were read."""
    one_row_each: bool
    """Whether every unit has at most one row, so that nothing needs bounding."""
    contribution: Contribution
    """How many rows a unit can have."""
    most_rows: int
    """How many a unit may become by joins."""
    restrictions: tuple[Restriction, ...] = ()
    """Whose rows they are alone."""
    truncated: tuple[Truncation, ...] = ()
    """What was left out before joins."""
    foreign_keys: frozenset[tuple[str, str, str, str]] = frozenset()
    """Which columns lead to which, by the folded names of their tables and their own."""

    def meet(self, other: Privacy, contribution: Contribution) -> Privacy:
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
        )


class Tallied(Enum):
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
    tallied: Tallied = Tallied.NOTHING
    """How many rows a unit has here."""
    stepped: frozenset[str] = frozenset()
    """The fields, by name, that the rows of a table also have in steps where these are stored; see `in_steps_of`."""
    alike: Alike | None = None
    """How many public rows can have the same values; None for private rows."""

    def find(self, name: str) -> list[Field]:
        """The columns with this name, without regard to case."""
        wanted = name.casefold()
        return [field for visible, field in self.columns if visible.casefold() == wanted]


def undivided(rows: Relation) -> Relation:
    """The same rows, as of people who can have been elsewhere before."""
    return rows if rows.privacy is None else replace(rows, privacy=replace(rows.privacy, restrictions=()))


def scanned(
    table: Table,
    privacy: Privacy | None,
    names: Names,
    unit_columns: frozenset[str],
    count: CountAlike,
    salted_by: frozenset[str] = frozenset(),
) -> Relation:
    """All rows of a table, with defaults filled in and values moved into their bounds; public rows have a ``count``.

    What names a unit, for its salt, are the values of the columns ``salted_by``, by folded names.
    """
    pairs = [(column, _field(column, names.new(), unit_columns)) for column in table.columns]
    public = frozenset([table.name] if privacy is None else [])
    if privacy is None:
        pairs = [(column, replace(field, origin=Origin(table.name, column.name))) for column, field in pairs]
    else:
        pairs = [(column, _private(field, table, column, privacy)) for column, field in pairs]

    def write(statement: Statement) -> str:
        stored = statement.stored.get(table.name.casefold())
        parts = [f"{normalised(column, statement, stored)} AS {field.name}" for column, field in pairs]
        of_unit = [
            f"{statement.marks[name]} AS {name}" if name in statement.marks else name
            for name in _of_unit(privacy, tallied, statement)
        ]
        if statement.salted and privacy is not None and (stored is None or not stored.salted):
            of_unit[1] = f"{_salt(table, salted_by, statement)} AS _salt"
        parts += [f"{kept} AS {in_steps_of(field)}" for column, field in pairs if (kept := _steps(column, stored))]
        return f"SELECT {', '.join(of_unit + parts)} FROM {quoted(table.name)}"

    has_several = privacy is not None and not privacy.one_row_each
    tallied = Tallied.EXACTLY if has_several else Tallied.NOTHING
    names_of_fields = frozenset(field.name for _, field in pairs)
    columns = tuple((column.name, field) for column, field in pairs)
    alike = of_table(table.name, {field.name: column.name for column, field in pairs}, count) if public else None
    return Relation(columns, write, privacy, public, tallied, names_of_fields, alike)


def in_steps_of(field: Field) -> str:
    """What a field is called in steps, in rows that have it so."""
    return f"{field.name}_steps"


def _steps(column: Column, stored: Stored | None) -> str | None:
    return None if stored is None else kept_steps(column.name, stored)


def _salt(table: Table, salted_by: frozenset[str], statement: Statement) -> str:
    """The salt of the unit of a row, where no ingest stored it."""
    named = [column for column in table.columns if column.name.casefold() in salted_by]
    return salt_of([spelled(quoted(column.name), column.type) for column in named], statement.bind_secret())


def unit_columns_of(statement: Statement) -> list[str]:
    """The columns that name the unit of a private row, and its salt where that is needed."""
    return ["_unit", "_salt"] if statement.salted else ["_unit"]


def _of_unit(privacy: Privacy | None, tallied: Tallied, statement: Statement) -> list[str]:
    """The columns that say whose a row is, and what is known about the rows of its unit."""
    if privacy is None or tallied is Tallied.NOTHING:
        return [] if privacy is None else unit_columns_of(statement)
    return [*unit_columns_of(statement), *(["_n"] if statement.counted else []), *statement.marks]


def _private(field: Field, table: Table, column: Column, privacy: Privacy) -> Field:
    own = (table.name, column.name, limits_of(column))
    return replace(field, column=own, rows_per_key=column.rows_per_key, divides=_divides(table, column, privacy))


def _field(column: Column, name: str, unit_columns: frozenset[str]) -> Field:
    nullable = column.nullable and column.default is None
    is_unit = column.name.casefold() in unit_columns
    is_clamped = column.bounds is not None
    return Field(column.type, _interval(column), nullable, name, column.keys, is_unit, is_clamped=is_clamped)


def _divides(table: Table, column: Column, privacy: Privacy) -> tuple[str, str, str] | None:
    """Whether a column has one value per unit; a default could give a unit with missing values a second one."""
    is_constant = privacy.one_row_each or (column.constant_per_unit and column.default is None)
    moved = [None if value is None else str(value) for value in (column.lower, column.upper, column.default)]
    return (table.name, column.name, repr(moved)) if is_constant else None


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


def normalised(column: Column, statement: Statement, stored: Stored | None = None) -> str:
    """The column with its default and its bounds; NaN and infinity were turned into NULL when the data was taken in."""
    kept = None if stored is None else kept_within(column, stored)
    return kept or limited(column, quoted(column.name), statement.bind)


def filtered(relation: Relation, condition: Expression, names: Names) -> Relation:
    """The rows that meet a condition."""
    alias = names.new("r")

    def write(statement: Statement) -> str:
        return f"SELECT * FROM ({relation.write(statement)}) {alias} WHERE {condition.write(statement)}"

    privacy = relation.privacy
    if privacy is not None:
        privacy = replace(privacy, restrictions=privacy.restrictions + restrictions_of(condition))
    tallied = Tallied.NOTHING if relation.tallied is Tallied.NOTHING else Tallied.AT_MOST
    return replace(relation, write=write, privacy=privacy, tallied=tallied)


def projected(relation: Relation, columns: list[tuple[str, Expression]], names: Names) -> Relation:
    """The same rows with computed columns; a column that is passed on keeps what is public about it."""
    alias = names.new("r")
    made = [(visible, expression, named(expression, names.new())) for visible, expression in columns]

    def write(statement: Statement) -> str:
        of_unit = _of_unit(relation.privacy, relation.tallied, statement)
        parts = [f"{expression.write(statement)} AS {field.name}" for _, expression, field in made]
        return f"SELECT {', '.join(of_unit + parts)} FROM ({relation.write(statement)}) {alias}"

    columns_made = tuple((visible, field) for visible, _, field in made)
    passed = {field.name: expression.name for _, expression, field in made if isinstance(expression, Field)}
    alike = relation.alike and of_renamed(relation.alike, passed)
    return Relation(columns_made, write, relation.privacy, relation.public, relation.tallied, alike=alike)


def joined(
    left: Relation,
    right: Relation,
    kind: str,
    condition: Expression,
    names: Names,
    *,
    contribution: Contribution | None,
    alike: Alike | None = None,
) -> Relation:
    """Pairs of rows; rows of two protected tables meet only within one unit.

    Of private pairs a unit has so many (``contribution``); of public ones so many are ``alike``.
    """
    a, b = names.new("r"), names.new("r")
    both = left.privacy is not None and right.privacy is not None

    def write(statement: Statement) -> str:
        unit = [one for name in unit_columns_of(statement) for one in _unit_of_pair(left, right, kind, a, b, name)]
        fields = [f"{a}.{field.name}" for _, field in left.columns] + [
            f"{b}.{field.name}" for _, field in right.columns
        ]
        sides = f"({left.write(statement)}) {a} {kind} JOIN ({right.write(statement)}) {b}"
        test = condition.write(statement) + (f" AND {a}._unit = {b}._unit" if both else "")
        return f"SELECT {', '.join(unit + fields)} FROM {sides} ON {test}"

    columns = _outer(left, kind in ("RIGHT", "FULL")) + _outer(right, kind in ("LEFT", "FULL"))
    privacy = _privacy_of_pair(left, right, kind, contribution)
    return Relation(columns, write, privacy, left.public | right.public, alike=alike)


def _unit_of_pair(left: Relation, right: Relation, kind: str, a: str, b: str, name: str) -> list[str]:
    """The column of this name that says whose a pair is."""
    if left.privacy is None and right.privacy is None:
        return []
    if right.privacy is None:
        return [f"{a}.{name}"]
    if left.privacy is None:
        return [f"{b}.{name}"]
    return [{"RIGHT": f"{b}.{name}", "FULL": f"COALESCE({a}.{name}, {b}.{name}) AS {name}"}.get(kind, f"{a}.{name}")]


def _privacy_of_pair(left: Relation, right: Relation, kind: str, contribution: Contribution | None) -> Privacy | None:
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


def _outer(relation: Relation, may_be_missing: bool) -> tuple[tuple[str, Field], ...]:
    if not may_be_missing:
        return relation.columns
    return tuple((visible, _optional(field)) for visible, field in relation.columns)


def _optional(field: Field) -> Field:
    origin = field.origin and replace(field.origin, may_be_absent=True)
    computed = field.computed and _or_absent(field.computed)
    return replace(field, nullable=True, may_be_absent=True, origin=origin, computed=computed)


def _or_absent(computed: Expression) -> Expression:
    """What a field shows where an outer join found a row, and NULL where it found none."""
    found = Field(ColumnType.BOOLEAN, UNKNOWN, False, "found")
    return Call(computed.type, computed.interval, True, "CASE WHEN {1} THEN {0} END", (computed, found))


def united(relations: list[Relation], names: Names) -> Relation:
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
    origin = first.origin if all(field.origin == first.origin for field in fields) else None
    made = Field(first.type, interval, nullable, names.new(), listed, is_unit, origin=origin)
    may_be_absent = any(field.may_be_absent for field in fields)
    return visible, replace(made, may_be_absent=may_be_absent, pieces=max(field.pieces for field in fields))


def _renamed(relation: Relation, columns: list[tuple[str, Field]], alias: str, statement: Statement) -> str:
    pairs = zip(relation.columns, columns, strict=True)
    renamed = [f"{old.name} AS {new.name}" for (_, old), (_, new) in pairs]
    unit = unit_columns_of(statement) if relation.privacy is not None else []
    return f"SELECT {', '.join(unit + renamed)} FROM ({relation.write(statement)}) {alias}"
