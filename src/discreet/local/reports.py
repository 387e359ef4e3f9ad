"""What devices send: reports in a few compact arrays, together with the terms they were made under.

Reports are safe to keep, to copy and to read: each is already private. They travel as bytes, JSON or Arrow, and
whoever reads them checks the terms, so that a device and a server cannot disagree about what they mean.

JSON has numbers as numbers, bits and other bytes as hexadecimal digits, one entry per report. An Arrow table has a
column per field, and the terms in the metadata of the schema. Bytes have a header that says what follows, the columns,
and a checksum. A cut or changed upload is refused.

    4 bytes   "DLR" and the version of this form, 1
    8 bytes   fingerprint of the terms
    4 bytes   length of the terms in bytes, 0 where they are left out
    8 bytes   number of reports
    …         the terms as JSON
    …         each column in the order of the layout, little endian
    8 bytes   the first bytes of the SHA-256 of everything before

The checksum finds accidents. It is no signature: whoever can send reports can send false ones.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.errors import InvalidType, InvalidValue
from discreet.local.terms import ReportField, Terms

__all__ = [
    "Columns",
    "Reports",
    "arrow_table",
    "check_fingerprint",
    "packed",
    "read_arrow",
    "read_json",
    "unpacked",
    "written_json",
]


Columns: TypeAlias = dict[str, npt.NDArray[Any]]
"""The fields of many reports by name, each an array with a row per report."""

_MAGIC = b"DLR\x01"
_HEADER = struct.Struct("<4s8sIQ")
_CHECKSUM = 8


def packed(terms: Terms, columns: Columns, n: int, with_terms: bool) -> bytes:
    """The upload."""
    written = terms.to_json().encode() if with_terms else b""
    header = _HEADER.pack(_MAGIC, bytes.fromhex(terms.fingerprint), len(written), n)
    body = b"".join([header, written, *(columns[one.name].tobytes() for one in terms.layout)])
    return body + _checksum(body)


def unpacked(data: bytes, terms: Terms | None) -> tuple[Terms, Columns]:
    """The terms and the columns of an upload; ``terms`` are those of the server."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise InvalidType("an upload must be bytes", f"<a {type(data).__name__}>")
    data = bytes(data)
    fingerprint, length, n = _header(data)
    start = _HEADER.size + length
    if len(data) < start + _CHECKSUM:
        raise _cut(len(data), start + _CHECKSUM)
    found = _terms(data[_HEADER.size : start], terms)
    check_fingerprint(fingerprint, found)
    end = start + n * found.bytes_each
    if len(data) != end + _CHECKSUM:
        raise _cut(len(data), end + _CHECKSUM)
    if _checksum(data[:end]) != data[end:]:
        raise InvalidValue("the checksum of an upload must fit", "<another one>", "send it again")
    return found, _columns(data, start, n, found)


def check_fingerprint(fingerprint: str, terms: Terms) -> None:
    """Refuse what was made under terms with another fingerprint."""
    if fingerprint != terms.fingerprint:
        rule = f"the reports must have been made under the terms {terms.fingerprint}"
        raise InvalidValue(rule, fingerprint, "another question, another ε or another version")


def _header(data: bytes) -> tuple[str, int, int]:
    if data[: len(_MAGIC)] != _MAGIC:
        rule = "an upload must begin with the mark of reports, version 1"
        raise InvalidValue(rule, f"<{data[:4].hex(' ') or 'nothing'}>")
    if len(data) < _HEADER.size:
        raise _cut(len(data), _HEADER.size)
    _, fingerprint, length, n = _HEADER.unpack_from(data)
    return fingerprint.hex(), length, n


def _terms(written: bytes, wanted: Terms | None) -> Terms:
    """The terms in the upload, or those of the server; where there are both, they must be the same."""
    if not written:
        if wanted is None:
            raise InvalidValue("an upload without terms must be read with terms=", "<none>")
        return wanted
    found = Terms.from_json(written)
    if wanted is not None:
        wanted.check_same(found)
    return found


def _columns(data: bytes, start: int, n: int, terms: Terms) -> Columns:
    columns: Columns = {}
    for one in terms.layout:
        array = np.frombuffer(data, one.dtype, n * one.width, start)
        columns[one.name] = array.reshape(one.shape(n))
        start += array.nbytes
    return columns


