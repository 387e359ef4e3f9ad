"""Reports as an Arrow table: a column per field, the terms in the metadata of the schema."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.errors import InvalidType, InvalidValue
from discreet.local.layout import Field
from discreet.local.terms import Terms
from discreet.local.upload import Columns

__all__ = ["arrow_table", "read_arrow"]

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


def _arrow(field: Field, column: npt.NDArray[Any]) -> pa.Array:
    if field.width == 1:
        return pa.array(column)
    return pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(field.width), len(column), [None, pa.py_buffer(column.tobytes())]
    )


def _numpy(field: Field, column: Any) -> npt.NDArray[Any]:
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
