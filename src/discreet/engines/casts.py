"""Casts that cannot fail: a value that is not of the declared type becomes missing, whatever it is.

An error that depends on a row would tell something about the row, and one bad cell would keep a whole table out. The
rules are the same for every kind of source:

- an integer is a whole number within 64 bits; 5.0 is one, 5.5 is not (and is not rounded), and of text neither is
  12.000, which is twelve in one country and twelve thousand in another;
- a real number is a finite double; NaN and ±infinity are missing, −0 is 0;
- a truth value is true or false, also written t, f, yes, no, y, n, 1, 0; of numbers only 1 and 0;
- dates and timestamps lie in the years 1 to 9999, of which text has four digits, so that 04-03-24 is none; a timestamp
  with an offset or a zone is turned into UTC;
- text stays as it is, and every letter of it counts, whatever a source takes for the same.

A policy may say how a CSV file spells numbers and dates. Then nothing else is read, and 12.000 is what it says.

>>> total_cast("x", "BOOLEAN", ColumnType.INTEGER)
'TRY_CAST(x AS BIGINT)'
>>> total_cast("x", "INTEGER[]", ColumnType.INTEGER) is None
True
"""

from __future__ import annotations

import re
from collections.abc import Callable

from discreet.catalog.column import ColumnType
from discreet.catalog.policy.csv_format import CSVFormat
from discreet.catalog.policy.write import find_type
from discreet.engines.parameters import DUCKDB_TYPES, quote_text

__all__ = ["total_cast"]


_LAST_DAY = "DATE '9999-12-31'"
_LAST_MOMENT = "TIMESTAMP '9999-12-31 23:59:59.999999'"
_WHOLE_NUMBER = r"\s*[+-]?([0-9]+(\.(0{0,2}|0{4,}))?|(0+|[0-9]{4,})\.000)\s*"
_FOUR_DIGITS = r"\s*[0-9]{4}[^0-9].*"
_ALIKE = {" ": " \u00a0\u202f", "'": "'\u2019"}
"""Letters that look like a space or an apostrophe, which spreadsheets put between thousands."""


def total_cast(value: str, native: str, wanted: ColumnType, spelled: CSVFormat | None = None) -> str | None:
    """An expression that casts ``value``, of DuckDB's type ``native``; None where the types have nothing in common.

    ``spelled`` says how text spells values, where a policy says so.
    """
    if native == '"NULL"':  # what DuckDB calls a column in which everything is missing
        return f"CAST(NULL AS {DUCKDB_TYPES[wanted]})"
    given = find_type(native)
    if given is None:
        return None
    if given is ColumnType.TEXT:
        # enumerations and UUIDs too; and where a column takes a for A, one row would say how others are spelled
        value = f'(CAST({value} AS VARCHAR) COLLATE "binary")'
        if spelled is not None and (stated := _stated(value, wanted, spelled)) is not None:
            return stated
    return _RULES[wanted](value, given)


def _stated(value: str, wanted: ColumnType, spelled: CSVFormat) -> str | None:
    """What a policy says about how such values are spelled; None where it says nothing about them."""
    if wanted.is_numeric and (spelled.decimal or spelled.thousands):
        if wanted is ColumnType.REAL:
            return _real(_plain_number(value, spelled, "[0-9]*)?([eE][+-]?[0-9]+"), ColumnType.TEXT)
        return f"TRY_CAST({_plain_number(value, spelled, '0*')} AS BIGINT)"
    if wanted is ColumnType.DATE and spelled.dates:
        return _within_calendar(f"CAST(try_strptime({value}, {quote_text(spelled.dates)}) AS DATE)", _LAST_DAY)
    if wanted is ColumnType.TIMESTAMP and spelled.timestamps:
        return _within_calendar(
            f"CAST(try_strptime({value}, {quote_text(spelled.timestamps)}) AS TIMESTAMP)", _LAST_MOMENT
        )
    return None