def _cut(found: int, wanted: int) -> InvalidValue:
    return InvalidValue(
        f"the upload must have {wanted} bytes", f"<{found}>", "it was cut off or spliced; send it again"
    )


def _checksum(body: bytes) -> bytes:
    return hashlib.sha256(body).digest()[:_CHECKSUM]


def written_json(terms: Terms, columns: Columns, with_terms: bool) -> str:
    """The reports as one JSON object."""
    found: dict[str, Any] = {"fingerprint": terms.fingerprint}
    if with_terms:
        found["terms"] = terms.to_dict()
    found["reports"] = {one.name: _list(one, columns[one.name]) for one in terms.layout}
    return json.dumps(found, separators=(",", ":"), ensure_ascii=False)


def read_json(text: str | bytes, terms: Terms | None) -> tuple[Terms, Columns]:
    """The terms and the columns; ``terms`` are those of the server."""
    try:
        found = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise InvalidValue("reports must be JSON", "<another text>", "if it was cut off, send it again") from None
    if not isinstance(found, dict) or set(found) - {"terms"} != {"fingerprint", "reports"}:
        raise InvalidType("reports in JSON must have a fingerprint and reports, and perhaps terms", "<others>")
    agreed = _agreed(found.get("terms"), terms)
    check_fingerprint(found["fingerprint"], agreed)
    listed = found["reports"]
    if not isinstance(listed, dict) or set(listed) != {one.name for one in agreed.layout}:
        raise InvalidType(f"reports must have {', '.join(one.name for one in agreed.layout)}", "<others>")
    return agreed, {one.name: _array(one, listed[one.name]) for one in agreed.layout}


def _agreed(written: Any, wanted: Terms | None) -> Terms:
    if written is None:
        if wanted is None:
            raise InvalidValue("reports without terms must be read with terms=", "<none>")
        return wanted
    found = Terms.from_dict(written)
    if wanted is not None:
        wanted.check_same(found)
    return found


def _list(field: ReportField, column: npt.NDArray[Any]) -> list[int] | list[str]:
    return [row.tobytes().hex() for row in column] if field.width > 1 else column.tolist()


def _array(field: ReportField, listed: Any) -> npt.NDArray[Any]:
    if not isinstance(listed, list):
        raise InvalidType(f"{field.name} must be a list", f"<a {type(listed).__name__}>")
    return _from_digits(field, listed) if field.width > 1 else _from_numbers(field, listed)


def _from_digits(field: ReportField, listed: list[Any]) -> npt.NDArray[Any]:
    wanted = 2 * field.width
    try:
        if any(len(digits) != wanted for digits in listed):
            raise ValueError
        return np.frombuffer(bytes.fromhex("".join(listed)), field.dtype).reshape(field.shape(len(listed)))
    except (TypeError, ValueError):
        raise InvalidValue(f"{field.name} must be {wanted} hexadecimal digits for each report", "<others>") from None


def _from_numbers(field: ReportField, listed: list[Any]) -> npt.NDArray[Any]:
    ends = np.iinfo(field.dtype)
    if not all(type(number) is int and ends.min <= number <= ends.max for number in listed):
        raise InvalidValue(f"{field.name} must be whole numbers from {ends.min} to {ends.max}", "<others>")
    return np.asarray(listed, field.dtype)


_KEY = b"discreet.terms"


def arrow_table(terms: Terms, columns: Columns) -> pa.Table:
    """The table."""
    arrays = [_arrow(one, columns[one.name]) for one in terms.layout]
    schema = pa.schema([(one.name, array.type) for one, array in zip(terms.layout, arrays, strict=True)])
    return pa.table(arrays, schema=schema.with_metadata({_KEY: terms.to_json()}))


def read_arrow(table: Any, wanted: Terms | None) -> tuple[Terms, Columns]:
    """The terms and the columns of a table that `arrow_table` wrote; ``wanted`` are the terms of the server."""
    if not isinstance(table, (pa.Table, pa.RecordBatch)):
        raise InvalidType("reports must be an Arrow table", f"<a {type(table).__name__}>")
    metadata = table.schema.metadata or {}
    if _KEY not in metadata:
        raise InvalidValue("a table of reports must carry its terms", "<none>", "write it with Reports.to_arrow")
    terms = Terms.from_json(metadata[_KEY])
    if wanted is not None:
        wanted.check_same(terms)
    if table.schema.names != [one.name for one in terms.layout]:
        raise InvalidValue(f"the columns must be {', '.join(one.name for one in terms.layout)}", table.schema.names)
    return terms, {one.name: _numpy(one, table[one.name]) for one in terms.layout}


