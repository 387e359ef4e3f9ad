"""Typed row expressions: what an analyst's expression becomes before any of it reaches an engine.

Analysts' text is never sent on. Each part is one of four kinds: a field of a relation, a constant (always bound, never
written into a statement), a call of a function from a fixed list, or a field that a relation below computed. Every
expression knows its type and a public interval that holds all its values; both follow from the policy alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime
from fractions import Fraction
from typing import ClassVar

from discreet.catalog.column import ColumnType, Value
from discreet.engines.duckdb.manifest import Stored
from discreet.engines.parameters import DUCKDB_TYPES, Bindings
from discreet.query.expressions.interval import UNKNOWN, Interval
from discreet.query.expressions.work_limit import LETTERS_IN_A_PIECE, Work

__all__ = [
    "Call",
    "Constant",
    "DecimalType",
    "Expression",
    "Field",
    "Origin",
    "Statement",
    "Type",
    "canonical",
    "collect_fields",
    "get_rows_per_key",
    "is_stored",
    "list_pieces",
    "lists_missing",
    "name_expression",
    "type_name",
]


_LONGEST_COMPUTED = 200
_STEPS = "DECIMAL(38, 0)"
_WORD = 2**63
_CANONICAL = "CASE WHEN isnan({0}) THEN CAST('NaN' AS DOUBLE) ELSE {0} + 0.0 END"


class Statement(Bindings):
    """A statement that is being written, for rows as an engine keeps them."""

    def __init__(
        self,
        *,
        counted: bool = False,
        stored: Mapping[str, Stored] | None = None,
        marks: Mapping[str, str] | None = None,
        rows: int = 1,
        secret: str = "",
        salted: bool = False,
    ) -> None:
        """The rows say, as ``_n``, how many rows their unit has in the table, where ``counted``.

        ``stored`` says what else was kept of tables when they were taken in, by their folded names. ``marks`` are kept
        columns by the names under which they are read, ``_held`` and ``_alike``. Joins make so many ``rows`` of a
        unit's at most. Private rows say the salt of their unit, as ``_salt``, where ``salted``; with ``secret`` it is
        hashed, and so is what units put in an order of their own (`discreet.engines.bounded_keys`).
        """
        super().__init__()
        self.counted = counted
        self.stored = stored or {}
        self.marks = marks or {}
        self.work = Work(rows)
        self.salted = salted
        self._secret = secret
        self._bound_secret: str | None = None

    def bind_secret(self) -> str:
        """The one place of the secret."""
        if self._bound_secret is None:
            self._bound_secret = self.bind(self._secret, ColumnType.TEXT)
        return self._bound_secret

    @contextmanager
    def reading(self, stored: Mapping[str, Stored]) -> Iterator[None]:
        """While rows below are written: they are those of other periods of their tables."""
        before, self.stored = self.stored, stored
        try:
            yield
        finally:
            self.stored = before

    @contextmanager
    def salting(self) -> Iterator[None]:
        """While rows below are written: they say their salts, whether rows above need them or not."""
        before, self.salted = self.salted, True
        try:
            yield
        finally:
            self.salted = before


@dataclass(frozen=True)
class DecimalType:
    """Numbers with so many digits after the point, up to 38 in all; engines compute with whole steps of the last one.

    So 0.3 is the integer 3 in steps of 0.1, on every engine, and a value has one spelling.
    """

    scale: int
    """How many digits stand after the point."""
    value: ClassVar[str] = "decimal"
    """What people call it."""
    is_numeric: ClassVar[bool] = True
    """Whether one can calculate with it."""


Type = ColumnType | DecimalType
"""What the values of an expression are; columns of tables are never decimals."""


@dataclass(frozen=True)
class Expression:
    """Something that has one value per row."""

    type: Type
    """What its values are."""
    interval: Interval
    """Numbers alone: all values lie in it. Dates count in days, timestamps in seconds, since 1970."""
    nullable: bool
    """Whether the value may be missing."""

    def write(self, statement: Statement) -> str:
        """The same in the engine's language."""
        raise NotImplementedError


