"""From a table to the text of its policy file, which reads back as the same table.

A first policy, written from the names and types of columns alone, never from a value.

A draft that looked at the rows would publish something about them: bounds show the oldest patient, keys show the rare
disease, a guessed type shows that no cell holds a word. So the draft leaves blank what only the owner can say, and a
draft that was not filled in is refused with a list of what is missing.

The schema of a source: names and types of columns, found without reading a row.

A Parquet file, an Arrow table and a DuckDB table state their types. A CSV file states none, so only its first line is
read, and every column counts as text until its owner says otherwise. The names in that line are taken to be public;
a first line that looks like a row is refused.
"""

from __future__ import annotations

import csv as csv_files
import io
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import yaml

from discreet.catalog.budget import Budget
from discreet.catalog.column import Column, ColumnType, Value, number_text, write_literal
from discreet.catalog.names import check_name
from discreet.catalog.period import TimeColumn
from discreet.catalog.policy.csv_format import CSVFormat
from discreet.catalog.table import ROWS_AFTER_JOINS, ForeignKey, Table
from discreet.errors import InvalidInput, InvalidType, InvalidValue

__all__ = [
    "Schema",
    "csv_text",
    "draft",
    "find_type",
    "read_schema",
    "scalar",
    "schema_of_arrow",
    "schema_of_csv",
    "schema_of_duckdb",
    "schema_of_parquet",
    "write_policy_text",
]


_WIDTH = 110
_RESOLVER: Any = yaml.resolver.Resolver()
_TEXT = "tag:yaml.org,2002:str"


def write_policy_text(table: Table) -> str:
    """The policy of ``table`` as YAML."""
    return _serialized(_block(_table(table)))


def scalar(text: str) -> str:
    """``text`` as YAML on one line, in quotes where it could be read as something else."""
    return _serialized(_quotable(text), width=10**9).removesuffix("\n").removesuffix("\n...")


def csv_text(stated: CSVFormat) -> str:
    """A format of CSV files as YAML on one line."""
    return _serialized(_csv_format(stated), width=10**9).removesuffix("\n")


def _serialized(node: Any, width: int = _WIDTH) -> str:
    # The emitter in Python, not the one in C: the two fold lines differently, and one table has one text.
    return str(yaml.serialize(node, Dumper=yaml.SafeDumper, allow_unicode=True, width=width))


# Parts of a policy ------------------------------------------------------------------------------------------------


def _table(table: Table) -> Iterable[tuple[str, Any]]:
    yield "table", _quotable(table.name)
    if table.description:
        yield "description", _quotable(table.description)
    if table.public:
        yield "public", _plain("true")
    else:
        yield from _promise(table)
    if table.foreign_keys:
        yield "foreign_keys", _list([_foreign_key(key) for key in table.foreign_keys], flow=False)
    if table.csv is not None:
        yield "csv", _csv_format(table.csv)
    yield "columns", _block((column.name, _column(column)) for column in table.columns)


def _promise(table: Table) -> Iterable[tuple[str, Any]]:
    if table.time is not None:
        yield "time", _time(table.time)
    if table.unit is not None or not table.foreign_keys:
        yield "unit", _unit(table)
    yield "neighbours", _plain(str(table.neighbours))
    if table.budget is not None:
        per = [] if table.budget_per is None else [("per", _plain(table.budget_per.value))]
        lifetime = [] if table.lifetime is None else [("lifetime", _budget(table.lifetime))]
        yield "budget", _budget(table.budget, *per, *lifetime)
    yield "rows_per_unit", _plain(str(table.rows_per_unit))
    if table.groups_per_unit is not None:
        yield "groups_per_unit", _plain(str(table.groups_per_unit))
    if table.rows_after_joins != ROWS_AFTER_JOINS:
        yield "rows_after_joins", _plain(str(table.rows_after_joins))
    if table.analysts:
        caps = table.analysts.items()
        yield "analysts", _block((name, _plain("all") if cap is None else _budget(cap)) for name, cap in caps)


def _unit(table: Table) -> Any:
    """The column, or ``row``; spelled out where a column of the name row could be meant."""
    named = [] if table.unit_name is None else [("name", _quotable(table.unit_name))]
    granted = [] if table.unit_budget is None else [("budget", _budget(table.unit_budget))]
    if table.unit_per is not None:
        granted.append(("per", _plain(table.unit_per.value)))
    if table.unit is None:
        is_plain = table.column("row") is None and not granted
        return _plain("row") if is_plain else _flow([("each", _plain("row")), *granted])
    is_plain = table.unit != "row" and not named and not granted
    return _quotable(table.unit) if is_plain else _flow([*named, ("column", _quotable(table.unit)), *granted])


