"""Reports as bytes: a header that says what follows, the columns, and a checksum. A cut or changed upload is refused.

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
import struct
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidType, InvalidValue
from discreet.local.terms import Terms

__all__ = ["Columns", "check_fingerprint", "packed", "unpacked"]

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
