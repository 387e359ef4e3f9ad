"""A policy stated in Python: names and types from the source's schema, the rest from the owner, nothing from rows.

What is plain is taken as it is meant: a number for a budget, a pair for bounds, a word for a type. What could mean two
things is refused, such as a list of two numbers, which could be bounds or keys.

>>> import pyarrow as pa
>>> table = stated_policy(pa.table({"id": [1], "age": [30], "ward": ["A"]}), table="people", unit="id", budget=1,
...                       columns={"age": (0, 110), "ward": {"keys": ["A", "B"]}})
>>> table.budget.epsilon, table.columns[1].bounds, table.columns[2].keys
(Fraction(1, 1), (0, 110), ('A', 'B'))
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, TypedDict

import pyarrow as pa

from discreet.catalog.budget import BudgetStated
from discreet.catalog.column import Column
from discreet.catalog.csv_format import CSVFormat
from discreet.catalog.draft import type_of
from discreet.catalog.literal import ColumnType, parsed
from discreet.catalog.policy_file import read as read_policy
from discreet.catalog.schema import Schema, schema_of, schema_of_arrow
from discreet.catalog.suggestion import suggestion
from discreet.catalog.table import ForeignKey, Table
from discreet.errors import InvalidType, InvalidValue
from discreet.privacy.neighbours import Neighbours

__all__ = ["CapsStated", "ColumnFacts", "ColumnStated", "KeyStated", "UnitStated", "policy_of", "stated_policy"]

StatedValue = int | float | str | bool | Fraction | Decimal | date
"""A value that an owner states; dates and timestamps may be written as text, 2024-12-31."""


class ColumnFacts(TypedDict, total=False):
    """What is public about a column, in the words of policy files; what is left out is unknown."""

    type: ColumnType | str
    """integer, real, text, boolean, date or timestamp; needed for CSV files, which state none."""
    lower: StatedValue
    """The least value that counts."""
    upper: StatedValue
    """The greatest value that counts."""
    keys: Iterable[StatedValue | None]
    """Every value that may appear as a group; None among them lists the group of missing values."""
    keys_from: str
    """A public table and its column that hold these values: ``icd10.code``."""
    nullable: bool
    """Whether values may be missing."""
    default: StatedValue
    """What stands in for a missing value."""
    constant_per_unit: bool
    """Whether all rows of a unit hold the same value."""
    rows_per_key: int
    """How many rows of a unit with one value count in full."""
    description: str
    """A sentence for analysts."""


ColumnStated = ColumnFacts | tuple[StatedValue, StatedValue] | ColumnType | str
"""What can be written about a column: its facts, a pair of bounds, or its type."""
UnitStated = str | Mapping[str, str]
"""A column, or ``row``; ``{"column": "row"}`` and ``{"each": "row"}`` where a column has that name."""
CapsStated = Mapping[str, BudgetStated | None]
"""Per analyst a cap; None, or the word all, for all that the table has."""
KeyStated = ForeignKey | Mapping[str, str]
"""A foreign key: ``{"column": "order_id", "table": "orders", "other_column": "id"}``."""

_EACH_ROW = "row"
_COLUMN_FORM = '(0, 110) for bounds, {"keys": ["A", "B"]} for keys, "integer" for a type'


def policy_of(source: Any, policy: Table | str | os.PathLike[str] | None, stated: Mapping[str, Any]) -> Table:
    """A policy that was passed whole, or as its file, or stated in words; what is None was not stated."""
    given = {name: fact for name, fact in stated.items() if fact is not None}
    if policy is None:
        return stated_policy(source, **given)
    if given:
        rule = "a policy is passed whole or stated in words, not both"
        raise InvalidValue(rule, min(given), "put it into the policy")
    if isinstance(policy, (Table, str, os.PathLike)):
        return policy if isinstance(policy, Table) else read_policy(policy)
    rule = "a policy must be a Table or the path of a policy file"
    raise InvalidType(rule, policy, "state it in words: unit=, budget=, columns=")


def stated_policy(
    source: Any,
    *,
    table: str | None = None,
    unit: UnitStated | None = None,
    columns: Mapping[str, ColumnStated] | None = None,
    budget: BudgetStated | None = None,
    rows_per_unit: int | None = None,
    groups_per_unit: int | None = None,
    rows_after_joins: int | None = None,
    neighbours: Neighbours | str | None = None,
    analysts: CapsStated | None = None,
    foreign_keys: Sequence[KeyStated] | None = None,
    csv: CSVFormat | Mapping[str, Any] | None = None,
    public: bool | None = None,
    description: str | None = None,
) -> Table:
    """The policy of ``source`` in the words of policy files.

    ``unit`` names the column of the person, or is ``"row"`` where every row is a person. ``columns`` states what is
    public about some columns, such as ``{"age": (0, 110), "ward": {"keys": ["A", "B"]}}``; the others are known by
    their type.
    """
    name = _name(source) if table is None else table
    if unit is None and not public and not foreign_keys:
        rule = f"{name}: whose privacy is protected must be said"
        raise InvalidValue(rule, "<no unit>", 'pass unit="patient_id", or unit="row", or a policy')
    schema = _schema(source, None if csv is None else CSVFormat.of(csv))
    more: dict[str, Any] = {
        "budget": budget,
        "rows_per_unit": rows_per_unit,
        "groups_per_unit": groups_per_unit,
        "rows_after_joins": rows_after_joins,
        "neighbours": neighbours,
        "analysts": analysts,
        "foreign_keys": foreign_keys,
        "csv": csv,
        "public": public,
        "description": description,
    }
    given = {field: fact for field, fact in more.items() if fact is not None}
    return Table(name, _columns(name, schema, columns), unit=_unit(name, unit, schema), **given)


def _name(source: Any) -> str:
    if isinstance(source, (str, os.PathLike)):
        return Path(source).stem
    raise InvalidValue("a table must have a name", f"<a source of type {type(source).__name__}>", 'pass table="visits"')


def _schema(source: Any, csv: CSVFormat | None) -> Schema:
    library = type(source).__module__.partition(".")[0]
    if library == "pandas" and hasattr(source, "iloc"):
        return schema_of_arrow(pa.Schema.from_pandas(source, preserve_index=False))
    if library == "polars" and hasattr(source, "collect_schema"):
        return schema_of_arrow(source.head(0).lazy().collect().to_arrow().schema)
    if isinstance(source, (str, os.PathLike)) or hasattr(source, "schema"):
        return schema_of(source, csv)
    raise InvalidType("names and types cannot be read from this source", f"<{type(source).__name__}>", "pass a policy")


def _unit(table: str, stated: Any, schema: Schema) -> Any:
    """The column that names the person; None where every row is one, or a foreign key leads to the person."""
    if isinstance(stated, Mapping):
        if dict(stated) == {"each": _EACH_ROW}:
            return None
        if stated.keys() == {"column"}:
            return stated["column"]
        raise InvalidValue(f'{table}: unit must be {{"column": NAME}} or {{"each": "row"}}', dict(stated))
    if stated == _EACH_ROW and _EACH_ROW in (name.casefold() for name in schema.columns):
        remedy = 'write unit={"column": "row"} or unit={"each": "row"}'
        raise InvalidValue(f"{table}: unit must be clear: there is a column of the name row too", stated, remedy)
    return None if stated == _EACH_ROW else stated


# Columns ----------------------------------------------------------------------------------------------------------


def _columns(table: str, schema: Schema, stated: Any) -> tuple[Column, ...]:
    if stated is not None and not isinstance(stated, Mapping):
        rule = f"{table}: columns must be names with what is public about them"
        raise InvalidType(rule, stated, 'write {"age": (0, 110)}')
    known, given = schema.columns, {str(name): facts for name, facts in (stated or {}).items()}
    unknown = sorted(given.keys() - known.keys())
    if unknown:
        raise InvalidValue(f"{table}: there is no such column", unknown[0], suggestion(unknown[0], list(known)))
    return tuple(_column(f"{table}.{name}", name, schema, _facts(f"{table}.{name}", given.get(name))) for name in known)


def _facts(label: str, stated: Any) -> dict[str, Any]:
    """What was said about a column, in the words of policy files."""
    if isinstance(stated, (str, ColumnType)):
        return {"type": stated}
    if isinstance(stated, tuple) and len(stated) == 2:
        return {"lower": stated[0], "upper": stated[1]}
    if stated is not None and not isinstance(stated, Mapping):
        raise InvalidType(f"{label}: what is public about a column must be clear", stated, f"write {_COLUMN_FORM}")
    facts = dict(stated or {})
    unknown = sorted(str(name) for name in facts.keys() - ColumnFacts.__annotations__.keys())
    if unknown:
        rule = f"{label}: a column has no such fact"
        raise InvalidValue(rule, unknown[0], suggestion(unknown[0], list(ColumnFacts.__annotations__)))
    return facts


def _column(label: str, name: str, schema: Schema, facts: dict[str, Any]) -> Column:
    words = schema.columns[name]
    kind = ColumnType.of(facts.pop("type")) if "type" in facts else _type(label, words, schema, facts)
    if kind is None:
        raise InvalidValue(f"{label}: its type must be said", f"<{words}>", 'columns={…: "text"}')
    given = {fact: _value(kind, value, f"{label}: {fact}") for fact, value in facts.items() if fact in _VALUES}
    if "keys" in facts:
        given["keys"] = _keys(kind, facts["keys"], label)
    return Column(name, kind, **{**facts, **given})


_VALUES = ("lower", "upper", "default")


def _type(label: str, words: str, schema: Schema, facts: Mapping[str, Any]) -> ColumnType | None:
    if not schema.types_are_stated and facts.keys() & {"lower", "upper"}:
        example = ", ".join(f'"{end}": {facts[end]!r}' for end in ("lower", "upper") if end in facts)
        remedy = f'write {{"type": "integer", {example}}}, or "real", "date", "timestamp"'
        raise InvalidValue(f"{label}: a CSV file states no types, and bounds need one", "<no type>", remedy)
    return type_of(words)


def _value(kind: ColumnType, value: Any, label: str) -> Any:
    """A value as a policy takes it: numbers of NumPy are numbers, and dates may be written as text."""
    if type(value).__module__.partition(".")[0] == "numpy" and hasattr(value, "item"):
        value = value.item()
    return parsed(kind, value, label) if isinstance(value, str) and kind.is_ordered else value


def _keys(kind: ColumnType, stated: Any, label: str) -> tuple[Any, ...]:
    if isinstance(stated, (str, bytes, Mapping)) or not isinstance(stated, Iterable):
        raise InvalidType(f"{label}: keys must be a list of values", stated, 'write ["A", "B"]')
    return tuple(_value(kind, key, f"{label}: a key") for key in stated)
