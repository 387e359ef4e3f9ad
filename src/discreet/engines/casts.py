"""Casts that cannot fail: a value that is not of the declared type becomes missing, whatever it is.

An error that depends on a row would tell something about the row, and one bad cell would keep a whole table out. The
rules are the same for every kind of source:

- an integer is a whole number within 64 bits; 5.0 is one, 5.5 is not (and is not rounded);
- a real number is a finite double; NaN and ±infinity are missing, −0 is 0;
- a truth value is true or false, also written t, f, yes, no, y, n, 1, 0; of numbers only 1 and 0;
- dates and timestamps lie in the years 1 to 9999; a timestamp with an offset or a zone is turned into UTC;
- text stays as it is, and every letter of it counts, whatever a source takes for the same.

>>> total_cast("x", "BOOLEAN", ColumnType.INTEGER)
'TRY_CAST(x AS BIGINT)'
>>> total_cast("x", "INTEGER[]", ColumnType.INTEGER) is None
True
"""

from __future__ import annotations

from collections.abc import Callable

from discreet.catalog.column import ColumnType
from discreet.catalog.draft import type_of

__all__ = ["DUCKDB_TYPES", "total_cast"]

DUCKDB_TYPES = {
    ColumnType.INTEGER: "BIGINT",
    ColumnType.REAL: "DOUBLE",
    ColumnType.TEXT: "VARCHAR",
    ColumnType.BOOLEAN: "BOOLEAN",
    ColumnType.DATE: "DATE",
    ColumnType.TIMESTAMP: "TIMESTAMP",
}
_WHOLE_NUMBER = r"\s*[+-]?[0-9]+(\.0*)?\s*"


def total_cast(value: str, native: str, wanted: ColumnType) -> str | None:
    """An expression that casts ``value``, of DuckDB's type ``native``; None where the types have nothing in common."""
    if native == '"NULL"':  # what DuckDB calls a column in which everything is missing
        return f"CAST(NULL AS {DUCKDB_TYPES[wanted]})"
    given = type_of(native)
    if given is None:
        return None
    if given is ColumnType.TEXT:
        # enumerations and UUIDs too; and where a column takes a for A, one row would say how others are spelled
        value = f'(CAST({value} AS VARCHAR) COLLATE "binary")'
    return _RULES[wanted](value, given)


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
    return _within_calendar(f"TRY_CAST({value} AS DATE)", "DATE '9999-12-31'")


def _timestamp(value: str, given: ColumnType) -> str | None:
    if given.is_numeric or given is ColumnType.BOOLEAN:
        return None
    instant = f"TRY_CAST({value} AS TIMESTAMP)"
    if given is ColumnType.TEXT:  # a cast of text to TIMESTAMP would drop the offset without a word
        instant = f"(TRY_CAST({value} AS TIMESTAMPTZ) AT TIME ZONE 'UTC')"
    return _within_calendar(instant, "TIMESTAMP '9999-12-31 23:59:59.999999'")


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
