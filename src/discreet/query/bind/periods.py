"""Which periods of a growing table a question reads, and what its conditions say once that is known.

Claim. Every row that can meet the conditions of a block lies in one of the periods found for it. A period that is found
and holds no such row costs its price for nothing; it is never read unpaid, since statements read the files of the
periods that are charged, and no others.

Proof. In rows of a period the time column lies between its ends, and what is computed of it lies in the interval that
follows. A condition that cannot be true for any values in those intervals is true of no row of the period; what is not
understood may be true, false or missing.

A condition that is true of all rows of a period is left out of the statement for it, so that a question about the last
four weeks asks for each of them what a question about the year asks. That decides which rows are counted, and never how
much one unit counts.

>>> both, neither = Interval.of(0, 9), Interval.of(10, 12)
>>> a, b = (Field(ColumnType.INTEGER, each, False, name) for each, name in ((both, "a"), (neither, "b")))
>>> list_outcomes(Call(ColumnType.BOOLEAN, Interval(), False, "{0} < {1}", (a, b)))
frozenset({True})
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from itertools import product

from discreet.catalog.column import ColumnType
from discreet.catalog.period import Every, Period
from discreet.catalog.table import Table
from discreet.query.bind.group_by import PrivateAggregation
from discreet.query.expressions.calendar import epoch, floor_date
from discreet.query.expressions.dates import SHOWN_YEARS
from discreet.query.expressions.expression import Call, Expression, Field, collect_fields
from discreet.query.expressions.interval import Interval
from discreet.query.expressions.logic import AND, NOT, OR
from discreet.query.expressions.public_values import find_values_through

__all__ = ["find_read_periods", "holds_in_all_rows", "is_time", "list_outcomes", "names_period", "narrow_table"]


Outcome = bool | None
_ANYTHING: frozenset[Outcome] = frozenset({True, False, None})
_DAY = timedelta(days=1)
_TICK = timedelta(microseconds=1)
_DAY_OF, _MOMENT_OF = "TRY_CAST({0} AS DATE)", "TRY_CAST({0} AS TIMESTAMP)"


def narrow_table(table: Table, periods: Sequence[Period]) -> Table:
    """The policy of a growing table for a question that reads these periods, and so finds these dates alone."""
    time = table.time
    if time is None or not periods:
        return replace(table, closed=tuple(periods))
    name, (first, last) = time.column.casefold(), (periods[0].start, periods[-1].end)
    columns = tuple(
        replace(one, lower=_earliest(one.type, first), upper=_latest(one.type, last), nullable=False)
        if one.name.casefold() == name
        else one
        for one in table.columns
    )
    return replace(table, columns=columns, closed=tuple(periods))


def _earliest(kind: ColumnType, start: datetime) -> date:
    return start.date() if kind is ColumnType.DATE else start


def _latest(kind: ColumnType, end: datetime) -> date:
    return (end - _DAY).date() if kind is ColumnType.DATE else end - _TICK


def find_read_periods(blocks: Iterable[PrivateAggregation], table: Table) -> list[Period]:
    """The periods of a table that some blocks read, in order."""
    conditions = [
        [find_values_through(condition) for condition in block.rows.conditions]
        for block in blocks
        if block.rows.privacy is not None and table.name in block.rows.privacy.tables
    ]
    return [period for period in table.closed if any(_may_meet(each, table, period) for each in conditions)]


def _may_meet(conditions: list[Expression], table: Table, period: Period) -> bool:
    return all(True in list_outcomes(_within(condition, table, period)) for condition in conditions)


def _within(expression: Expression, table: Table, period: Period) -> Expression:
    """The expression in rows of a period: with the interval of the time column, and of what is computed of it."""
    if isinstance(expression, Field):
        if not is_time(expression, [table]):
            return expression
        kind = ColumnType.DATE if expression.type is ColumnType.DATE else ColumnType.TIMESTAMP
        return replace(
            expression, interval=Interval(*map(epoch, (_earliest(kind, period.start), _latest(kind, period.end))))
        )
    if not isinstance(expression, Call):
        return expression
    arguments = tuple(_within(part, table, period) for part in expression.arguments)
    return replace(expression, arguments=arguments, interval=_computed(expression, arguments))


def _computed(call: Call, arguments: tuple[Expression, ...]) -> Interval:
    """Where the values of a call lie, where that follows more closely from its arguments; else where they lay."""
    if call.grain is not None and len(arguments) == 1:
        return floor_date(call.type, call.grain, arguments[0].interval)
    if call.template == _DAY_OF and arguments[0].type is ColumnType.TIMESTAMP:
        days = floor_date(ColumnType.TIMESTAMP, "day", arguments[0].interval)
        return days * Interval.of(Fraction(1, 86_400), Fraction(1, 86_400))
    if call.template == _MOMENT_OF and arguments[0].type is ColumnType.DATE:
        return arguments[0].interval * Interval.of(86_400, 86_400)
    return call.interval


def is_time(field: Field, tables: Iterable[Table]) -> bool:
    """Whether a field shows the time column of one of these tables."""
    if field.column is None:
        return False
    return any(
        table.time is not None and field.column[:2] == (table.name, _spelled(table, table.time.column))
        for table in tables
    )


def names_period(key: Expression, tables: Sequence[Table]) -> bool:
    """Whether a key is the time column of one of these tables, or the start of a part of a period: no two share it."""
    found = find_values_through(key)
    if isinstance(found, Call) and found.template.startswith(
        "CASE WHEN {0} BETWEEN"
    ):  # within the years that are shown
        found = found.arguments[0]
    for table in tables:
        inner = found
        while isinstance(inner, Call) and _keeps_period(inner, table):
            inner = inner.arguments[0]
        if isinstance(inner, Field) and is_time(inner, [table]):
            return True
    return False


def _keeps_period(call: Call, table: Table) -> bool:
    if call.template in (_DAY_OF, _MOMENT_OF) or call.template == SHOWN_YEARS:
        return True
    known = [every for every in Every if every.value == call.grain]
    finer = call.grain in ("hour", "minute", "second")
    return table.time is not None and (finer or any(every.is_within(table.time.every) for every in known))


def _spelled(table: Table, name: str) -> str:
    column = table.column(name)
    return name if column is None else column.name


def holds_in_all_rows(condition: Expression, tables: Sequence[Table]) -> bool:
    """Whether a condition about time columns alone is true of all rows of the periods that are read."""
    fields = list(collect_fields(find_values_through(condition)))
    return bool(fields) and all(is_time(one, tables) for one in fields) and list_outcomes(condition) == {True}


def list_outcomes(condition: Expression) -> frozenset[Outcome]:
    """What a condition can be, by the intervals of what it compares: true, false, or None where a value is missing."""
    if not isinstance(condition, Call):
        return _ANYTHING
    template, arguments = condition.template, condition.arguments
    if template in (AND, OR):
        unit = template == OR
        pairs = product(*map(list_outcomes, arguments))
        return frozenset(unit if unit in pair else None if None in pair else not unit for pair in pairs)
    if template == NOT:
        return frozenset(None if one is None else not one for one in list_outcomes(arguments[0]))
    if template in _COMPARED:
        found = _COMPARED[template](arguments[0].interval, arguments[1].interval)
    elif template == "{0} BETWEEN {1} AND {2}":
        value, low, high = (argument.interval for argument in arguments)
        pairs = product(_is_less(low, value, or_equal=True), _is_less(value, high, or_equal=True))
        found = frozenset(all(pair) for pair in pairs)
    elif template.startswith("{0} IN ("):
        found = _in_any([_is_equal(arguments[0].interval, other.interval) for other in arguments[1:]])
    else:
        return _ANYTHING
    return found | {None} if any(argument.nullable for argument in arguments) else found


def _in_any(each: list[frozenset[bool]]) -> frozenset[bool]:
    """Whether a value is one of several, from whether it is each of them."""
    if any(one == {True} for one in each):
        return frozenset({True})
    return frozenset({True, False} if any(True in one for one in each) else {False})


def _is_less(one: Interval, other: Interval, *, or_equal: bool) -> frozenset[bool]:
    low, high, least, most = one.low, one.high, other.low, other.high
    can_be = low is None or most is None or low < most or (or_equal and low == most)
    must_be = high is not None and least is not None and (high < least or (or_equal and high == least))
    return frozenset({*([True] if can_be else []), *([] if must_be else [False])})


def _is_equal(one: Interval, other: Interval) -> frozenset[bool]:
    meets = True in _is_less(one, other, or_equal=True) and True in _is_less(other, one, or_equal=True)
    is_point = one == other and one.known is not None and one.low == one.high
    return frozenset({*([True] if meets else []), *([] if is_point else [False])})


_COMPARED: dict[str, Callable[[Interval, Interval], frozenset[bool]]] = {
    "{0} < {1}": lambda one, other: _is_less(one, other, or_equal=False),
    "{0} <= {1}": lambda one, other: _is_less(one, other, or_equal=True),
    "{0} > {1}": lambda one, other: _is_less(other, one, or_equal=False),
    "{0} >= {1}": lambda one, other: _is_less(other, one, or_equal=True),
    "{0} = {1}": _is_equal,
    "{0} <> {1}": lambda one, other: frozenset(not outcome for outcome in _is_equal(one, other)),
}