@dataclass(frozen=True)
class Origin:
    """The column of a public table that a field shows unchanged, so that its values can be listed."""

    table: str
    """The public table."""
    column: str
    """Its column, as the policy spells it."""
    may_be_absent: bool = False
    """Whether an outer join can leave the field empty where the table has no row."""
    scan: str = ""
    """Which reading of the table: columns of one have the values of one row."""


@dataclass(frozen=True)
class Field(Expression):
    """A column of the relation below, by the internal name it has there."""

    name: str
    """Internal: made by us, so it needs no quoting."""
    keys: tuple[Value, ...] | None = None
    """Every value it can have, when that list is public."""
    is_unit: bool = False
    """Whether it identifies the unit, and so may not appear in an answer."""
    column: tuple[str, str, str] | None = None
    """The protected table and the column whose values it shows, and the limits into which they were moved."""
    rows_per_key: int | None = None
    """How many rows of a unit count in full in a group by it, or by what follows from it; see `get_rows_per_key`."""
    divides: tuple[str, str, str] | None = None
    """The protected table and column it comes from, and how values are moved there, where a unit has one value."""
    is_clamped: bool = False
    """Whether its values were moved into its interval where they are read, not by reasoning about real numbers."""
    origin: Origin | None = None
    """Where in a public table it comes from; None for what is private or computed."""
    pieces: int = 1
    """How many texts of the tables it was joined from, at most."""
    computed: Expression | None = None
    """What the relation below computes for it, where that is short; it has that expression's values and no others."""
    may_be_absent: bool = False
    """Whether an outer join can leave it empty where the relation it comes from has no row."""
    keys_from: tuple[str, str] | None = None
    """The public table and its column that list every value it can have as a key."""
    lists_missing: bool = False
    """Whether what is missing is a group of its own; otherwise rows that miss it are in none."""
    usual: int | None = None
    """The most that a count of a person's rows is, where they have no more rows in any table than count."""
    root: str = ""
    """Its internal name where it was first read or computed; empty where it still has that name."""

    def write(self, statement: Statement) -> str:
        """The internal name."""
        return self.name


@dataclass(frozen=True)
class Constant(Expression):
    """A literal from the query."""

    value: Value | None

    def write(self, statement: Statement) -> str:
        """A placeholder; the value travels beside the text."""
        if isinstance(self.type, DecimalType):
            return statement.bind_as(self._steps(self.type.scale), _STEPS)
        return statement.bind(self.value, self.type)

    def _steps(self, scale: int) -> int | str | None:
        """A decimal in its steps; as digits where an integer of 64 bits is too short for them."""
        if not isinstance(self.value, (int, Fraction)):
            return None
        steps = int(self.value * 10**scale)
        return steps if -_WORD < steps < _WORD else str(steps)

    @classmethod
    def of(cls, value: Value | None) -> Constant:
        """The constant with the type that its value has."""
        kind = _type_of(value)
        if not isinstance(value, (int, Fraction)):
            return cls(kind, UNKNOWN, value is None, value)
        number = Fraction(float(value)) if kind is ColumnType.REAL else Fraction(value)  # as the engine reads it
        return cls(kind, Interval(number, number) if kind.is_numeric else UNKNOWN, False, value)


@dataclass(frozen=True)
class Call(Expression):
    """A function from the fixed list, written from its template."""

    template: str
    """Text with {0}, {1}, … where the arguments go; it cannot raise, whatever they are."""
    arguments: tuple[Expression, ...]
    grain: str | None = None
    """For dates and timestamps: the unit of time whose starts are the only values, so that they can be counted."""
    work: int = 0
    """What it does with each letter of a text, in the units of `Work`."""

    def write(self, statement: Statement) -> str:
        """The template with its arguments written in."""
        written = [argument.write(statement) for argument in self.arguments]
        text = "(" + self.template.format(*written) + ")"
        statement.work.add(self.work, max(len(text) - len(self.template) - sum(map(len, written)), 0))
        return text


