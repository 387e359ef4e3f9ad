"""Results of the server as Arrow: a few types, read from its binary form. Dates need not be ones that Python has."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from psycopg.abc import AdaptContext
from psycopg.adapt import Loader
from psycopg.pq import Format
from psycopg.types.string import StrDumper

if TYPE_CHECKING:
    from psycopg.abc import Buffer

__all__ = ["as_arrow", "register"]

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
