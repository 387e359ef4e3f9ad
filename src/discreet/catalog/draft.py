"""A first policy, written from the names and types of columns alone, never from a value.

A draft that looked at the rows would publish something about them: bounds show the oldest patient, keys show the rare
disease, a guessed type shows that no cell holds a word. So the draft leaves blank what only the owner can say, and a
draft that was not filled in is refused with a list of what is missing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from discreet.catalog.csv_format import CSVFormat
from discreet.catalog.literal import ColumnType
from discreet.catalog.names import checked_name
from discreet.catalog.policy_writer import csv_text, scalar
from discreet.errors import InvalidInput

__all__ = ["draft", "type_of"]

_WORDS = {
    ColumnType.INTEGER: "tinyint smallint integer bigint hugeint utinyint usmallint uinteger ubigint uhugeint "
    "int1 int2 int4 int8 int short long signed int16 int32 int64 int128 uint8 uint16 uint32 uint64 uint128",
    ColumnType.REAL: "decimal numeric dec float real double float4 float8 double precision",
    ColumnType.TEXT: "varchar text string char bpchar nvarchar uuid enum character varying",
    ColumnType.BOOLEAN: "boolean bool logical",
    ColumnType.DATE: "date date32 date64",
    ColumnType.TIMESTAMP: "timestamp datetime timestamptz timestamp_s timestamp_ms timestamp_us timestamp_ns",
}
_TYPE_OF_WORD = {word: kind for kind, words in _WORDS.items() for word in words.split()}

_HINTS = {
    ColumnType.INTEGER: "lower and upper allow SUM and AVG; keys make its groups public",
    ColumnType.REAL: "lower and upper allow SUM and AVG",
    ColumnType.TEXT: "keys make its groups public",
    ColumnType.BOOLEAN: "its groups are public",
    ColumnType.DATE: "lower and upper, as 2024-12-31, make its months and years public groups",
    ColumnType.TIMESTAMP: "lower and upper, as '2024-12-31T23:59:59Z', make its months and years public groups",
}

_HEAD = """\
# A first policy, written from the names and types of the columns alone: no value of the table was read.
# Fill in what is blank. State bounds and keys from what everybody may know, never by looking at the rows:
# a bound taken from the rows publishes the largest value, and a list of keys publishes who is there."""

_PROMISE = """\
# Whose privacy is protected: the column that names the person, or row when every row is a person of its own.
unit:
# add-remove-one hides whether a person is there; replace-one takes the number of people to be public.
neighbours: add-remove-one
# What all analysts together may spend: an epsilon such as 1, or {epsilon: 3, delta: 1e-6}. Keep delta far below one
# in the number of people.
budget:
# How many rows of one person count in full; the rows of people with more share this weight.
rows_per_unit: 1
# How many groups with unlisted keys one person can make visible: as many as rows_per_unit, unless you say fewer.
# groups_per_unit: 1
# Who may ask, and up to which cap of their own:
# analysts:
#   ann: {epsilon: 0.5}
#   bob: all"""

_CSV_NOTE = """\
# A CSV file does not state types, and guessing them would read the rows, so every column is text until you say
# otherwise: integer, real, boolean, date or timestamp."""


_SAMPLE_NOTE = """\
# Types, and csv where it stands below, were guessed from {}, which you said is public or made up."""


def draft(
    name: str,
    schema: Mapping[str, str],
    *,
    types_are_stated: bool = True,
    unit: str | None = None,
    budget: str | None = None,
    csv: CSVFormat | None = None,
    sample: str | None = None,
) -> str:
    """The text of a first policy for the table ``name``.

    ``schema`` maps each column to its type in DuckDB's words (``BIGINT``, ``DECIMAL(10,2)``, ``TIMESTAMP WITH TIME
    ZONE``). ``types_are_stated`` is False for a CSV file, whose columns are all text until the owner says otherwise:
    to sniff a type is to read the rows, and one person's cell could change it. ``unit`` and ``budget`` are left blank
    where they are not said. ``sample`` names a public file that types and ``csv`` were guessed from.
    """
    checked_name(name, "a table's name")
    kept: dict[str, ColumnType] = {}
    left_out: list[str] = []
    for column, words in schema.items():
        kind, reason = type_of(words), _fault(column, kept)
        if kind is None:
            left_out.append(f"{_shown(column)}: no column type stands for {_base(words).upper()}")
        elif reason:
            left_out.append(f"{_shown(column)}: {reason}")
        else:
            kept[column] = kind
    promise = _filled(_filled(_PROMISE, "unit", unit), "budget", budget)
    note = [] if types_are_stated else [_CSV_NOTE]
    spelled = [] if csv is None else [f"csv: {csv_text(csv)}"]
    if sample is not None:
        note = [_SAMPLE_NOTE.format(_shown(sample))]
    parts = [_HEAD, f"table: {scalar(name)}", promise, *note, *spelled, *_columns(kept), *_left_out(left_out)]
    return "\n".join(parts) + "\n"


def _filled(promise: str, field: str, value: str | None) -> str:
    return promise if value is None else promise.replace(f"\n{field}:\n", f"\n{field}: {scalar(value)}\n")


def type_of(words: str) -> ColumnType | None:
    """The type that DuckDB's words stand for; None where a policy has none."""
    return _TYPE_OF_WORD.get(_base(words))


def _base(words: str) -> str:
    """The first word of a type, which is all that is ever shown of it: an ENUM goes on to list values."""
    if words.rstrip().endswith("]"):
        return "list"
    match = re.match(r"\w+", words.strip())
    return match.group().lower() if match else "unknown"


def _fault(column: str, kept: Mapping[str, ColumnType]) -> str:
    """Why a column cannot be named in a policy; empty when it can."""
    try:
        checked_name(column, "a name")
    except InvalidInput as refused:
        return refused.rule
    is_taken = column.casefold() in (name.casefold() for name in kept)
    return "another column has this name but for the case" if is_taken else ""


def _columns(kept: Mapping[str, ColumnType]) -> list[str]:
    if not kept:
        return ["columns: {}"]
    return ["columns:"] + [f"  {scalar(name)}: {{type: {kind.value}}}  # {_HINTS[kind]}" for name, kind in kept.items()]


def _left_out(reasons: list[str]) -> list[str]:
    return ["# Left out; analysts cannot name them:", *(f"#   {reason}" for reason in reasons)] if reasons else []


def _shown(column: str) -> str:
    """A name on one line, so that no name can end the comment it stands in."""
    return scalar(column.encode("utf-8", "replace").decode())