def _time(time: TimeColumn) -> Any:
    stated = [("column", _quotable(time.column)), ("every", _plain(time.every.value))]
    stated.append(("from", _plain(time.first.isoformat())))
    if time.zone != TimeColumn.zone:
        stated.append(("zone", _quotable(time.zone)))
    if time.grace:
        stated.append(("grace", _plain(f"{time.grace} {'day' if time.grace == 1 else 'days'}")))
    return _flow(stated)


def _budget(budget: Budget, *more: tuple[str, Any]) -> Any:
    named = [("epsilon", budget.epsilon)]
    if budget.delta:
        named.append(("delta", budget.delta))
    if budget.delta_for_keys:
        named.append(("delta_for_keys", budget.delta_for_keys))
    return _flow([*((name, _plain(number_text(value))) for name, value in named), *more])


def _csv_format(stated: CSVFormat) -> Any:
    facts = {
        "delimiter": stated.delimiter,
        "decimal": stated.decimal,
        "thousands": stated.thousands,
        "dates": stated.dates,
        "timestamps": stated.timestamps,
        "encoding": None if stated.encoding == CSVFormat.encoding else stated.encoding,
    }
    written_nulls = [("nulls", _list([_quotable(word) for word in stated.nulls], flow=True))] if stated.nulls else []
    return _flow([*((name, _quotable(value)) for name, value in facts.items() if value is not None), *written_nulls])


def _foreign_key(key: ForeignKey) -> Any:
    named = [("column", key.column), ("table", key.table), ("other_column", key.other_column)]
    return _flow((name, _quotable(value)) for name, value in named)


def _column(column: Column) -> Any:
    stated: list[tuple[str, Any]] = [("type", _plain(column.type.value))]
    bounds = [("lower", column.lower), ("upper", column.upper)]
    stated += [(name, _literal(value)) for name, value in bounds if value is not None]
    if column.keys is not None:
        keys = [_plain("null") if key is None else _literal(key) for key in column.keys]
        stated.append(("keys", _list(keys, flow=True)))
    if column.keys_from is not None:
        stated.append(("keys_from", _quotable(column.keys_from)))
    if column.nullable is not None:
        stated.append(("nullable", _plain("true" if column.nullable else "false")))
    if column.default is not None:
        stated.append(("default", _literal(column.default)))
    if column.constant_per_unit:
        stated.append(("constant_per_unit", _plain("true")))
    if column.rows_per_key is not None:
        stated.append(("rows_per_key", _plain(str(column.rows_per_key))))
    if column.description:
        stated.append(("description", _quotable(column.description)))
    return _flow(stated)


# Parts of YAML ----------------------------------------------------------------------------------------------------


def _literal(value: Value) -> Any:
    # The colons of a timestamp need quotes inside braces.
    return _quotable(write_literal(value)) if isinstance(value, (str, datetime)) else _plain(write_literal(value))


def _quotable(text: str) -> Any:
    """Text, which the emitter quotes when it would read as a number, a date, a truth or nothing."""
    style = None if text.isprintable() else '"'  # the one style that escapes every kind of line break
    return yaml.ScalarNode(_TEXT, text, style=style)


def _plain(text: str) -> Any:
    """Text of ours that needs no quotes, whatever YAML takes it for."""
    return yaml.ScalarNode(_RESOLVER.resolve(yaml.ScalarNode, text, (True, False)), text)


def _flow(entries: Iterable[tuple[str, Any]]) -> Any:
    return _mapping(entries, flow=True)


def _block(entries: Iterable[tuple[str, Any]]) -> Any:
    return _mapping(entries, flow=False)


def _mapping(entries: Iterable[tuple[str, Any]], *, flow: bool) -> Any:
    nodes = [(_quotable(name), node) for name, node in entries]
    return yaml.MappingNode("tag:yaml.org,2002:map", nodes, flow_style=flow)


def _list(items: list[Any], *, flow: bool) -> Any:
    return yaml.SequenceNode("tag:yaml.org,2002:seq", items, flow_style=flow)


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
# Where rows keep coming: how long the periods are that close one by one, and the day on which the first begins. Where
# the unit is a row, or {column: …, per: week}, every period has a budget of its own.
# time: {column: …, every: week, from: 2026-01-05}
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
    check_name(name, "a table's name")
    kept: dict[str, ColumnType] = {}
    left_out: list[str] = []
    for column, words in schema.items():
        kind, reason = find_type(words), _fault(column, kept)
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


def find_type(words: str) -> ColumnType | None:
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
        check_name(column, "a name")
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


_LONGEST_HEADER = 2**20
_DELIMITERS = ",;\t|"
_NUMBER = re.compile(r"\s*[+-]?(\d[\d.,]*|\.\d+)([eE][+-]?\d+)?\s*")
_COLUMNS_OF_TABLE = """
    SELECT column_name, data_type FROM duckdb_columns()
    WHERE database_name = current_database()
      AND lower(schema_name) = lower(CASE ? WHEN '' THEN current_schema() ELSE ? END) AND lower(table_name) = lower(?)
    ORDER BY column_index"""
