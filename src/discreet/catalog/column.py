"""Columns: a type, and the public facts an owner states about the values, never read from the data.

Bounds make a sum possible: values outside are moved to the nearest bound. Keys make a group public: every listed key
appears in an answer, also the empty ones. What is not stated is unknown, and what needs it is refused.

>>> Column("age", ColumnType.INTEGER, lower=0, upper=110).bounds
(0, 110)

Literals: the values an owner states about a column, by type, from Python and from text.

Numbers are exact. A timestamp is kept in UTC without a zone: one that names a zone is moved to UTC, one that names
none is taken to be UTC already.

>>> parse_literal(ColumnType.REAL, "0.1", "lower")
Fraction(1, 10)
>>> parse_literal(ColumnType.TIMESTAMP, "2024-03-01T01:30+01:00", "lower")
datetime.datetime(2024, 3, 1, 0, 30)
>>> write_literal(Fraction(1, 3)), write_literal(Fraction(1, 10**6)), write_literal(Fraction(5, 2))
('1/3', '1e-6', '2.5')
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, TypeVar

from discreet.catalog.names import check_name, check_text, suggestion
from discreet.catalog.problems import Complaints
from discreet.errors import InvalidType, InvalidValue
from discreet.exact.rational import rational

__all__ = [
    "Column",
    "ColumnType",
    "Value",
    "check_literal",
    "flag",
    "number_text",
    "parse_literal",
    "whole",
    "write_literal",
]


Stated = TypeVar("Stated")

Value = int | Fraction | str | bool | date | datetime
"""A literal value of a column; numbers are exact."""


class ColumnType(Enum):
    """What the values of a column are."""

    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"

    @classmethod
    def of(cls, value: ColumnType | str) -> ColumnType:
        """The type with this name."""
        try:
            return cls(value)
        except ValueError:
            known = [kind.value for kind in cls]
            raise InvalidValue(f"type must be one of {', '.join(known)}", value, _near(value, known)) from None

    @property
    def is_numeric(self) -> bool:
        """Whether values can be added up."""
        return self in (ColumnType.INTEGER, ColumnType.REAL)

    @property
    def is_ordered(self) -> bool:
        """Whether values can have bounds."""
        return self.is_numeric or self.is_temporal

    @property
    def is_temporal(self) -> bool:
        """Whether values are days or moments."""
        return self in (ColumnType.DATE, ColumnType.TIMESTAMP)


def _near(value: object, known: list[str]) -> str:
    hint = suggestion(str(value), known)
    return hint if hint.startswith("did") else ""


def check_literal(kind: ColumnType, value: Any, name: str) -> Value:
    """``value`` as a literal of this type, or a refusal."""
    return _CHECKS[kind](value, name)


def parse_literal(kind: ColumnType, text: str, name: str) -> Value:
    """The literal of this type that ``text`` spells, or a refusal that shows the text."""
    return _PARSERS[kind](text, name)


def write_literal(value: Value) -> str:
    """The text that reads back as the same value of the same type."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat() + "Z"
    if isinstance(value, date):
        return value.isoformat()
    return number_text(value) if isinstance(value, Fraction) else str(value)


# Integers ---------------------------------------------------------------------------------------------------------

_LARGEST_INTEGER = 2**63 - 1  # and its negative, so that a sign can always be turned


def _integer(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, Fraction)) or value != int(value):
        raise InvalidType(f"{name} must be an integer", value)
    number = int(value)
    if abs(number) > _LARGEST_INTEGER:
        raise InvalidValue(f"{name} must lie between -2^63 and 2^63", value)
    return number


def whole(text: str, name: str) -> int:
    """The integer that ``text`` spells; 1e3 is one, 2.5 is not."""
    return int(_shown_as(text, _integer, rational(text, name), name))


# Reals ------------------------------------------------------------------------------------------------------------

_LARGEST_REAL = Fraction(sys.float_info.max)


def _real(value: Any, name: str) -> Fraction:
    if isinstance(value, (bool, str)) or not isinstance(value, (int, float, Fraction, Decimal)):
        raise InvalidType(f"{name} must be a number", value)
    number = rational(value, name)
    if abs(number) > _LARGEST_REAL:
        raise InvalidValue(f"{name} must be a number that a column of reals can hold", "<beyond 1.8e308>")
    return number


