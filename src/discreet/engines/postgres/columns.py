"""Columns of a server as declared types, by expressions that no row can make fail.

The rules are those of `discreet.engines.casts`. Text is read in the plainest spelling of a number or a date alone;
what is spelled otherwise is missing.

>>> read_declared("x", "smallint", ColumnType.INTEGER)
'x::int8'
>>> read_declared("x", "json", ColumnType.TEXT) is None
True

Results become Arrow from the server's binary form, in a few types. Dates need not be ones that Python has.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from psycopg.abc import AdaptContext
from psycopg.adapt import Loader
from psycopg.pq import Format
from psycopg.types.string import StrDumper

from discreet.catalog.column import ColumnType

if TYPE_CHECKING:
    from psycopg.abc import Buffer

__all__ = ["ENUMERATION", "WHOLE", "as_arrow", "lie_within", "read_declared", "register"]


ENUMERATION = "enumeration"
"""The word for every type whose values the owner has listed."""

WHOLE = ("smallint", "integer", "bigint")
"""The types of whole numbers; those of one value are equal, whatever their size."""
_BROKEN = ("real", "double precision")
_EXACT = ("numeric",)
_TEXTS = ("text", "character varying", "character", "name", "uuid", ENUMERATION)
_STAMP = "timestamp without time zone"
_ZONED = "timestamp with time zone"
_LAST = {"date": "'9999-12-31'::date", "timestamp": "'9999-12-31 23:59:59.999999'::timestamp"}
_WHOLE = r"[0-9]{1,30}(\.(0{0,2}|0{4,30}))?|(0{1,30}|[0-9]{4,30})\.000"  # 12.000 is twelve thousand elsewhere
_WHOLE_NUMBER = rf"^[ \t\n\v\f\r]*[+-]?({_WHOLE})[ \t\n\v\f\r]*$"
_NUMBER = r"^[ \t\n\v\f\r]*[+-]?([0-9]{1,200}\.?[0-9]{0,200}|\.[0-9]{1,200})([eE][+-]?[0-9]{1,3})?[ \t\n\v\f\r]*$"
_DATE = r"^[ \t\n\v\f\r]*[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_CLOCK = r"[ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?"
_ZONE = r"(Z|[+-](0[0-9]|1[0-4])(:?[0-5][0-9])?)?"
_END = r"[ \t\n\v\f\r]*$"


def read_declared(value: str, native: str, wanted: ColumnType) -> str | None:
    """``value``, of the server's type ``native``, as a declared type; None where they have nothing in common."""
    return _RULES[wanted](value, native)


def lie_within(value: str, native: str, wanted: ColumnType, spans: Sequence[tuple[datetime, datetime]]) -> str:
    """Whether ``value``, read as a date or timestamp, lies in one of these half-open intervals.

    A date or timestamp is compared as it is: within the calendar its cast changes no order, and a day begins at
    midnight, as the intervals do. What the cast leaves out, as infinity and the years before 1, lies in none.

    >>> lie_within("x", "date", ColumnType.TIMESTAMP, [(datetime(2026, 1, 1), datetime(2026, 2, 1))])
    "(x >= '2026-01-01'::date AND x < '2026-02-01'::date)"
    """
    kind = {"date": "date", _STAMP: "timestamp", _ZONED: "timestamptz"}.get(native)
    if kind is None:
        value, kind = f"({read_declared(value, native, wanted)})", wanted.value
    between = [f"({value} >= {_instant(first, kind)} AND {value} < {_instant(end, kind)})" for first, end in spans]
    return " OR ".join(between)


def _instant(moment: datetime, kind: str) -> str:
    text = moment.date().isoformat() if kind == "date" else moment.isoformat(" ")
    return f"'{text}{'+00' if kind == 'timestamptz' else ''}'::{kind}"


def _integer(value: str, native: str) -> str | None:
    if native in WHOLE:
        return f"{value}::int8"
    if native == "boolean":
        return f"{value}::int4::int8"
    if native in _BROKEN:
        inside = f"{value}::float8 BETWEEN '-9223372036854775808'::float8 AND '9223372036854774784'::float8"
        return f"CASE WHEN {inside} AND {value} = trunc({value}) THEN {value}::int8 END"
    if native in _EXACT:
        return f"CASE WHEN {_in_64_bits(value)} AND {value} = trunc({value}) THEN {value}::int8 END"
    if native in _TEXTS:
        return f"CASE WHEN {_text_of(value)} ~ '{_WHOLE_NUMBER}' THEN {_checked_integer(_text_of(value))} END"
    return None


def _in_64_bits(value: str) -> str:
    return f"{value} BETWEEN -9223372036854775808 AND 9223372036854775807"


def _checked_integer(text: str) -> str:
    number = f"{text}::numeric"
    return f"CASE WHEN {_in_64_bits(number)} THEN {number}::int8 END"


def _real(value: str, native: str) -> str | None:
    if native in WHOLE:
        return f"{value}::float8"
    if native == "boolean":
        return f"{value}::int4::float8"
    if native in _BROKEN:
        return _finite(f"{value}::float8")
    if native in _EXACT:
        return _small_enough(value)
    if native in _TEXTS:
        return f"CASE WHEN {_text_of(value)} ~ '{_NUMBER}' THEN {_small_enough(f'{_text_of(value)}::numeric')} END"
    return None


def _finite(value: str) -> str:
    return f"CASE WHEN abs({value}) < 'Infinity'::float8 THEN {value} + 0.0::float8 END"


