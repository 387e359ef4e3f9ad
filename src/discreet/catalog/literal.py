"""Literals: the values an owner states about a column, by type, from Python and from text.

Numbers are exact. A timestamp is kept in UTC without a zone: one that names a zone is moved to UTC, one that names
none is taken to be UTC already.

>>> parsed(ColumnType.REAL, "0.1", "lower")
Fraction(1, 10)
>>> parsed(ColumnType.TIMESTAMP, "2024-03-01T01:30+01:00", "lower")
datetime.datetime(2024, 3, 1, 0, 30)
>>> written(Fraction(1, 3)), written(Fraction(1, 10**6)), written(Fraction(5, 2))
('1/3', '1e-6', '2.5')
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, TypeVar

from discreet.catalog.names import checked_text
from discreet.catalog.suggestion import suggestion
from discreet.errors import InvalidType, InvalidValue
from discreet.exact.rational import rational

__all__ = ["ColumnType", "Value", "checked", "flag", "number_text", "parsed", "whole", "written"]

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
        return self.is_numeric or self in (ColumnType.DATE, ColumnType.TIMESTAMP)


def _near(value: object, known: list[str]) -> str:
    hint = suggestion(str(value), known)
    return hint if hint.startswith("did") else ""


def checked(kind: ColumnType, value: Any, name: str) -> Value:
    """``value`` as a literal of this type, or a refusal."""
    return _CHECKS[kind](value, name)


def parsed(kind: ColumnType, text: str, name: str) -> Value:
    """The literal of this type that ``text`` spells, or a refusal that shows the text."""
    return _PARSERS[kind](text, name)


def written(value: Value) -> str:
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
    return checked_text(value, name)


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