def _real_text(text: str, name: str) -> Fraction:
    return _shown_as(text, _real, rational(text, name), name)


_LONGEST_NUMBER = 1000  # what `rational` reads


def number_text(number: Fraction) -> str:
    """The number as an exact decimal where it has one, else as a fraction."""
    rest, twos = _without(number.denominator, 2)
    rest, fives = _without(rest, 5)
    if number.denominator.bit_length() + number.numerator.bit_length() > 4 * _LONGEST_NUMBER:
        raise InvalidValue("a number in a policy must have at most 1000 digits", "<a longer one>")
    text = f"{number.numerator}/{number.denominator}" if rest > 1 else _decimal(number, max(twos, fives))
    if len(text) > _LONGEST_NUMBER:
        raise InvalidValue("a number in a policy must have at most 1000 digits", text)
    return text


def _without(number: int, factor: int) -> tuple[int, int]:
    times = 0
    while number % factor == 0:
        number, times = number // factor, times + 1
    return number, times


def _decimal(number: Fraction, places: int) -> str:
    figures = str(abs(number.numerator) * 10**places // number.denominator)
    short = figures.rstrip("0") or "0"
    sign, exponent = "-" if number < 0 else "", len(figures) - len(short) - places
    if number == 0 or 0 <= exponent <= 6:
        return sign + short + "0" * (exponent if number else 0)
    if exponent < 0 and -exponent <= len(short) + 3:
        padded = short.rjust(1 - exponent, "0")
        return f"{sign}{padded[:exponent]}.{padded[exponent:]}"
    return f"{sign}{short}e{exponent}"


# Text and booleans ------------------------------------------------------------------------------------------------

_FLAGS = {"true": True, "false": False}


def _text(value: Any, name: str) -> str:
    return check_text(value, name)


def _boolean(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidType(f"{name} must be true or false", value)
    return value


def flag(text: str, name: str) -> bool:
    """The truth value that ``text`` spells."""
    if text.lower() not in _FLAGS:
        raise InvalidValue(f"{name} must be true or false", text)
    return _FLAGS[text.lower()]


# Dates and timestamps ---------------------------------------------------------------------------------------------

_DATE_FORM = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIMESTAMP_FORM = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:?\d{2})?)?", re.ASCII)


def _date(value: Any, name: str) -> date:
    if isinstance(value, datetime) or not isinstance(value, date):
        raise InvalidType(f"{name} must be a date", value)
    return value


def _date_text(text: str, name: str) -> date:
    remedy = "write 2024-12-31, for example"
    if not _DATE_FORM.fullmatch(text):
        raise InvalidValue(f"{name} must be a date", text, remedy)
    return _from_iso(date.fromisoformat, text, f"{name} must be a date of the calendar", remedy)


def _timestamp(value: Any, name: str) -> datetime:
    if not isinstance(value, datetime):
        raise InvalidType(f"{name} must be a timestamp", value)
    if value.tzinfo is None:
        return value.replace(fold=0)
    try:
        return value.astimezone(UTC).replace(tzinfo=None, fold=0)
    except OverflowError:
        raise InvalidValue(f"{name} must lie between the years 1 and 9999 in UTC", value) from None


def _timestamp_text(text: str, name: str) -> datetime:
    remedy = "write 2024-12-31T23:59:59Z, for example"
    if not _TIMESTAMP_FORM.fullmatch(text):
        raise InvalidValue(f"{name} must be a timestamp", text, remedy)
    stated = _from_iso(datetime.fromisoformat, text, f"{name} must be a timestamp of the calendar", remedy)
    return _shown_as(text, _timestamp, stated, name)


def _from_iso(read: Callable[[str], Stated], text: str, rule: str, remedy: str) -> Stated:
    try:
        return read(text)
    except ValueError:
        raise InvalidValue(rule, text, remedy) from None