def _small_enough(value: str) -> str:
    """A numeric as a double: PostgreSQL raises past the largest and below the least."""
    inside = f"abs({value}) BETWEEN 1e-307 AND 1.797693134862315e308"
    return f"CASE WHEN {inside} THEN {value}::float8 WHEN abs({value}) < 1e-307 THEN 0::float8 END"


def _text(value: str, native: str) -> str | None:
    if native in _EXACT:  # 7 and 7.0 are one number, and must not be two people
        return _text_of(f"trim_scale({value})")
    if native in (*_TEXTS, *WHOLE, "boolean"):
        return _text_of(value)
    if native in ("date", _STAMP, _ZONED):
        kind = "date" if native == "date" else "timestamp"
        return f'({_within_calendar(_plain(value, native), kind)}::text COLLATE "C")'
    return None


def _text_of(value: str) -> str:
    return f'({value}::text COLLATE "C")'


def _boolean(value: str, native: str) -> str | None:
    if native == "boolean":
        return value
    if native in (*WHOLE, *_BROKEN, *_EXACT):
        return f"CASE WHEN {value} = 0 THEN FALSE WHEN {value} = 1 THEN TRUE END"
    if native in _TEXTS:
        word = f"lower(btrim({_text_of(value)}))"
        yes, no = "'true', 't', 'yes', 'y', '1'", "'false', 'f', 'no', 'n', '0'"
        return f"CASE WHEN {word} IN ({yes}) THEN TRUE WHEN {word} IN ({no}) THEN FALSE END"
    return None


def _date(value: str, native: str) -> str | None:
    if native in ("date", _STAMP, _ZONED):
        # Compared before the cast: infinity and what lies far out have no day.
        kind = "date" if native == "date" else "timestamp"
        return f"{_within_calendar(_plain(value, native), kind)}::date"
    if native in _TEXTS:
        return _spell(_text_of(value), f"{_DATE}{_END}", "date")
    return None


def _timestamp(value: str, native: str) -> str | None:
    if native == "date":
        return f"{_within_calendar(value, 'date')}::timestamp"
    if native in (_STAMP, _ZONED):
        return _within_calendar(_plain(value, native), "timestamp")
    if native in _TEXTS:
        instant = _spell(_text_of(value), f"{_DATE}({_CLOCK}{_ZONE})?{_END}", "timestamptz")
        return _within_calendar(f"({instant} AT TIME ZONE 'UTC')", "timestamp")
    return None


def _plain(value: str, native: str) -> str:
    return f"({value} AT TIME ZONE 'UTC')" if native == _ZONED else value


def _spell(text: str, pattern: str, kind: str) -> str:
    """A text as a date, where its month has so many days and its year is one."""
    digits = f"ltrim({text}, E' \\t\\n\\x0b\\f\\r')"
    year, month, day = (f"substr({digits}, {start}, {size})::int4" for start, size in ((1, 4), (6, 2), (9, 2)))
    leap = f"({year} % 4 = 0 AND ({year} % 100 <> 0 OR {year} % 400 = 0))"
    days = f"CASE WHEN {month} IN (4, 6, 9, 11) THEN 30 WHEN {month} <> 2 THEN 31 WHEN {leap} THEN 29 ELSE 28 END"
    there = f"CASE WHEN {year} > 0 AND {day} <= {days} THEN {digits}::{kind} END"
    return f"CASE WHEN {text} ~ '{pattern}' THEN {there} END"


def _within_calendar(value: str, kind: str) -> str:
    return f"CASE WHEN {value} BETWEEN '0001-01-01'::{kind} AND {_LAST[kind]} THEN {value} END"


_RULES: Mapping[ColumnType, Callable[[str, str], str | None]] = {
    ColumnType.INTEGER: _integer,
    ColumnType.REAL: _real,
    ColumnType.TEXT: _text,
    ColumnType.BOOLEAN: _boolean,
    ColumnType.DATE: _date,
    ColumnType.TIMESTAMP: _timestamp,
}


_DAYS, _MICROSECONDS = 10_957, 946_684_800_000_000
"""From 1970 to 2000, where the server counts from."""
_TYPES: dict[int, pa.DataType] = {
    16: pa.bool_(),
    20: pa.int64(),
    21: pa.int64(),
    23: pa.int64(),
    25: pa.string(),
    701: pa.float64(),
    1043: pa.string(),
    1082: pa.date32(),
    1114: pa.timestamp("us"),
    1700: pa.decimal128(38, 0),
}
"""By the numbers that the server gives types."""


class _Days(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> int:
        return int(struct.unpack("!i", data)[0]) + _DAYS


class _Microseconds(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> int:
        return int(struct.unpack("!q", data)[0]) + _MICROSECONDS


def register(context: AdaptContext) -> None:
    """Send text as text, also where nothing says so, and read dates and timestamps as numbers."""
    context.adapters.register_dumper(str, StrDumper)
    context.adapters.register_loader(1082, _Days)
    context.adapters.register_loader(1114, _Microseconds)


def as_arrow(columns: Sequence[Any], rows: Sequence[Sequence[Any]]) -> pa.Table:
    """Rows of the server; ``columns`` is what its cursor says of them."""
    arrays, names = [], []
    for k, column in enumerate(columns):
        arrays.append(_array([row[k] for row in rows], _TYPES[column.type_code]))
        names.append(column.name)
    return pa.Table.from_arrays(arrays, names=names)


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_date32(kind):
        return pa.array(values, pa.int32()).cast(kind)
    if pa.types.is_timestamp(kind):
        return pa.array(values, pa.int64()).cast(kind)
    return pa.array(values, kind)
