"""A policy stated in Python: names and types from the source's schema, the rest from the owner, nothing from rows.

>>> import pyarrow as pa
>>> from discreet.catalog.budget import Budget
>>> table = stated_policy(pa.table({"id": [1], "age": [30]}), table="people", unit="id", budget=Budget(1),
...                       columns={"age": {"lower": 0, "upper": 110}})
>>> table.columns[1].bounds
(0, 110)
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet.catalog.column import Column
from discreet.catalog.draft import type_of
from discreet.catalog.literal import ColumnType
from discreet.catalog.schema import Schema, schema_of, schema_of_arrow
from discreet.catalog.suggestion import suggestion
from discreet.catalog.table import Table
from discreet.errors import InvalidType, InvalidValue

__all__ = ["stated_policy"]

_EACH_ROW = "row"
_MORE = (
    "budget",
    "rows_per_unit",
    "groups_per_unit",
    "rows_after_joins",
    "neighbours",
    "analysts",
    "foreign_keys",
    "public",
    "description",
)
_FACTS = tuple(field.name for field in fields(Column) if field.name != "name")


def stated_policy(
    source: Any,
    *,
    table: str | None = None,
    unit: str | None = None,
    columns: Mapping[str, Mapping[str, Any]] | None = None,
    **more: Any,
) -> Table:
    """The policy of ``source`` in the words of policy files.

    ``unit`` names the column of the person, or is ``"row"`` where every row is a person. ``columns`` states what is
    public about some columns, such as ``{"age": {"lower": 0, "upper": 110}}``; the others are known by their type.
    """
    name = _name(source) if table is None else table
    unknown = sorted(more.keys() - set(_MORE))
    if unknown:
        raise InvalidValue(f"{name}: a policy has no such field", unknown[0], suggestion(unknown[0], list(_MORE)))
    if unit is None and not more.get("public") and not more.get("foreign_keys"):
        rule = f"{name}: whose privacy is protected must be said"
        raise InvalidValue(rule, "<no unit>", 'pass unit="patient_id", or unit="row", or a policy')
    schema, stated = _schema(source), dict(columns or {})
    unknown = sorted(stated.keys() - schema.columns.keys())
    if unknown:
        raise InvalidValue(f"{name}: there is no such column", unknown[0], suggestion(unknown[0], list(schema.columns)))
    made = tuple(_column(name, each, words, stated.get(each, {})) for each, words in schema.columns.items())
    return Table(name, made, unit=None if unit == _EACH_ROW else unit, **more)


def _name(source: Any) -> str:
    if isinstance(source, (str, os.PathLike)):
        return Path(source).stem
    raise InvalidValue("a table must have a name", f"<a source of type {type(source).__name__}>", 'pass table="visits"')


def _schema(source: Any) -> Schema:
    library = type(source).__module__.partition(".")[0]
    if library == "pandas" and hasattr(source, "iloc"):
        return schema_of_arrow(pa.Schema.from_pandas(source, preserve_index=False))
    if library == "polars" and hasattr(source, "collect_schema"):
        return schema_of_arrow(source.head(0).lazy().collect().to_arrow().schema)
    if isinstance(source, (str, os.PathLike)) or hasattr(source, "schema"):
        return schema_of(source)
    raise InvalidType("names and types cannot be read from this source", f"<{type(source).__name__}>", "pass a policy")


def _column(table: str, name: str, words: str, facts: Mapping[str, Any]) -> Column:
    unknown = sorted(facts.keys() - set(_FACTS))
    if unknown:
        rule = f"{table}.{name}: a column has no such fact"
        raise InvalidValue(rule, unknown[0], suggestion(unknown[0], list(_FACTS)))
    given: dict[str, Any] = {fact: value for fact, value in facts.items() if fact != "type"}
    if "keys" in given:
        given["keys"] = tuple(given["keys"])
    kind = ColumnType.of(facts["type"]) if "type" in facts else type_of(words)
    if kind is None:
        raise InvalidValue(f"{table}.{name}: its type must be said", f"<{words}>", 'columns={…: {"type": "text"}}')
    return Column(name, kind, **given)