def collect_fields(expression: Expression) -> Iterator[Field]:
    """The fields that an expression reads."""
    if isinstance(expression, Field):
        yield expression
    elif isinstance(expression, Call):
        for argument in expression.arguments:
            yield from collect_fields(argument)


def get_rows_per_key(expression: Expression) -> int | None:
    """How many rows of a unit count in one group by an expression: the least that is stated of a column it reads."""
    stated = [field.rows_per_key for field in collect_fields(expression) if field.rows_per_key is not None]
    return min(stated, default=None)


def lists_missing(expression: Expression) -> bool:
    """Whether what is missing is a group: it is listed, an outer join brings it, or it is made of what is there."""
    if isinstance(expression, Field):
        return expression.nullable and (expression.lists_missing or expression.may_be_absent)
    if isinstance(expression, Call):
        parts = expression.arguments
        is_made = not any(part.nullable for part in parts)
        return expression.nullable and (is_made or any(lists_missing(part) for part in parts))
    return expression.nullable


def name_expression(expression: Expression, name: str) -> Field:
    """The field that shows an expression under a name, with all that is public about it."""
    if isinstance(expression, Field):
        return replace(expression, name=name, root=expression.root or expression.name)
    computed = expression if _size(expression, _LONGEST_COMPUTED) <= _LONGEST_COMPUTED else None
    made = Field(expression.type, expression.interval, expression.nullable, name, computed=computed)
    made = replace(made, pieces=list_pieces(expression), lists_missing=lists_missing(expression))
    return replace(made, rows_per_key=get_rows_per_key(expression))


def canonical(expression: Expression) -> Expression:
    """The one spelling of values that are equal, for wherever they are grouped, compared, hashed, ordered or shown.

    0.0 and -0.0 are equal, and so are all NaN: without this, whichever row comes first would say which one is shown.
    Stored reals have one zero and no NaN already. Texts are compared letter by letter on every engine, and integers,
    decimals (which are integers of steps), dates, timestamps and truth values have one spelling.
    """
    if expression.type is not ColumnType.REAL or is_stored(expression) or _is_canonical(expression):
        return expression
    return Call(ColumnType.REAL, expression.interval, expression.nullable, _CANONICAL, (expression,))


def is_stored(expression: Expression) -> bool:
    """Whether it shows a column of a table: such a real is finite and no -0.0, such a date of the years 1 to 9999."""
    return isinstance(expression, Field) and (expression.column is not None or expression.origin is not None)


def _is_canonical(expression: Expression) -> bool:
    return isinstance(expression, Call) and expression.template == _CANONICAL


def _size(expression: Expression, most: int) -> int:
    """How many parts an expression has, with those of the fields it reads; counted no further than ``most``."""
    parts = expression.arguments if isinstance(expression, Call) else ()
    if isinstance(expression, Field) and expression.computed is not None:
        parts = (expression.computed,)
    size = 1
    for part in parts:
        if size > most:
            break
        size += _size(part, most - size)
    return size


def list_pieces(expression: Expression) -> int:
    """How many texts an expression joins, at most: a text grows in no other way. Long ones of the query are several."""
    if isinstance(expression, Field):
        return expression.pieces
    if isinstance(expression, Constant) and isinstance(expression.value, str):
        return 1 + len(expression.value) // LETTERS_IN_A_PIECE
    if isinstance(expression, Call) and expression.arguments:
        pieces = [list_pieces(argument) for argument in expression.arguments]
        return sum(pieces) if "||" in expression.template else max(pieces)
    return 1


def type_name(kind: Type) -> str:
    """The engine's name of a type."""
    return _STEPS if isinstance(kind, DecimalType) else DUCKDB_TYPES[kind]


def _type_of(value: Value | None) -> ColumnType:
    if isinstance(value, bool):
        return ColumnType.BOOLEAN
    if isinstance(value, int):
        return ColumnType.INTEGER
    if isinstance(value, Fraction):
        return ColumnType.REAL
    if isinstance(value, datetime):
        return ColumnType.TIMESTAMP
    if isinstance(value, date):
        return ColumnType.DATE
    return ColumnType.TEXT
