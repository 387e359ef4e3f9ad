"""Columns of Spark's tables as declared types, by casts that no row can make fail.

The rules are those of `discreet.engines.casts`. Text that stands for a number, a date or a moment is taken in the forms
that everybody reads alike: 12, 12.0, -1.5e3, 2024-12-31, 2024-12-31 23:59:59.5+01:00. Any other is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from discreet.catalog.column import ColumnType
from discreet.engines.spark.dates import date_text, timestamp_text

__all__ = ["column_cast", "lie_within"]


_WORD = 2**63
_KINDS: Mapping[str, str] = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), "whole"),
    **dict.fromkeys(("float", "double"), "real"),
    **dict.fromkeys(("string", "varchar", "char"), "text"),
    "decimal": "decimal",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "moment",
    "timestamp_ntz": "moment",
}
_SPACE = "[ \\\\t\\\\n\\\\f\\\\r]*"
_DIGITS = "[0-9]+([.](0{0,2}|0{4,}))?|(0+|[0-9]{4,})[.]000"  # 12.000 is twelve thousand elsewhere
_WHOLE = f"{_SPACE}[+-]?({_DIGITS}){_SPACE}"
_REAL = f"{_SPACE}[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?{_SPACE}"
_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = "[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?"
_ZONE = "(Z|[+-][0-9]{2}(:[0-9]{2})?)?"
_NO = "'false', 'f', 'no', 'n', '0'"
_YES = "'true', 't', 'yes', 'y', '1'"


def column_cast(value: str, native: str, wanted: ColumnType) -> str | None:
    """An expression that casts ``value``, of Spark's type ``native``; None where the types have nothing in common."""
    kind = _KINDS.get(re.sub(r"[(\s].*", "", native.lower()))
    if kind == "text" and " collate " in native.lower():  # where a is taken for A, one row says how others are spelled
        value = f"({value} COLLATE UTF8_BINARY)"
    return None if kind is None else _RULES[wanted](value, kind)


def lie_within(value: str, native: str, wanted: ColumnType, spans: Sequence[tuple[datetime, datetime]]) -> str:
    """Whether ``value``, read as a date or timestamp, lies in one of these half-open intervals.

    A date or timestamp is compared as it is: within the calendar its cast changes no order, and a day begins at
    midnight, as the intervals do. What the cast leaves out lies in none of them.

    >>> lie_within("x", "date", ColumnType.TIMESTAMP, [(datetime(2026, 1, 1), datetime(2026, 2, 1))])
    "(x >= DATE '2026-01-01' AND x < DATE '2026-02-01')"
    """
    kind = native.upper()
    if kind not in ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ"):
        value, kind = str(column_cast(value, native, wanted)), wanted.value.upper()
    between = [f"({value} >= {_instant(first, kind)} AND {value} < {_instant(end, kind)})" for first, end in spans]
    return " OR ".join(between)


def _instant(moment: datetime, kind: str) -> str:
    return f"{kind} '{moment.date().isoformat() if kind == 'DATE' else moment.isoformat(' ')}'"


def _matches(value: str, pattern: str) -> str:
    return f"{value} RLIKE '\\\\A({pattern})\\\\z'"


def _integer(value: str, kind: str) -> str | None:
    match kind:
        case "whole" | "boolean":
            return f"CAST({value} AS BIGINT)"
        case "real":
            double = f"CAST({value} AS DOUBLE)"
            is_whole = f"{double} = rint({double}) AND {double} >= {-_WORD}D AND {double} < {_WORD}D"
            return f"(CASE WHEN {is_whole} THEN try_cast({double} AS BIGINT) END)"
        case "decimal":
            return f"(CASE WHEN {value} = floor({value}) THEN try_cast({value} AS BIGINT) END)"
        case "text":
            digits = f"try_cast(substring_index({value}, '.', 1) AS BIGINT)"
            return f"(CASE WHEN {_matches(value, _WHOLE)} THEN {digits} END)"
    return None


def _real(value: str, kind: str) -> str | None:
    if kind in ("date", "moment"):
        return None
    if kind == "text":
        value = f"(CASE WHEN {_matches(value, _REAL)} THEN {value} END)"
    double = f"try_cast({value} AS DOUBLE)"
    return f"(CASE WHEN abs({double}) < CAST('Infinity' AS DOUBLE) THEN {double} + 0D END)"


def _text(value: str, kind: str) -> str | None:
    match kind:
        case "text":
            return value
        case "whole" | "boolean":
            return f"CAST({value} AS STRING)"
        case "date":
            return date_text(value)
        case "moment":
            return timestamp_text(f"CAST({value} AS TIMESTAMP)")
    return None  # Java and DuckDB print other digits of a number


def _boolean(value: str, kind: str) -> str | None:
    match kind:
        case "boolean":
            return value
        case "whole" | "real" | "decimal":
            number = f"CAST({value} AS DOUBLE)"
            return f"(CASE WHEN {number} = 0D THEN FALSE WHEN {number} = 1D THEN TRUE END)"
        case "text":
            word = f"lower(trim({value}))"
            return f"(CASE WHEN {word} IN ({_NO}) THEN FALSE WHEN {word} IN ({_YES}) THEN TRUE END)"
    return None


def _date(value: str, kind: str) -> str | None:
    if kind == "text":
        value = f"(CASE WHEN {_matches(value, f'{_DAY}([ T]{_CLOCK})?')} THEN substring({value}, 1, 10) END)"
    elif kind not in ("date", "moment"):
        return None
    return _within_calendar(f"try_cast({value} AS DATE)", "DATE '0001-01-01'", "DATE '9999-12-31'")


def _timestamp(value: str, kind: str) -> str | None:
    if kind == "text":
        value = f"(CASE WHEN {_matches(value, f'{_DAY}([ T]{_CLOCK}{_ZONE})?')} THEN {value} END)"
    elif kind not in ("date", "moment"):
        return None
    first, last = "TIMESTAMP '0001-01-01 00:00:00'", "TIMESTAMP '9999-12-31 23:59:59.999999'"
    return _within_calendar(f"try_cast({value} AS TIMESTAMP)", first, last)


def _within_calendar(value: str, first: str, last: str) -> str:
    return f"(CASE WHEN {value} BETWEEN {first} AND {last} THEN {value} END)"


_RULES: dict[ColumnType, Callable[[str, str], str | None]] = {
    ColumnType.INTEGER: _integer,
    ColumnType.REAL: _real,
    ColumnType.TEXT: _text,
    ColumnType.BOOLEAN: _boolean,
    ColumnType.DATE: _date,
    ColumnType.TIMESTAMP: _timestamp,
}