_CSV_SUFFIXES = (".csv", ".tsv", ".txt")


@dataclass(frozen=True)
class Schema:
    """Names and types of columns, in order."""

    columns: Mapping[str, str]
    """DuckDB's word for the type of each column."""
    types_are_stated: bool = True
    """Whether the source states its types; a CSV file does not."""


def read_schema(source: str | os.PathLike[str] | Any, csv: CSVFormat | None = None) -> Schema:
    """The schema of a CSV or Parquet file, by its suffix, or of an Arrow object."""
    if not isinstance(source, (str, os.PathLike)):
        return schema_of_arrow(source)
    suffix = Path(source).suffix.lower()
    if suffix in _CSV_SUFFIXES:
        stated = CSVFormat() if csv is None else csv
        return schema_of_csv(source, stated.delimiter, stated.encoding)
    if suffix in (".parquet", ".pq"):
        return schema_of_parquet(source)
    raise InvalidValue("a source must be a .csv, .tsv or .parquet file", str(source), "or pass an Arrow table")


def schema_of_csv(path: str | os.PathLike[str], delimiter: str | None = None, encoding: str = "utf-8") -> Schema:
    """The names in the first line of a CSV file; no other line is read."""
    names = _names(_first_line(Path(path), "utf-8-sig" if encoding == "utf-8" else encoding), delimiter)
    _refuse_a_row(names)
    return Schema(dict.fromkeys(names, "VARCHAR"), types_are_stated=False)


def schema_of_parquet(path: str | os.PathLike[str]) -> Schema:
    """The names and types in the footer of a Parquet file; no row group is read."""
    with duckdb.connect() as connection:
        return _described(connection, "SELECT * FROM read_parquet(?)", [os.fspath(path)])


def schema_of_duckdb(connection: duckdb.DuckDBPyConnection, table: str) -> Schema:
    """The names and types of a DuckDB table or view, ``visits`` or ``main.visits``."""
    schema, _, name = table.rpartition(".")
    # The system's own list, because FROM "visits" could also find a file or a Python variable of that name.
    rows = connection.execute(_COLUMNS_OF_TABLE, [schema, schema, name]).fetchall()
    if not rows:
        raise InvalidValue("a source must be a table of the database", table)
    return Schema(dict(rows))


def schema_of_arrow(source: Any) -> Schema:
    """The names and types of an Arrow table, reader, dataset or schema, asked of a table without rows."""
    schema = getattr(source, "schema", source)
    if not hasattr(schema, "empty_table"):
        raise InvalidType("a source must be a path or an Arrow table", f"<{type(source).__name__}>")
    with duckdb.connect() as connection:
        connection.register("source", schema.empty_table())
        return _described(connection, "FROM source")


def _described(connection: duckdb.DuckDBPyConnection, query: str, values: list[str] | None = None) -> Schema:
    try:
        rows = connection.execute(f"DESCRIBE {query}", values or []).fetchall()
    except duckdb.Error as wrong:
        first, *_ = str(wrong).splitlines()
        raise InvalidValue("a source must be there and state its columns", f"<{first}>") from None
    return Schema({name: kind for name, kind, *_ in rows})


# The first line of a CSV file -------------------------------------------------------------------------------------


def _first_line(path: Path, encoding: str) -> str:
    with path.open("rb") as file:
        start = io.BytesIO(file.readline(_LONGEST_HEADER) if encoding == "utf-8-sig" else file.read(_LONGEST_HEADER))
    try:
        line = io.TextIOWrapper(start, encoding=encoding, newline="").readline()
    except UnicodeDecodeError:
        rule = f"a CSV file must be text in {encoding.removesuffix('-sig').upper()}"
        raise InvalidValue(rule, "<something else>", "say csv: {encoding: latin-1}, or save it as UTF-8") from None
    if len(line) == _LONGEST_HEADER:
        raise InvalidValue("the first line of a CSV file must be shorter than 1 MiB", "<a longer one>")
    return line.rstrip("\r\n")


def _names(header: str, delimiter: str | None) -> list[str]:
    # The delimiter is guessed from the header alone; guessing from rows would let a row change the names.
    mark = delimiter or max(_DELIMITERS, key=header.count)
    try:
        return next(csv_files.reader([header], delimiter=mark, strict=True), [])
    except csv_files.Error:
        raise InvalidValue(
            "the names in a CSV file must be on its first line, with their quotes closed", None
        ) from None


def _refuse_a_row(names: list[str]) -> None:
    """A file without a header would publish its first row as names."""
    for place, name in enumerate(names, start=1):
        if not name.strip() or _NUMBER.fullmatch(name):
            remedy = "add a line with the names of the columns"
            raise InvalidValue(
                "a CSV file must start with the names of its columns", f"<a value in place {place}>", remedy
            )
    if not names or len(set(names)) != len(names):
        raise InvalidValue("a CSV file must start with different names, at least one", f"<{len(names)} names>")
