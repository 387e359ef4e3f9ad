"""The rows that are published: no identifying column, no index, and an order that says nothing."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import compute

from discreet.anonymize.roles import Roles
from discreet.catalog.suggestion import suggestion
from discreet.errors import InvalidValue

__all__ = ["refuse_other_columns", "release"]


def release(source: pa.Table, roles: Roles, recoded: Mapping[str, pa.Array], kept: npt.NDArray[np.bool_]) -> pa.Table:
    """The ``kept`` rows with the columns ``recoded`` in place of their own, sorted by all released values.

    Rows that are equal in every released column are equal, so the order holds nothing of the order of the source.
    Suppressed rows are left out as a whole: a row of stars that still shows its sensitive value would tell it to
    everybody who knows that a person is in the table and finds no class for them.
    """
    names = [name for name in source.column_names if name not in roles.identifying]
    columns = [recoded.get(name, source.column(name)) for name in names]
    return _sorted(pa.Table.from_arrays(columns, names=names).filter(pa.array(kept)))


def refuse_other_columns(source: pa.Table, roles: Roles) -> None:
    """Refuse a table that lacks a column with a role, or has one without."""
    for name in roles.columns:
        if name not in source.column_names:
            raise InvalidValue("a column must be in the table", name, suggestion(name, source.column_names))
    for name in source.column_names:
        if name not in roles.columns:
            raise InvalidValue("every column of the table must have a role", name, "name it in the roles, or drop it")


def _sorted(table: pa.Table) -> pa.Table:
    keys = pa.Table.from_arrays([_sortable(column) for column in table.columns], names=table.column_names)
    order = compute.sort_indices(keys, sort_keys=[(name, "ascending") for name in keys.column_names])
    columns = [_decoded(column.take(order)) for column in table.columns]
    return pa.Table.from_arrays(columns, names=table.column_names).combine_chunks()


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values themselves: a dictionary would still list the values of rows that are not released."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _sortable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column itself, the ranks of its values, or its values as text where their type has no order."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _ranks(column.unify_dictionaries().combine_chunks())
    if pa.types.is_nested(kind) or pa.types.is_null(kind):
        return pa.chunked_array([[repr(value) for value in column.to_pylist()]], type=pa.string())
    return column


def _ranks(column: pa.Array) -> pa.ChunkedArray:
    """Where the value of every cell stands among the sorted values: numbers sort faster than text."""
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0)
    ranks = compute.rank(column.dictionary, tiebreaker="dense")
    return pa.chunked_array([ranks.take(column.indices)])