def _plain_number(value: str, spelled: CSVFormat, decimals: str) -> str:
    """A number as DuckDB spells it; nothing where thousands do not have three digits, or something else is in it."""
    decimal, thousands = spelled.decimal or ".", spelled.thousands
    between = re.escape(_ALIKE.get(thousands or "", thousands or ""))
    grouped = rf"[0-9]{{1,3}}([{between}][0-9]{{3}})+|" if thousands else ""
    pattern = rf"\s*[+-]?({grouped}[0-9]+)?([{decimal}]{decimals})?\s*"
    joined = f"regexp_replace({value}, {quote_text(f'[{between}]')}, '', 'g')" if thousands else value
    return f"CASE WHEN regexp_full_match({value}, {quote_text(pattern)}) THEN replace({joined}, '{decimal}', '.') END"


def _integer(value: str, given: ColumnType) -> str | None:
    cast = f"TRY_CAST({value} AS BIGINT)"
    match given:
        case ColumnType.INTEGER | ColumnType.BOOLEAN:
            return cast
        case ColumnType.REAL:
            return f"CASE WHEN {value} = trunc({value}) THEN {cast} END"
        case ColumnType.TEXT:
            return f"CASE WHEN regexp_full_match({value}, '{_WHOLE_NUMBER}') THEN {cast} END"
    return None


def _real(value: str, given: ColumnType) -> str | None:
    if given in (ColumnType.DATE, ColumnType.TIMESTAMP):
        return None
    double = f"TRY_CAST({value} AS DOUBLE)"
    return f"CASE WHEN isfinite({double}) THEN {double} + 0.0 END"


def _text(value: str, given: ColumnType) -> str:
    return value if given is ColumnType.TEXT else f"CAST({value} AS VARCHAR)"


def _boolean(value: str, given: ColumnType) -> str | None:
    match given:
        case ColumnType.BOOLEAN:
            return value
        case ColumnType.INTEGER | ColumnType.REAL:
            number = f"CAST({value} AS DOUBLE)"  # 1 itself has no place in a DECIMAL(38, 38)
            return f"CASE WHEN {number} = 0 THEN false WHEN {number} = 1 THEN true END"
        case ColumnType.TEXT:
            return f"TRY_CAST(trim({value}) AS BOOLEAN)"
    return None


def _date(value: str, given: ColumnType) -> str | None:
    if given.is_numeric or given is ColumnType.BOOLEAN:
        return None
    if given is ColumnType.TEXT:
        value = _with_whole_year(value)
    return _within_calendar(f"TRY_CAST({value} AS DATE)", _LAST_DAY)


def _timestamp(value: str, given: ColumnType) -> str | None:
    if given.is_numeric or given is ColumnType.BOOLEAN:
        return None
    instant = f"TRY_CAST({value} AS TIMESTAMP)"
    if given is ColumnType.TEXT:  # a cast of text to TIMESTAMP would drop the offset without a word
        instant = f"(TRY_CAST({_with_whole_year(value)} AS TIMESTAMPTZ) AT TIME ZONE 'UTC')"
    return _within_calendar(instant, _LAST_MOMENT)


def _with_whole_year(value: str) -> str:
    """DuckDB reads 04-03-24 as a day of the year 4, which nobody means."""
    return f"CASE WHEN regexp_full_match({value}, '{_FOUR_DIGITS}', 's') THEN {value} END"


def _within_calendar(value: str, last: str) -> str:
    return f"CASE WHEN {value} BETWEEN DATE '0001-01-01' AND {last} THEN {value} END"


_RULES: dict[ColumnType, Callable[[str, ColumnType], str | None]] = {
    ColumnType.INTEGER: _integer,
    ColumnType.REAL: _real,
    ColumnType.TEXT: _text,
    ColumnType.BOOLEAN: _boolean,
    ColumnType.DATE: _date,
    ColumnType.TIMESTAMP: _timestamp,
}
