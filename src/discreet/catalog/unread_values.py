"""Values that could not be read as the type of their column, and what they look like: exact, for the owner alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from discreet.catalog.column import Column
from discreet.catalog.table import Table

__all__ = ["Look", "UnreadColumn", "unread_words"]


class Look(IntEnum):
    """What a value looks like that was not read; the number is what an ingest keeps of it."""

    SOMETHING_ELSE = 0
    NULL_WORD = 1
    COMMA_THOUSANDS = 2
    POINT_THOUSANDS = 3
    OTHER_THOUSANDS = 4
    DECIMAL_COMMA = 5
    FRACTION = 6
    WITH_UNIT = 7
    YEAR_LAST = 8
    SHORT_YEAR = 9
    EIGHT_DIGITS = 10
    DAY_NUMBER = 11
    THREE_DECIMALS = 100
    """It was read, with a decimal point before three digits; it may mean a thousand times as much."""
    OTHER_DECIMALS = 101
    """It was read, with a decimal point that cannot separate thousands."""


_WORDS = {
    Look.NULL_WORD: ("words for nothing, such as NA", 'say csv: {nulls: [NA, "-"]}'),
    Look.COMMA_THOUSANDS: (
        "numbers with a comma between thousands (12,000)",
        'say csv: {thousands: ","}, or {decimal: ","} if they are decimals',
    ),
    Look.POINT_THOUSANDS: (
        "numbers with a point between thousands (12.000)",
        'say csv: {thousands: ".", decimal: ","}, or {decimal: "."} if they are decimals',
    ),
    Look.OTHER_THOUSANDS: (
        "numbers with a space or an apostrophe between thousands (12 000)",
        'say csv: {thousands: " "} or {thousands: "\'"}',
    ),
    Look.DECIMAL_COMMA: ("numbers with a decimal comma (1,5)", 'say csv: {decimal: ","}'),
    Look.FRACTION: ("numbers with a fraction or an exponent", "declare real"),
    Look.WITH_UNIT: ("numbers with a sign or a unit around them", "take it away first"),
    Look.YEAR_LAST: (
        "dates with the year last (31.12.2024)",
        "say csv: {dates: '%d.%m.%Y'}, or '%m/%d/%Y', and timestamps: for timestamps",
    ),
    Look.SHORT_YEAR: ("dates with two digits for a year", "say csv: {dates: '%d-%m-%y'}, or '%y-%m-%d'"),
    Look.EIGHT_DIGITS: ("dates without separators (20241231)", "say csv: {dates: '%Y%m%d'}"),
    Look.DAY_NUMBER: ("numbers of days, as spreadsheets keep dates", "save them as 2024-12-31"),
}


@dataclass(frozen=True)
class UnreadColumn:
    """What became of the values of one column."""

    count: int
    """How many could not be read as its type."""
    looks: Mapping[Look, int] = field(default_factory=dict)
    """How many of these look like what."""
    doubtful: int = 0
    """How many were read that may mean something else: numbers with a point before three digits, and no others."""

    @classmethod
    def of(cls, found: Mapping[int, int]) -> UnreadColumn:
        """From how often each look was seen."""
        looks = {Look(look): count for look, count in found.items() if look < Look.THREE_DECIMALS}
        doubtful = 0 if found.get(Look.OTHER_DECIMALS) else found.get(Look.THREE_DECIMALS, 0)
        return cls(sum(looks.values()), looks, doubtful)


def unread_words(table: Table, unread: Mapping[str, UnreadColumn]) -> list[str]:
    """Sentences for every column of ``table`` with such values."""
    found = [(column, unread[column.name]) for column in table.columns if column.name in unread]
    return [words for column, one in found for words in _column_words(table, column, one)]


def _column_words(table: Table, column: Column, one: UnreadColumn) -> list[str]:
    words = []
    if one.count:
        words.append(
            f"{_counted(column, one.count, 'could not be read as ' + column.type.value)}; {_now(table, column)}"
        )
        for look, count in sorted(one.looks.items(), key=lambda pair: -pair[1]):
            if look in _WORDS:
                like, remedy = _WORDS[look]
                words.append(f"{column.name}: {count:,} of them look like {like}; {remedy}")
    if one.doubtful:
        told = 'if they mean thousands, say csv: {thousands: ".", decimal: ","}; if not, csv: {decimal: "."}'
        words.append(f"{_counted(column, one.doubtful, 'with three digits after a point counted as decimals')}; {told}")
    return words


def _counted(column: Column, count: int, what: str) -> str:
    return f"{column.name}: {count:,} {'value' if count == 1 else 'values'} {what}"


def _now(table: Table, column: Column) -> str:
    is_unit = table.unit is not None and table.unit.casefold() == column.name.casefold()
    return "each such row counts as a person of its own" if is_unit else "they count as missing"
