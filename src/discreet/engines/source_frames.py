"""Tables in memory and streams as sources: Arrow, pandas, Polars, and whatever speaks Arrow's stream interface.

A stream is read once, batch by batch, so it may be larger than memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import duckdb
import pyarrow as pa

from discreet.engines.part import Given, Part
from discreet.errors import InvalidType

__all__ = ["frame_parts"]


def frame_parts(source: Any, wanted: frozenset[str], connection: duckdb.DuckDBPyConnection) -> list[Part]:
    """The rows of a table in memory, or of a stream."""
    names, reader = _opened(source, wanted)
    if not reader.schema.names:
        return [Part((), "source_stream", names=tuple(names))]  # DuckDB registers nothing without columns
    connection.register("source_stream", reader)
    described = connection.execute("DESCRIBE FROM source_stream").fetchall()
    given = tuple(
        Given(name, label, native) for name, (label, native, *_) in zip(_kept(names, wanted), described, strict=True)
    )
    return [Part(given, "source_stream", names=tuple(names))]


def _kept(names: Sequence[str], wanted: frozenset[str]) -> list[str]:
    return [names[place] for place in _places(names, wanted)]


def _places(names: Sequence[str], wanted: frozenset[str]) -> list[int]:
    """Where the declared columns are: others may be of types that DuckDB does not know, and are never stored."""
    return [place for place, name in enumerate(names) if name.casefold() in wanted]


def _opened(source: Any, wanted: frozenset[str]) -> tuple[list[str], pa.RecordBatchReader]:
    library = type(source).__module__.partition(".")[0]
    if library == "pandas" and hasattr(source, "iloc") and hasattr(source, "columns"):
        return _pandas(source, wanted)
    if library == "polars" and hasattr(source, "collect_schema"):
        return _polars(source, wanted)
    if hasattr(source, "scanner"):  # an Arrow dataset
        source = source.scanner().to_reader()
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if not hasattr(source, "__arrow_c_stream__"):
        remedy = "pass a path, a DuckDBTable, an Arrow table or reader, or a pandas or Polars frame"
        raise InvalidType("a source must be something that holds rows", f"<{type(source).__name__}>", remedy)
    reader = pa.RecordBatchReader.from_stream(source)
    return reader.schema.names, _projected(reader, _places(reader.schema.names, wanted))


def _pandas(frame: Any, wanted: frozenset[str]) -> tuple[list[str], pa.RecordBatchReader]:
    names = [str(name) for name in frame.columns]
    places = _places(names, wanted)
    arrays = [_pandas_array(frame.iloc[:, place]) for place in places]
    table = pa.Table.from_arrays(arrays, names=[f"s{place}" for place in range(len(places))])
    return names, _projected(table.to_reader(), range(len(places)))


def _pandas_array(series: Any) -> Any:
    try:
        return pa.array(series, from_pandas=True)
    except (pa.ArrowException, OverflowError, TypeError):
        # A column of mixed objects, or of integers past 64 bits: as text, so that each cell is cast on its own.
        missing = series.isna()
        return pa.array([None if gone else str(cell) for cell, gone in zip(series, missing, strict=True)], pa.string())


def _polars(frame: Any, wanted: frozenset[str]) -> tuple[list[str], pa.RecordBatchReader]:
    import polars  # noqa: PLC0415  # loaded already by whoever made the frame, and needed by nobody else

    schema = frame.collect_schema()
    names = list(schema.names())
    wide = (polars.Int128, polars.UInt128)  # Arrow has no such type
    columns = [
        polars.col(name).cast(polars.String) if schema[name] in wide else polars.col(name)
        for name in _kept(names, wanted)
    ]
    table = frame.lazy().select(columns).collect(engine="streaming")
    return names, _projected(pa.RecordBatchReader.from_stream(table), range(len(columns)))


def _projected(reader: pa.RecordBatchReader, places: Sequence[int]) -> pa.RecordBatchReader:
    """The columns at some places under names of our own, because DuckDB takes A and a for one name."""
    fields = [(f"s{number}", _readable(reader.schema.types[place])) for number, place in enumerate(places)]
    schema = pa.schema(fields)

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in reader:
            arrays = [_as(batch.column(place), kind) for place, (_, kind) in zip(places, fields, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def _as(array: pa.Array, kind: pa.DataType) -> pa.Array:
    return array if array.type == kind else array.cast(kind)


def _readable(kind: pa.DataType) -> pa.DataType:
    """A type that DuckDB reads and that holds the same values."""
    if pa.types.is_float16(kind):
        return pa.float32()
    return pa.string() if pa.types.is_decimal256(kind) else kind
