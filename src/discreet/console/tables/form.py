"""What an owner fills in about a table, and the policy that it says, also while it is not right yet."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from discreet.catalog.column import ColumnType
from discreet.catalog.policy.write import Schema, find_type, scalar
from discreet.errors import Problem

__all__ = ["ColumnForm", "PolicyForm", "PreviewLine", "first_form", "policy_text", "preview_lines"]


_PLAIN = re.compile(r"[\w.+-]+( [\w.+-]+)*")
_RESOLVER: Any = yaml.resolver.Resolver()
_TEXT = "tag:yaml.org,2002:str"


@dataclass(frozen=True)
class ColumnForm:
    """What is filled in about one column."""

    name: str
    """The column."""
    type: ColumnType | None
    """Its type; None for one that a policy has no type for."""
    is_named: bool = True
    """Whether analysts may name it; what is left out is not taken in."""
    lower: str = ""
    """The least value that is public to be possible, as it was typed."""
    upper: str = ""
    """The greatest."""
    keys: str = ""
    """The public values, with commas or on lines."""
    nullable: bool = True
    """Whether a cell may be missing."""
    constant_per_unit: bool = False
    """Whether it is the same in all rows of a person."""
    rows_per_key: str = ""
    """How many rows of a person count in each group by it, as it was typed; nothing for all that count."""


@dataclass(frozen=True)
class PolicyForm:
    """What is filled in about a table."""

    table: str
    """Its name."""
    columns: tuple[ColumnForm, ...]
    """Its columns."""
    types_are_stated: bool = True
    """Whether the file states the types; a CSV file does not."""
    unit: str = ""
    """The column that names the person, ``row``, or nothing while nobody chose."""
    neighbours: str = "add-remove-one"
    """What is hidden about a person."""
    epsilon: str = "1"
    """What all analysts together may spend."""
    delta: str = ""
    """The δ beside it; empty for none."""
    rows_per_unit: str = "1"
    """How many rows of a person count in full."""
    groups_per_unit: str = ""
    """How many groups with unlisted keys one person can make visible; empty for as many as rows count."""
    description: str = ""
    """What analysts should know about it."""


def first_form(name: str, schema: Schema) -> PolicyForm:
    """The form of a file whose names and types are known, and nothing else."""
    columns = (ColumnForm(column, find_type(words)) for column, words in schema.columns.items())
    kept = tuple(ColumnForm(one.name, one.type, is_named=one.type is not None) for one in columns)
    return PolicyForm(re.sub(r"\W+", "_", name).strip("_") or "table", kept, schema.types_are_stated)


def policy_text(form: PolicyForm) -> str:
    """The policy in YAML: what is empty in the form is blank in the text, so that its place can be shown."""
    budget = {"epsilon": form.epsilon, "delta": form.delta}
    lines = [
        f"table: {_value(form.table)}",
        *([f"description: {scalar(form.description)}"] if form.description else []),
        f"unit: {_unit(form)}",
        f"neighbours: {_value(form.neighbours)}",
        f"budget: {_flow((name, _value(text, is_text=False)) for name, text in budget.items() if text)}",
        f"rows_per_unit: {_value(form.rows_per_unit, is_text=False)}",
        *([f"groups_per_unit: {_value(form.groups_per_unit, is_text=False)}"] if form.groups_per_unit else []),
        "columns:",
        *(f"  {scalar(one.name)}: {_flow(_facts(one))}" for one in form.columns if one.is_named),
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _unit(form: PolicyForm) -> str:
    """A column called row is spelled out, because row alone says that every row is a person of its own."""
    if form.unit.casefold() == "row" and any(one.name == form.unit for one in form.columns):
        return f"{{column: {_value(form.unit)}}}"
    return _value(form.unit)


def _facts(column: ColumnForm) -> Iterator[tuple[str, str]]:
    kind = column.type or ColumnType.TEXT
    is_text = kind is ColumnType.TEXT
    yield "type", kind.value
    for name, bound in (("lower", column.lower), ("upper", column.upper)):
        if bound.strip():
            yield name, _value(bound.strip(), is_text=is_text)
    keys = [key.strip() for key in re.split(r"[,\n]", column.keys) if key.strip()]
    if keys:
        yield "keys", f"[{', '.join(_value(key, is_text=is_text) for key in keys)}]"
    if not column.nullable:
        yield "nullable", "false"
    if column.constant_per_unit:
        yield "constant_per_unit", "true"
    if column.rows_per_key.strip():
        yield "rows_per_key", _value(column.rows_per_key.strip(), is_text=False)


def _flow(entries: Iterator[tuple[str, str]]) -> str:
    return "{" + ", ".join(f"{name}: {text}" for name, text in entries) + "}"


def _value(text: str, *, is_text: bool = True) -> str:
    """A value as YAML reads it back, in quotes where it needs them."""
    if not text:
        return ""
    is_plain = _PLAIN.fullmatch(text) is not None and not text.startswith(("-", "+", "."))
    if not is_text and (is_plain or _PLAIN.fullmatch(text.lstrip("+-."))):
        return text
    reads_as_text = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False)) == _TEXT
    return text if is_plain and reads_as_text else json.dumps(text, ensure_ascii=not text.isprintable())


# The preview ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PreviewLine:
    """One line of a policy, with what is wrong in it."""

    number: int
    """Its number, from 1."""
    text: str
    """What it says."""
    problems: tuple[str, ...]
    """What is wrong, each in a sentence."""


def preview_lines(text: str, problems: Sequence[Problem]) -> list[PreviewLine]:
    """The lines of a policy with the problems of each; one without a place is said in the first line."""
    found: dict[int, list[str]] = {}
    for problem in problems:
        words = str(Problem(problem.rule, problem.value, problem.remedy))
        found.setdefault(problem.line or 1, []).append(words)
    lines = text.splitlines()
    return [PreviewLine(number, line, tuple(found.get(number, ()))) for number, line in enumerate(lines, 1)]
