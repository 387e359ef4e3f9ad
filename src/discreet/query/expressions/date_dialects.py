"""How dates are spelled: the parser's nodes of several dialects, read as the few things that can be done with dates."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from discreet.catalog.column import ColumnType
from discreet.query.expressions.dates import (
    as_date,
    date_part,
    difference,
    format_date,
    last_day,
    made_date,
    name_date,
    shift_date,
    to_date,
    truncate_date,
)
from discreet.query.expressions.expression import Constant, Expression
from discreet.query.expressions.types import as_type
from discreet.query.parse.alternatives import INSTEAD
from discreet.query.parse.dialect import unit_named
from discreet.query.parse.places import refuse

__all__ = ["CLOCKS", "DATE_SPELLINGS", "is_interval", "move_by_interval"]


Read = Callable[[exp.Expr], Expression]
Spelling = tuple[Callable[[exp.Expr, Read], Expression], tuple[str, ...]]

_DATED = (ColumnType.DATE, ColumnType.TIMESTAMP)
_PIECES = re.compile(r"\s*([+-]?\d{1,9})\s*([A-Za-z]+)\s*")
_NUMBER = re.compile(r"[+-]?\d{1,9}")
_WRITE = "write INTERVAL 30 DAY"


def is_interval(node: exp.Expr | None) -> bool:
    """Whether it is a length of time, such as INTERVAL 30 DAY."""
    return isinstance(node, exp.Interval) or (isinstance(node, exp.Paren) and is_interval(node.this))


def move_by_interval(node: exp.Expr, read: Read) -> Expression:
    """A sum or difference of a date and a length of time."""
    first, second = node.this, node.args["expression"]
    if is_interval(first) and (is_interval(second) or isinstance(node, exp.Sub)):
        raise refuse(node, "a length of time is added to a date", "write day + INTERVAL 30 DAY")
    base, length = (second, first) if is_interval(first) else (first, second)
    return _shift(node, read(base), length.unnest(), read, backwards=isinstance(node, exp.Sub))


def _shift(node: exp.Expr, base: Expression, length: exp.Expr, read: Read, *, backwards: bool) -> Expression:
    for amount, unit in _pieces(length, read):
        base = shift_date(node, base, amount, unit_named(unit), backwards=backwards)
    return base


def _pieces(length: exp.Expr, read: Read) -> list[tuple[Expression, str]]:
    """The numbers and units that a length of time is made of."""
    amount, unit = length.this, length.args.get("unit")
    if amount is None or isinstance(unit, exp.IntervalSpan):
        raise refuse(length, "a length of time is a number and a unit", _WRITE)
    if unit is not None:
        return [(_amount(amount, read), str(unit.name))]
    text = str(amount.name) if isinstance(amount, exp.Literal) and amount.is_string else ""
    found = _PIECES.findall(text)
    if not found or _PIECES.sub("", text):
        raise refuse(length, "a length of time is a number and a unit", _WRITE)
    return [(Constant.of(int(number)), word) for number, word in found]


def _amount(node: exp.Expr, read: Read) -> Expression:
    """A number; dialects keep the one of INTERVAL '3' DAY as text."""
    if isinstance(node, exp.Literal) and node.is_string:
        if not _NUMBER.fullmatch(str(node.this).strip()):
            raise refuse(node, "a length of time is a whole number of units", _WRITE)
        return Constant.of(int(str(node.this)))
    return read(node)


def _unit(node: exp.Expr, otherwise: str) -> str | None:
    unit = node.args.get("unit")
    return otherwise if unit is None else unit_named(str(unit.name))


def _add(node: exp.Expr, read: Read) -> Expression:
    backwards = isinstance(node, (exp.DateSub, exp.DatetimeSub, exp.TimestampSub))
    length = node.args["expression"]
    if isinstance(length, exp.Interval):
        return _shift(node, read(node.this), length, read, backwards=backwards)
    unit = "month" if isinstance(node, exp.AddMonths) else _unit(node, "day")
    return shift_date(node, read(node.this), _amount(length, read), unit, backwards=backwards)


def _truncate(node: exp.Expr, read: Read) -> Expression:
    return truncate_date(node, _unit(node, ""), read(node.this))


def _difference(node: exp.Expr, read: Read) -> Expression:
    later, earlier = read(node.this), read(node.args["expression"])
    return difference(node, _unit(node, "day"), later, earlier, elapsed=isinstance(node, exp.TimestampDiff))


def _extract(node: exp.Expr, read: Read) -> Expression:
    part, inner = str(node.this.name).lower(), node.args["expression"].unnest()
    if part == "epoch" and isinstance(inner, exp.Sub):
        sides = [read(side) for side in (inner.this, inner.args["expression"])]
        if all(side.type in _DATED for side in sides):
            return difference(node, "second", *sides)
    return date_part(node, part, read(inner))


def _part(name: str) -> Spelling:
    return (lambda node, read: date_part(node, name, read(node.this))), ("this",)


def _named(function: str) -> Spelling:
    return (lambda node, read: name_date(node, function, read(node.this))), ("this",)


def _day(node: exp.Expr, read: Read) -> Expression:
    given = read(node.this)
    is_text = given.type is ColumnType.TEXT and not isinstance(given, Constant)
    return as_type(given, ColumnType.DATE) if is_text else as_date(to_date(node, given))


def _as_it_is(node: exp.Expr, read: Read) -> Expression:
    return to_date(node, read(node.this))


def _clock(node: exp.Expr, read: Read) -> Expression:
    raise refuse(node, INSTEAD["NOW"].rule, INSTEAD["NOW"].remedy)


def _zone(node: exp.Expr, read: Read) -> Expression:
    raise refuse(node, "timestamps have no time zone here", "they are in UTC: add INTERVAL 2 HOUR instead")


CLOCKS = (exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentDatetime, exp.CurrentTime)
"""What asks the clock."""
_ADDED: Spelling = (_add, ("this", "expression", "unit"))
_TRUNCATED: Spelling = (_truncate, ("this", "unit", "unabbreviate", "input_type_preserved"))
_DIFFERENCE: Spelling = (_difference, ("this", "expression", "unit"))

DATE_SPELLINGS: dict[type[exp.Expr], Spelling] = {
    **dict.fromkeys((exp.DateAdd, exp.DatetimeAdd, exp.TimestampAdd, exp.TsOrDsAdd, exp.AddMonths), _ADDED),
    **dict.fromkeys((exp.DateSub, exp.DatetimeSub, exp.TimestampSub), _ADDED),
    **dict.fromkeys((exp.DateTrunc, exp.DatetimeTrunc, exp.TimestampTrunc), _TRUNCATED),
    **dict.fromkeys((exp.DateDiff, exp.DatetimeDiff, exp.TimestampDiff), _DIFFERENCE),
    **dict.fromkeys(CLOCKS, (_clock, ("this", "sysdate"))),
    exp.Extract: (_extract, ("this", "expression")),
    exp.Year: _part("year"),
    exp.Quarter: _part("quarter"),
    exp.Month: _part("month"),
    exp.Week: _part("week"),
    exp.WeekOfYear: _part("week"),
    exp.Day: _part("day"),
    exp.DayOfMonth: _part("day"),
    exp.DayOfWeek: _part("dayofweek"),
    exp.DayOfWeekIso: _part("isodow"),
    exp.DayOfYear: _part("dayofyear"),
    exp.Hour: _part("hour"),
    exp.Minute: _part("minute"),
    exp.Second: _part("second"),
    exp.TimeToUnix: _part("epoch"),
    exp.Dayname: _named("dayname"),
    exp.Monthname: _named("monthname"),
    exp.Date: (_day, ("this",)),
    exp.TsOrDsToDate: (_day, ("this", "default_date")),
    exp.TimeStrToTime: (_as_it_is, ("this",)),
    exp.AtTimeZone: (_zone, ("this", "zone")),
    exp.LastDay: ((lambda node, read: last_day(node, read(node.this))), ("this",)),
    exp.DateFromParts: (
        (lambda node, read: made_date(node, [read(node.args[part]) for part in ("year", "month", "day")])),
        ("year", "month", "day"),
    ),
    exp.TimeToStr: (
        (lambda node, read: format_date(node, read(node.args["format"]), read(node.this))),
        ("this", "format"),
    ),
}
"""Nodes about dates, how each is read, and the words of each that are understood."""
