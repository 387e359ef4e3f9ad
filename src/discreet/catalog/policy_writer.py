"""From a table to the text of its policy file, which reads back as the same table."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import yaml

from discreet.catalog.budget import Budget
from discreet.catalog.column import Column, Value
from discreet.catalog.csv_format import CSVFormat
from discreet.catalog.literal import number_text, written
from discreet.catalog.table import ROWS_AFTER_JOINS, ForeignKey, Table

__all__ = ["csv_text", "scalar", "text_of"]

_WIDTH = 110
_RESOLVER: Any = yaml.resolver.Resolver()
_TEXT = "tag:yaml.org,2002:str"


def text_of(table: Table) -> str:
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
    if table.unit is not None or not table.foreign_keys:
        yield "unit", _unit(table)
    yield "neighbours", _plain(str(table.neighbours))
    if table.budget is not None:
        yield "budget", _budget(table.budget)
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
    if table.unit is None:
        return _plain("row") if table.column("row") is None else _flow([("each", _plain("row"))])
    return _flow([("column", _quotable(table.unit))]) if table.unit == "row" else _quotable(table.unit)


def _budget(budget: Budget) -> Any:
    named = [("epsilon", budget.epsilon)]
    if budget.delta:
        named.append(("delta", budget.delta))
    if budget.delta_for_keys:
        named.append(("delta_for_keys", budget.delta_for_keys))
    return _flow((name, _plain(number_text(value))) for name, value in named)


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
    return _quotable(written(value)) if isinstance(value, (str, datetime)) else _plain(written(value))


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
