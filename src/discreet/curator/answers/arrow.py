"""A whole answer as one Arrow stream: the values as a table, everything else as JSON in the metadata of its schema.

So an answer travels and is kept in one piece, and reads back as the same answer. What is read may come from a network:
bytes that are cut, changed or foreign are refused with `InvalidValue`, whatever is wrong with them.

>>> from discreet.privacy.loss import Pure
>>> sent = Answer(pa.table({"n": [3]}), {"n": [(1.0, math.inf)]}, 0.95, Pure("1/3"), True, (), {}, entry=4)
>>> answer_from_arrow(answer_to_arrow(sent)) == sent
True
"""

from __future__ import annotations

import json
import math
from typing import Any

import pyarrow as pa

from discreet.curator.answers.answer import Answer
from discreet.curator.answers.cell import Interval
from discreet.curator.ledger.units import as_json, balance_as_json, from_json
from discreet.errors import InvalidValue

__all__ = ["answer_from_arrow", "answer_to_arrow"]


_KEY = b"discreet"
_FORM = "answer 1"
_END = b"\xff\xff\xff\xff\0\0\0\0"
"""What ends a stream. Arrow takes a stream that was cut between two batches for a whole one, so it is looked for."""
_NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
"""JSON has no such numbers, so they are written as texts."""


def answer_to_arrow(answer: Answer) -> bytes:
    """The answer as an Arrow IPC stream."""
    metadata = {**(answer.table.schema.metadata or {}), _KEY: json.dumps(_header(answer), allow_nan=False)}
    table = answer.table.replace_schema_metadata(metadata)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def answer_from_arrow(data: bytes) -> Answer:
    """The answer that `answer_to_arrow` wrote."""
    try:
        return _answer(*_table(data))
    except Exception:  # Arrow and JSON raise of every kind when bytes are not theirs
        raise InvalidValue("an answer must be a whole Arrow stream with its header", "<something else>") from None


# Writing ----------------------------------------------------------------------------------------------------------


def _header(answer: Answer) -> dict[str, Any]:
    return {
        "form": _FORM,
        "rows": answer.table.num_rows,
        "error": {name: [_ends(interval) for interval in column] for name, column in answer.error.items()},
        "confidence": float(answer.confidence),
        "price": None if answer.price is None else as_json(answer.price),
        "charged": answer.charged,
        "notes": list(answer.notes),
        "certificate": answer.certificate,
        "left": {account: balance_as_json(left) for account, left in answer.left.items()},
        "entry": answer.entry,
    }


def _ends(interval: Interval | None) -> list[float | str] | None:
    return None if interval is None else [_end(float(end)) for end in interval]


def _end(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


# Reading ----------------------------------------------------------------------------------------------------------


def _table(data: bytes) -> tuple[pa.Table, dict[str, Any]]:
    """The values as they were before the header was added, and the header."""
    source = pa.BufferReader(data)
    with pa.ipc.open_stream(source) as reader:
        table = reader.read_all()
    _check_values(table)
    metadata = dict(table.schema.metadata)
    header = json.loads(metadata.pop(_KEY), object_pairs_hook=_once, parse_constant=_refused)
    is_whole = source.tell() == len(data) and data.endswith(_END) and header["rows"] == table.num_rows
    _insist(is_whole and header["form"] == _FORM)
    return table.replace_schema_metadata(metadata or None), header


def _check_values(table: pa.Table) -> None:
    """Refuse values that nobody can look at, such as dates after the last year or two columns of one name."""
    table.validate(full=True)
    _insist(len(set(table.column_names)) == table.num_columns)
    for column in table.columns:
        if not (pa.types.is_primitive(column.type) or pa.types.is_string(column.type)) or _is_moment(column.type):
            column.to_pylist()


def _is_moment(kind: pa.DataType) -> bool:
    return bool(pa.types.is_temporal(kind))


def _answer(table: pa.Table, header: dict[str, Any]) -> Answer:
    error = {name: [_interval(ends) for ends in column] for name, column in header["error"].items()}
    _insist(all(name in table.column_names and len(column) == table.num_rows for name, column in error.items()))
    return Answer(
        table,
        error,
        _of(float, header["confidence"]),
        None if header["price"] is None else from_json(header["price"]),
        _of(bool, header["charged"]),
        tuple(_of(str, note) for note in _of(list, header["notes"])),
        _of(dict, header["certificate"]),
        left={account: from_json(left) for account, left in header["left"].items()},
        entry=None if header["entry"] is None else _of(int, header["entry"]),
    )


def _interval(ends: Any) -> Interval | None:
    if ends is None:
        return None
    low, high = (_NOT_FINITE[end] if isinstance(end, str) else _of(float, end) for end in ends)
    return low, high


def _of(kind: type, value: Any) -> Any:
    _insist(type(value) is kind)
    return value


def _insist(holds: bool) -> None:
    if not holds:
        raise ValueError


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which every name stands once, because readers would differ on the others."""
    _insist(len({name for name, _ in pairs}) == len(pairs))
    return dict(pairs)


def _refused(constant: str) -> None:
    raise ValueError(constant)
