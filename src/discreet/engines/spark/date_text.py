"""Dates as text, piece by piece, as DuckDB writes them: Spark's own formats differ before the year 1 and after 9999."""

from __future__ import annotations

import re

from discreet.engines.spark.ends_of_time import date_with_week
from discreet.engines.translation.untranslatable import Untranslatable
from discreet.engines.translation.written import Kind, Written

__all__ = ["DAYS", "MONTHS", "date_text", "formatted", "in_a_week", "named", "timestamp_text"]

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")  # fmt: skip
_MARKS = re.compile(r"%(-?.)|([^%]+)", re.DOTALL)


def named(names: tuple[str, ...], place: str) -> str:
    """The name at a place, counted from 1."""
    return f"elt({place}, {', '.join(repr(name) for name in names)})"


def _padded(number: str, digits: int = 2) -> str:
    return f"lpad(CAST({number} AS STRING), {digits}, '0')"


def _long(year: str) -> str:
    """Four digits, or as many as it takes; `lpad` would cut a longer one short."""
    return f"(CASE WHEN {year} BETWEEN 0 AND 9999 THEN {_padded(year, 4)} ELSE CAST({year} AS STRING) END)"


def date_text(date: str) -> str:
    """A date as text; the year 0 is 1 before Christ, which is said behind the day."""
    year = f"(CASE WHEN year({date}) > 0 THEN year({date}) ELSE 1 - year({date}) END)"
    era = f"CASE WHEN year({date}) > 0 THEN '' ELSE ' (BC)' END"
    return f"concat({_long(year)}, '-', {_padded(f'month({date})')}, '-', {_padded(f'day({date})')}, {era})"


def timestamp_text(moment: str) -> str:
    """A timestamp as text, without zeros at the end of the second's fraction."""
    date = f"CAST({moment} AS DATE)"
    return f"concat({date_text(date)}, ' ', substring_index(CAST({moment} AS STRING), ' ', -1))"


def in_a_week(given: Written) -> str:
    """A date or timestamp, where its week has a number."""
    return given.text if given.kind is Kind.TIMESTAMP else date_with_week(f"unix_date({given.text})")


def formatted(moment: Written, pattern: str, place: str) -> str:
    """A date or timestamp by a format of fixed parts; what stands between them is taken from its ``place``."""
    pieces = [
        _piece(moment, found[1]) if found[1] else f"substring({place}, {found.start() + 1}, {len(found[2])})"
        for found in _MARKS.finditer(pattern)
    ]
    return f"(CASE WHEN {moment.text} IS NOT NULL THEN concat({', '.join(pieces) or repr('')}) END)"


def _piece(moment: Written, mark: str) -> str:
    value, week = moment.text, in_a_week(moment)
    clock = {
        name: f"{name}({value})" if moment.kind is Kind.TIMESTAMP else "0" for name in ("hour", "minute", "second")
    }
    week_year, half = f"extract(YEAROFWEEK FROM {week})", f"(pmod({clock['hour']} + 11, 12) + 1)"
    numbers = {
        "y": f"pmod(abs(year({value})), 100)",
        "m": f"month({value})",
        "d": f"day({value})",
        "H": clock["hour"],
        "I": half,
        "M": clock["minute"],
        "S": clock["second"],
        "V": f"weekofyear({week})",
    }
    others = {
        "%": "'%'",
        "Y": _long(f"year({value})"),
        "G": _long(week_year),
        "j": _padded(f"dayofyear({value})", 3),
        "-j": f"CAST(dayofyear({value}) AS STRING)",
        "u": f"CAST(weekday({value}) + 1 AS STRING)",
        "w": f"CAST(dayofweek({value}) - 1 AS STRING)",
        "a": f"substring({named(DAYS, f'weekday({value}) + 1')}, 1, 3)",
        "A": named(DAYS, f"weekday({value}) + 1"),
        "b": f"substring({named(MONTHS, f'month({value})')}, 1, 3)",
        "B": named(MONTHS, f"month({value})"),
        "p": f"CASE WHEN {clock['hour']} < 12 THEN 'AM' ELSE 'PM' END",
    }
    if mark in numbers:
        return _padded(numbers[mark])
    if mark.startswith("-") and mark[1:] in numbers and mark != "-V":
        return f"CAST({numbers[mark[1:]]} AS STRING)"
    if mark not in others:
        raise Untranslatable(f"the format %{mark} of a date")
    return others[mark]
