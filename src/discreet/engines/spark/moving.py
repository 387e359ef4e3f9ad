"""Dates and timestamps some time later or earlier, counted in whole days and microseconds.

Spark raises where a date leaves its calendar, so the counting is done on numbers, which are attempted. DuckDB's
calendar ends a little earlier than 64 bits of microseconds do, and what lies outside it is missing. A date becomes a
timestamp when it is moved, so one that has no timestamps goes nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from discreet.engines.spark.ends_of_time import DAY, date_with_time, moment_within
from discreet.engines.translation.scope import Scope
from discreet.engines.translation.untranslatable import Untranslatable
from discreet.engines.translation.writer import Writer
from discreet.engines.translation.written import Kind, Written

__all__ = ["days", "is_span", "microseconds", "moment", "moved", "time_of_day", "timed"]

_MOST_MONTHS = 8_000_000
"""Further than from one end of the calendar to the other, and not far enough for Spark to raise."""
_MONTHS = {"to_months": 1, "to_years": 12}
_LENGTHS: Mapping[str, int] = {
    "to_days": DAY,
    "to_hours": 3_600_000_000,
    "to_minutes": 60_000_000,
    "to_seconds": 1_000_000,
}


def _bare(node: Any) -> Any:
    """Without what is around it: everything here is attempted anyway."""
    while isinstance(node, (exp.Paren, exp.Try)):
        node = node.this
    return node


def _function(node: Any) -> str:
    node = _bare(node)
    if isinstance(node, exp.Anonymous):
        return str(node.name).lower()
    return "to_days" if isinstance(node, exp.ToDays) else ""


def is_span(node: Any) -> bool:
    """Whether it is so many months, days or seconds."""
    return _function(node) in _MONTHS or _function(node) in _LENGTHS


def moved(writer: Writer, node: Any, scope: Scope) -> Written:
    """A sum or difference of a date or timestamp and a length of time."""
    given, span = writer.write(node.this, scope), _bare(node.expression)
    amount = writer.write(span.expressions[0] if isinstance(span, exp.Anonymous) else span.this, scope)
    if given.kind not in (Kind.DATE, Kind.TIMESTAMP) or amount.kind is not Kind.INTEGER:
        raise Untranslatable(f"the sum of {given.kind.value} and a length of time")
    function = _function(span)
    steps = f"try_subtract(0L, {amount.text})" if isinstance(node, exp.Sub) else amount.text
    if function in _MONTHS:
        return _by_months(given, f"try_multiply({steps}, {_MONTHS[function]}L)")
    if function == "to_days" and given.kind is Kind.DATE:
        return Written(date_with_time(f"try_add({days(timed(given))}, {steps})"), Kind.DATE)
    return Written(moment(f"try_add({microseconds(given)}, {_length(function, steps)})"), Kind.TIMESTAMP)


def _length(function: str, steps: str) -> str:
    """So many microseconds; DuckDB counts seconds as real numbers, which are rounded where they are enormous."""
    if function == "to_seconds":
        return f"try_cast(CAST({steps} AS DOUBLE) * {_LENGTHS[function]}D AS BIGINT)"
    return f"try_multiply({steps}, {_LENGTHS[function]}L)"


def _by_months(given: Written, months: str) -> Written:
    """The same day of another month, or the last one where that month is shorter."""
    # Both pass over what is missing, which becomes a number of months that leads out of the calendar.
    steps = f"CAST(least(greatest({months}, {-_MOST_MONTHS}L), {_MOST_MONTHS}L) AS INT)"
    there = f"CAST(unix_date(add_months({date_with_time(days(given))}, {steps})) AS BIGINT)"
    if given.kind is Kind.DATE:
        return Written(date_with_time(there), Kind.DATE)
    return Written(moment(f"try_add(try_multiply({there}, {DAY}L), {time_of_day(given)})"), Kind.TIMESTAMP)


def days(given: Written) -> str:
    """The day of a date or timestamp, counted from 1970."""
    return f"CAST(unix_date(CAST({given.text} AS DATE)) AS BIGINT)"


def timed(given: Written) -> Written:
    """A date that has timestamps, or a timestamp; else nothing."""
    return given if given.kind is Kind.TIMESTAMP else Written(date_with_time(days(given)), Kind.DATE)


def microseconds(given: Written) -> str:
    """A timestamp, or the start of a date, counted from 1970."""
    return f"unix_micros({given.text})" if given.kind is Kind.TIMESTAMP else f"try_multiply({days(given)}, {DAY}L)"


def time_of_day(given: Written) -> str:
    """The microseconds since midnight."""
    return f"pmod({microseconds(given)}, {DAY}L)"


def moment(number: str) -> str:
    """The timestamp of so many microseconds since 1970, where there is one."""
    return f"timestamp_micros({moment_within(number)})"