def _arrow(field: ReportField, column: npt.NDArray[Any]) -> pa.Array:
    if field.width == 1:
        return pa.array(column)
    return pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(field.width), len(column), [None, pa.py_buffer(column.tobytes())]
    )


def _numpy(field: ReportField, column: Any) -> npt.NDArray[Any]:
    wanted = pa.from_numpy_dtype(field.dtype) if field.width == 1 else pa.binary(field.width)
    if column.type != wanted or column.null_count:
        raise InvalidValue(f"{field.name} must be {wanted} with no value missing", f"<{column.type}>")
    if field.width == 1:
        return np.asarray(column.to_numpy(), field.dtype)
    parts = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    rows = b"".join(_rows(part, field.width) for part in parts)
    return np.frombuffer(rows, field.dtype).reshape(field.shape(len(column)))


def _rows(part: Any, width: int) -> bytes:
    start = part.offset * width
    return bytes(part.buffers()[1][start : start + len(part) * width]) if len(part) else b""


@dataclass(frozen=True, eq=False)
class Reports:
    """Any number of reports under the same terms."""

    terms: Terms
    """What they were made under."""
    columns: Columns
    """The fields by name, each an array with a row per report."""

    def __post_init__(self) -> None:
        if set(self.columns) != {one.name for one in self.terms.layout}:
            wanted = ", ".join(one.name for one in self.terms.layout)
            raise InvalidValue(f"the reports must have {wanted}", f"<{', '.join(self.columns)}>")
        n = len(next(iter(self.columns.values())))
        for one in self.terms.layout:
            array = self.columns[one.name]
            if array.dtype != one.dtype or array.shape != one.shape(n):
                rule = f"{one.name} must be {one.type} of shape {one.shape(n)}"
                raise InvalidType(rule, f"<{array.dtype} of shape {array.shape}>")

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __repr__(self) -> str:
        terms = self.terms
        return f"<{len(self):,} {terms.kind} reports of {terms.bytes_each} bytes, terms {terms.fingerprint}>"

    def __getitem__(self, which: slice) -> Reports:
        """Some of them, by a slice."""
        if not isinstance(which, slice):
            raise InvalidType("reports are taken by a slice", which, "reports[3:4] is one of them")
        return Reports(self.terms, {name: column[which] for name, column in self.columns.items()})

    @classmethod
    def together(cls, parts: Iterable[Reports]) -> Reports:
        """All reports of ``parts``, one after the other; they must have been made under the same terms."""
        listed = list(parts)
        if not listed:
            raise InvalidValue("at least one batch of reports is needed", "<none>")
        for part in listed[1:]:
            listed[0].terms.check_same(part.terms)
        names = listed[0].columns
        return cls(listed[0].terms, {name: np.concatenate([part.columns[name] for part in listed]) for name in names})

    # On the way from a device to a server.

    def to_bytes(self, *, with_terms: bool = True) -> bytes:
        """A compact upload; without the terms it holds their fingerprint alone, for a server that knows them."""
        return packed(self.terms, self.columns, len(self), with_terms)

    @classmethod
    def from_bytes(cls, data: bytes, terms: Terms | None = None) -> Reports:
        """What `to_bytes` wrote. With ``terms``, reports under any others are refused."""
        return cls(*unpacked(data, terms))

    def to_json(self, *, with_terms: bool = True) -> str:
        """The same as a JSON object."""
        return written_json(self.terms, self.columns, with_terms)

    @classmethod
    def from_json(cls, text: str | bytes, terms: Terms | None = None) -> Reports:
        """What `to_json` wrote. With ``terms``, reports under any others are refused."""
        return cls(*read_json(text, terms))

    def to_arrow(self) -> Any:
        """A `pyarrow.Table` with a column per field and the terms in its schema."""
        return arrow_table(self.terms, self.columns)

    @classmethod
    def from_arrow(cls, table: Any, terms: Terms | None = None) -> Reports:
        """What `to_arrow` wrote. With ``terms``, reports under any others are refused."""
        return cls(*read_arrow(table, terms))