def _shown_as(text: str, check: Callable[[Any, str], Stated], value: Any, name: str) -> Stated:
    """What ``check`` says of the value; a refusal shows the text that the owner wrote."""
    try:
        return check(value, name)
    except (InvalidType, InvalidValue) as refused:
        raise InvalidValue(refused.rule, text, refused.remedy) from None


_CHECKS: dict[ColumnType, Callable[[Any, str], Value]] = {
    ColumnType.INTEGER: _integer,
    ColumnType.REAL: _real,
    ColumnType.TEXT: _text,
    ColumnType.BOOLEAN: _boolean,
    ColumnType.DATE: _date,
    ColumnType.TIMESTAMP: _timestamp,
}
_PARSERS: dict[ColumnType, Callable[[str, str], Value]] = {
    ColumnType.INTEGER: whole,
    ColumnType.REAL: _real_text,
    ColumnType.TEXT: _text,
    ColumnType.BOOLEAN: flag,
    ColumnType.DATE: _date_text,
    ColumnType.TIMESTAMP: _timestamp_text,
}


Bounds = tuple[Value, Value]


@dataclass(frozen=True)
class Column:
    """One column and what is public about it."""

    name: str
    """As written in SQL; matched without regard to case."""
    type: ColumnType
    """What its values are."""
    lower: Value | None = None
    """The least value that counts; smaller ones are moved to it."""
    upper: Value | None = None
    """The greatest value that counts; greater ones are moved to it."""
    keys: tuple[Value | None, ...] | None = None
    """Every value that may appear as a group, when that list is public; null among them lists what is missing."""
    keys_from: str | None = None
    """The column of a public table, such as ``icd10.code``, whose values are the keys: for lists that are long."""
    nullable: bool | None = None
    """Whether values may be missing. True lists what is missing as a group; not stated, it is in no group unless
    ``keys`` lists it. That none are missing is checked when rows are taken in, and believed of no others."""
    default: Value | None = None
    """What stands in for a missing value; None leaves it missing."""
    constant_per_unit: bool = False
    """Whether all rows of a unit hold the same value; verified when data is taken in."""
    rows_per_key: int | None = None
    """How many rows of a unit with one value count in full, where questions group by it; None for all that count."""
    description: str = ""
    """A sentence for analysts."""

    def __post_init__(self) -> None:
        found = Complaints()
        found.checked(("name",), check_name, self.name, "a column's name")
        found.checked(("description",), check_text, self.description, f"{self.name}: description")
        kind = found.checked(("type",), ColumnType.of, self.type)
        self._check_flags(found)
        if kind is not None:
            self._set("type", kind)
            bounds = self._check_bounds(found)
            self._check_keys(found, bounds)
            self._check_default(found, bounds)
        found.refuse_any()

    @property
    def bounds(self) -> Bounds | None:
        """Lower and upper bound, where the owner stated them."""
        return None if self.lower is None or self.upper is None else (self.lower, self.upper)

    @property
    def key_table(self) -> tuple[str, str] | None:
        """The public table and its column that list the keys."""
        if self.keys_from is None:
            return None
        table, _, column = self.keys_from.rpartition(".")
        return table, column

    @property
    def may_be_missing(self) -> bool:
        """Whether values may be missing: unless the policy says that none are."""
        return self.nullable is not False

    @property
    def lists_missing(self) -> bool:
        """Whether rows without a value are a group of their own."""
        return self.nullable is True or (self.keys is not None and None in self.keys)

    @property
    def listed(self) -> tuple[Value, ...] | None:
        """Every value that may appear as a group, without what is missing."""
        return None if self.keys is None else tuple(key for key in self.keys if key is not None)

    def _set(self, field: str, value: object) -> None:
        object.__setattr__(self, field, value)

    def _literal(self, found: Complaints, path: tuple[str | int, ...], value: object) -> Value | None:
        return found.checked(path, check_literal, self.type, value, f"{self.name}: {path[0]}")

    def _check_flags(self, found: Complaints) -> None:
        for field in ("nullable", "constant_per_unit"):
            stated = getattr(self, field)
            if not isinstance(stated, bool) and (field != "nullable" or stated is not None):
                found.say((field,), f"{self.name}: {field} must be true or false", stated)
        rows: object = self.rows_per_key
        if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int) or rows < 1):
            found.say(("rows_per_key",), f"{self.name}: rows_per_key must be a whole number from 1", rows)

    def _check_bounds(self, found: Complaints) -> Bounds | None:
        stated = [field for field in ("lower", "upper") if getattr(self, field) is not None]
        if stated and not self.type.is_ordered:
            rule = f"{self.name}: only numbers, dates and timestamps have bounds"
            found.say((stated[0],), rule, f"<a column of type {self.type.value}>", "list its keys instead")
        elif len(stated) == 1:
            found.say((stated[0],), f"{self.name}: bounds must be a pair", f"<{stated[0]} alone>", "add the other")
        elif stated:
            return self._check_pair(found)
        return None

    def _check_pair(self, found: Complaints) -> Bounds | None:
        low, high = (self._literal(found, (field,), getattr(self, field)) for field in ("lower", "upper"))
        if low is None or high is None:
            return None
        self._set("lower", low)
        self._set("upper", high)
        # One day is what a question about one day reads; a number between equal ends would be none.
        is_day = self.type.is_temporal and low == high
        if is_day or low < high:  # type: ignore[operator]  # both are of the column's own ordered type
            return low, high
        found.say(("lower",), f"{self.name}: lower must be below upper", f"<{self.lower} and {self.upper}>")
        return None

    def _check_keys_from(self, found: Complaints) -> None:
        stated: object = self.keys_from
        if stated is None:
            return
        if not isinstance(stated, str) or not all(stated.rpartition(".")[::2]):
            rule = f"{self.name}: keys_from must name a public table and its column"
            found.say(("keys_from",), rule, stated, "write keys_from: icd10.code")
        elif self.keys is not None:
            found.say(("keys_from",), f"{self.name}: keys are listed once", stated, "drop keys or keys_from")

    def _check_keys(self, found: Complaints, bounds: Bounds | None) -> None:
        self._check_keys_from(found)
        if self.keys is None:
            return
        given: Any = self.keys
        if not isinstance(given, (list, tuple)) or all(key is None for key in given):
            found.say(("keys",), f"{self.name}: keys must be a list of at least one value", given)
        else:
            literals = [
                key if key is None else self._literal(found, ("keys", place), key) for place, key in enumerate(given)
            ]
            self._check_missing_key(found, list(given))
            self._check_each_key(found, literals, bounds)
            self._set("keys", tuple(literals))

    def _check_missing_key(self, found: Complaints, given: list[object]) -> None:
        places = [place for place, key in enumerate(given) if key is None]
        if len(places) > 1:
            found.say(("keys", places[1]), f"{self.name}: keys must differ", "<null twice>", "list it once")
        if places and (self.nullable is False or self.default is not None):
            rule = f"{self.name}: keys list null only where values may be missing"
            found.say(("keys", places[0]), rule, "<null>", "drop it, or nullable: false and the default")

    def _check_each_key(self, found: Complaints, keys: list[Value | None], bounds: Bounds | None) -> None:
        seen: set[Value] = set()
        for place, key in enumerate(keys):
            if key is None:
                continue
            if key in seen:
                found.say(("keys", place), f"{self.name}: keys must differ", key, "list it once")
            if _is_outside(key, bounds):
                found.say(("keys", place), f"{self.name}: keys must lie within the bounds", key)
            seen.add(key)

    def _check_default(self, found: Complaints, bounds: Bounds | None) -> None:
        if self.default is None:
            return
        default = self._literal(found, ("default",), self.default)
        if default is None:
            return
        self._set("default", default)
        if not self.may_be_missing:
            rule = f"{self.name}: only a column that may miss values has a default"
            found.say(("default",), rule, default, "say nullable: true or drop the default")
        if _is_outside(default, bounds):
            found.say(("default",), f"{self.name}: default must lie within the bounds", default)
        if self.keys is not None and default not in self.keys:
            found.say(("default",), f"{self.name}: default must be one of the keys", default)


def _is_outside(value: Value, bounds: Bounds | None) -> bool:
    return bounds is not None and not bounds[0] <= value <= bounds[1]  # type: ignore[operator]  # one ordered type
