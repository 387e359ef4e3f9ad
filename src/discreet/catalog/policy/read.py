"""From the text of a policy file to a table, or to everything that is wrong with the file.

The field decides how its text is read, never YAML's guess: ``keys: [no, 007]`` of a text column are two words, and
``epsilon: 0.1`` is one tenth. Quotes change nothing, but for one word: an unquoted ``null`` says nothing.

Where a part cannot be read, a stand-in takes its place, so that the rest is still checked; the stand-in never leaves
this file, because a policy with a problem is refused.

Policy files: one readable YAML file per table, read whole and written whole.

>>> text = '''
... table: visits
... unit: patient_id
... budget: {epsilon: 0.1}
... columns:
...   patient_id: {type: integer}
...   age: {type: integer, lower: 0, upper: 110}
... '''
>>> loads(text).budget.epsilon
Fraction(1, 10)
>>> loads(text.replace("unit:", "unti:"))
Traceback (most recent call last):
    ...
discreet.errors.PolicyError: 2 problems:
- line 2, column 1: a protected table must have the field unit; name the column of the person, or say unit: row
- line 3, column 1: a policy has no such field, got 'unti'; did you mean 'unit'?

Values that could not be read as the type of their column, and what they look like: exact, for the owner alone.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from pathlib import Path
from typing import Any

from discreet.catalog.budget import Budget
from discreet.catalog.catalog import Catalog
from discreet.catalog.column import Column, ColumnType, Value, flag, parse_literal, whole
from discreet.catalog.period import Every, TimeColumn
from discreet.catalog.policy import yaml
from discreet.catalog.policy.csv_format import CSVFormat
from discreet.catalog.policy.fields import Fields, scalar_text
from discreet.catalog.policy.write import write_policy_text
from discreet.catalog.policy.yaml import LARGEST_FILE, Node, Scalar, find_position, parse_yaml
from discreet.catalog.problems import Complaints
from discreet.catalog.table import ForeignKey, Table
from discreet.errors import InvalidInput, PolicyError, Problem
from discreet.exact.rational import rational
from discreet.privacy.neighbours import Neighbours
from discreet.storage.files import write_whole

__all__ = [
    "Look",
    "Policy",
    "UnreadColumn",
    "dumps",
    "loads",
    "read",
    "read_folder",
    "read_text",
    "unread_words",
    "write",
]


# Owners have files with these words, so they stay whatever the fields of classes are called.
_TABLE_FIELDS = (
    "table", "columns", "public", "unit", "time", "neighbours", "budget", "analysts", "rows_per_unit",
    "groups_per_unit", "rows_after_joins", "foreign_keys", "csv", "description",
)  # fmt: skip
_COLUMN_FIELDS = (
    "type", "lower", "upper", "keys", "keys_from", "nullable", "default", "constant_per_unit", "rows_per_key",
    "description",
)  # fmt: skip
_BUDGET_FIELDS = ("epsilon", "delta", "delta_for_keys")
_PERIOD_FIELDS = ("per", "lifetime")
_ABOUT_PERIODS = (("unit",), ("time",), ("budget",), ("columns",))
_TIME_FIELDS = ("column", "every", "from", "zone", "grace")
_CSV_FIELDS = ("delimiter", "decimal", "thousands", "dates", "timestamps", "nulls", "encoding")
_KEY_FIELDS = ("column", "table", "other_column")
_NOT_FOR_PUBLIC = (
    "unit",
    "time",
    "neighbours",
    "budget",
    "analysts",
    "rows_per_unit",
    "groups_per_unit",
    "rows_after_joins",
)

_BUDGET_FORM = "1, {epsilon: 1} or {epsilon: 1, delta: 1e-6}"
_KEY_FORM = "{column: order_id, table: orders, other_column: id}"
_TIME_FORM = "{column: admitted, every: week, from: 2026-01-05}"
_UNIT_REMEDY = "name the column of the person, or say unit: row"


@dataclass(frozen=True)
class Policy:
    """A table as a file states it, and where each field stands, for problems that show up later."""

    table: Table
    """What the file states."""
    root: yaml.Mapping
    """The fields with their places."""
    file: str = ""
    """The name of the file."""

    def placed(self, problem: Problem) -> Problem:
        """The problem with the line and column of the field at its path."""
        return _placed(problem, self.root, self.file)


def read_text(content: bytes | str, file: str = "") -> Policy:
    """The policy in ``content``; a refusal lists every problem with its line and column."""
    raw = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    try:
        tree = parse_yaml(raw)
    except PolicyError as refused:
        raise PolicyError(replace(problem, file=file) for problem in refused.problems) from None
    found = Complaints()
    table = _table(Fields(tree.root, (), found))
    if table is None or found.problems or tree.problems:
        placed = [_placed(problem, tree.root, file) for problem in [*tree.problems, *found.problems]]
        raise PolicyError(sorted(placed, key=lambda problem: (problem.line, problem.column)))
    return Policy(table, tree.root, file)


def _placed(problem: Problem, root: Node, file: str) -> Problem:
    if problem.line is not None:
        return replace(problem, file=file)
    place = find_position(root, problem.path)
    return replace(problem, file=file, line=place.line, column=place.column)


# The table --------------------------------------------------------------------------------------------------------


def _table(top: Fields) -> Table | None:
    top.refuse_unknown(_TABLE_FIELDS, "a policy")
    top.require("table", "a policy", "start with 'table: NAME'")
    name = top.text("table")
    public = bool(top.read("public", flag))
    facts: dict[str, Any] = {
        "name": "table" if name is None else name,
        "description": _prose(top),
        "columns": _columns(top),
        "public": public,
        "csv": _csv_format(top),
    }
    if public:
        _refuse_stated(top)
        facts["foreign_keys"] = _foreign_keys(top)
    else:
        facts |= _promise(top, [column.name for column in facts["columns"] or ()])
    return None if facts["columns"] is None else top.found.checked((), lambda: Table(**facts))


def _refuse_stated(top: Fields) -> None:
    for name in _NOT_FOR_PUBLIC:
        if name in top:
            top.found.say((name,), f"a public table has no {name}", "<one>", "drop it, or drop public")


def _promise(top: Fields, columns: list[str]) -> dict[str, Any]:
    """What a protected table states: whose rows they are, what may be spent, and by whom."""
    known_problems = len(top.found.problems)
    (unit, named), foreign_keys = _unit(top, columns), _foreign_keys(top)
    unit_is_clear = len(top.found.problems) == known_problems
    (budget, periods), analysts = _budget(top), _analysts(top)
    periods |= {"time": _time(top), "unit_per": named.pop("unit_per", None)}
    if any(problem.path[:1] in _ABOUT_PERIODS for problem in top.found.problems):
        periods = {}  # they would be compared with what was not read
    rows = top.read("rows_per_unit", whole)
    facts = {
        "unit": unit,
        **named,
        **periods,
        "foreign_keys": foreign_keys,
        "neighbours": top.read("neighbours", lambda text, _: Neighbours.of(text)),
        "rows_per_unit": rows if unit_is_clear else None,
        "groups_per_unit": top.read("groups_per_unit", whole),
        "rows_after_joins": top.read("rows_after_joins", whole),
        "budget": budget or Budget(1),
        "analysts": analysts if budget else {},  # a cap cannot be compared with a budget that was not read
    }
    return {name: fact for name, fact in facts.items() if fact is not None}


def _unit(top: Fields, columns: list[str]) -> tuple[str | None, dict[str, Any]]:
    """The column that names the person, and what is said of people: a name, what they may lose, for how long.

    There is no column for ``row``, and where a foreign key leads to the person.
    """
    if "foreign_keys" not in top:
        top.require("unit", "a protected table", _UNIT_REMEDY)
    if isinstance(top.node.get("unit"), yaml.Mapping):
        return _spelled_out_unit(top)
    stated = top.text("unit")
    if stated != "row":
        return stated, {}
    if "row" in (name.casefold() for name in columns):
        remedy = "write {column: row} or {each: row}"
        top.found.say(("unit",), "unit must be clear: there is a column of the name row too", "row", remedy)
    return None, {}


def _spelled_out_unit(top: Fields) -> tuple[str | None, dict[str, Any]]:
    inner = top.mapping("unit", "{column: row}")
    if inner is None:
        return None, {}
    inner.refuse_unknown(("column", "each", "name", "budget", "per"), "a unit")
    if ("each" in inner) is ("column" in inner) or ("each" in inner and inner.text("each") != "row"):
        top.found.say(("unit",), "unit must be {column: NAME} or {each: row}", "<something else>", _UNIT_REMEDY)
    budget = _allowance(inner, "budget", _BUDGET_FORM) if "budget" in inner else None
    named = {"unit_name": inner.text("name"), "unit_budget": budget, "unit_per": inner.read("per", _every)}
    return inner.text("column"), named


def _every(text: str, _: str) -> Every:
    return Every.of(text)


def _time(top: Fields) -> TimeColumn | None:
    """How the table grows; None where nothing is said of it, or nothing that can be read."""
    stated = top.mapping("time", _TIME_FORM)
    if stated is None:
        return None
    stated.refuse_unknown(_TIME_FIELDS, "time")
    there = [stated.require(name, "time", f"write {_TIME_FORM}") for name in _TIME_FIELDS[:3]]
    texts = {name: stated.text(name) for name in _TIME_FIELDS if name in stated}
    if not all(there) or None in texts.values():
        return None
    return stated.found.checked(stated.path, TimeColumn.of, texts)


# Who may spend what -----------------------------------------------------------------------------------------------


def _budget(top: Fields) -> tuple[Budget | None, dict[str, Any]]:
    """What may be spent, and what is said of periods beside it."""
    if not top.require("budget", "a protected table", f"write {_BUDGET_FORM}, or public: true"):
        return None, {}
    budget, periods = _allowance(top, "budget", _BUDGET_FORM, _PERIOD_FIELDS), {}
    if isinstance(top.node.get("budget"), yaml.Mapping):
        stated = Fields(top.node.get("budget"), ("budget",), top.found)  # type: ignore[arg-type]  # seen above
        lifetime = _allowance(stated, "lifetime", _BUDGET_FORM) if "lifetime" in stated else None
        periods = {"budget_per": stated.read("per", _every), "lifetime": lifetime if budget else None}
    return budget, periods


def _allowance(outer: Fields, name: str, form: str, more: tuple[str, ...] = ()) -> Budget | None:
    node = outer.node.get(name)
    if isinstance(node, Scalar) and _is_number(node.text):
        return outer.read(name, lambda text, _: Budget(text))
    stated = outer.mapping(name, form)
    if stated is None:
        return None
    stated.refuse_unknown((*_BUDGET_FIELDS, *more), "a budget")
    stated.require("epsilon", "a budget", f"write {_BUDGET_FORM}")
    texts = {name: stated.text(name) for name in _BUDGET_FIELDS if name in stated}
    if "epsilon" not in texts or None in texts.values():
        return None
    return stated.found.checked(stated.path, lambda: Budget(**texts))  # type: ignore[arg-type]  # None was excluded


def _is_number(text: str) -> bool:
    try:
        rational(text)
    except InvalidInput:
        return False
    return True


def _analysts(top: Fields) -> dict[str, Budget | None]:
    stated = top.mapping("analysts", "{ann: {epsilon: 1}, bob: all}")
    caps: dict[str, Budget | None] = {}
    if stated is None:
        return caps
    for name, (_, node) in stated.node.entries.items():
        if isinstance(node, Scalar) and node.text == "all":
            caps[name] = None
            continue
        cap = _allowance(stated, name, f"all, {_BUDGET_FORM}")
        if cap is not None:
            caps[name] = cap
    return caps


# Columns and keys -------------------------------------------------------------------------------------------------


def _columns(top: Fields) -> tuple[Column, ...] | None:
    if not top.require("columns", "a policy", "list them under columns, such as 'age: {type: integer}'"):
        return None
    stated = top.mapping("columns", "names and their facts, such as 'age: {type: integer}'")
    if stated is None:
        return None
    made = (_column(name, stated.mapping(name, "{type: integer}")) for name in stated.node.entries)
    return tuple(column for column in made if column is not None)


def _column(name: str, stated: Fields | None) -> Column | None:
    column = None if stated is None else _stated_column(name, stated)
    return column or Complaints().checked((), Column, name, ColumnType.TEXT)  # a stand-in for one that was refused


def _stated_column(name: str, stated: Fields) -> Column | None:
    stated.refuse_unknown(_COLUMN_FIELDS, "a column")
    known = ", ".join(kind.value for kind in ColumnType)
    stated.require("type", f"the column {name}", f"state {known}")
    kind = stated.read("type", lambda text, _: ColumnType.of(text))
    facts: dict[str, Any] = {"description": _prose(stated)}
    facts |= {flagged: stated.read(flagged, flag) for flagged in ("nullable", "constant_per_unit")}
    facts["rows_per_key"] = stated.read("rows_per_key", whole)
    facts["keys_from"] = stated.text("keys_from")
    if kind is not None:
        facts |= _values(name, kind, stated)
    given = {field: fact for field, fact in facts.items() if fact is not None}
    return stated.found.checked(stated.path, lambda: Column(name, kind or ColumnType.TEXT, **given))


def _values(name: str, kind: ColumnType, stated: Fields) -> dict[str, Any]:
    def literal(text: str, label: str) -> Value:
        return parse_literal(kind, text, label)

    bounds: dict[str, Any] = {
        # A column without an order is refused its bounds whatever they are, so there is no type to read them by.
        bound: stated.read(bound, literal, f"{name}: {bound}") if kind.is_ordered else stated.text(bound)
        for bound in ("lower", "upper")
        if bound in stated
    }
    if None in bounds.values():  # one was refused; the other must not be accused of being alone
        bounds = {}
    return bounds | {"default": stated.read("default", literal, f"{name}: default"), "keys": _keys(name, kind, stated)}


def _keys(name: str, kind: ColumnType, stated: Fields) -> tuple[Value | None, ...] | None:
    items = stated.sequence("keys", "[one, two]")
    if items is None:
        return None
    keys: list[Value | None] = []
    for place, item in enumerate(items):
        if isinstance(item, Scalar) and item.text and item.is_blank:  # null: what is missing is a group
            keys.append(None)
            continue
        path, label = (*stated.path, "keys", place), f"{name}: a key"
        text = scalar_text(item, path, label, stated.found)
        key = None if text is None else stated.found.checked(path, parse_literal, kind, text, label)
        if key is not None:
            keys.append(key)
    return tuple(keys) if len(keys) == len(items) else None


def _csv_format(top: Fields) -> CSVFormat | None:
    stated = top.mapping("csv", '{decimal: ",", thousands: ".", dates: "%d.%m.%Y", nulls: [NA]}')
    if stated is None:
        return None
    stated.refuse_unknown(_CSV_FIELDS, "csv")
    facts: dict[str, Any] = {name: stated.text(name) for name in _CSV_FIELDS if name in stated and name != "nulls"}
    items = stated.sequence("nulls", '[NA, "-"]') or []
    paths = [(*stated.path, "nulls", place) for place in range(len(items))]
    words = [scalar_text(item, path, "a word", stated.found) for item, path in zip(items, paths, strict=True)]
    if None in facts.values() or None in words:
        return None
    return stated.found.checked(stated.path, lambda: CSVFormat(**facts, nulls=tuple(words)))  # type: ignore[arg-type]


def _foreign_keys(top: Fields) -> tuple[ForeignKey, ...]:
    items = top.sequence("foreign_keys", f"[{_KEY_FORM}]") or []
    made = [_foreign_key(item, place, top.found) for place, item in enumerate(items)]
    return () if None in made else tuple(key for key in made if key is not None)


def _foreign_key(item: Node, place: int, found: Complaints) -> ForeignKey | None:
    path = ("foreign_keys", place)
    if not isinstance(item, yaml.Mapping):
        found.say(path, "a foreign key must have three fields", "<something else>", f"write {_KEY_FORM}")
        return None
    stated = Fields(item, path, found)
    stated.refuse_unknown(_KEY_FIELDS, "a foreign key")
    there = [stated.require(name, "a foreign key", f"write {_KEY_FORM}") for name in _KEY_FIELDS]
    texts = [stated.text(name) for name in _KEY_FIELDS]
    return None if not all(there) or None in texts else found.checked(path, ForeignKey, *texts)


def _prose(stated: Fields) -> str:
    return stated.text("description") or ""


_SUFFIXES = (".yaml", ".yml")


def loads(text: str | bytes) -> Table:
    """The table that the text of a policy describes."""
    return read_text(text).table


def dumps(table: Table) -> str:
    """The text of the policy of a table; comments of an earlier text are not kept."""
    return write_policy_text(table)


def read(path: str | os.PathLike[str]) -> Table:
    """The table that a policy file describes."""
    return _policy(Path(path)).table


def write(table: Table, path: str | os.PathLike[str]) -> None:
    """Write the policy of ``table``: the file holds the old text or the new one, never a part."""
    write_whole(Path(path), write_policy_text(table).encode(), mode=0o666)


def read_folder(folder: str | os.PathLike[str]) -> Catalog:
    """The catalog of all policy files in a folder; a refusal lists the problems of every file."""
    policies: list[Policy] = []
    problems: list[Problem] = []
    for path in sorted(p for p in Path(folder).iterdir() if p.suffix in _SUFFIXES and not p.name.startswith(".")):
        try:
            policies.append(_policy(path))
        except PolicyError as refused:
            problems += refused.problems
    if problems:
        raise PolicyError(problems)
    return _together(policies)


def _policy(path: Path) -> Policy:
    with path.open("rb") as file:
        return read_text(file.read(LARGEST_FILE + 1), path.name)


def _together(policies: list[Policy]) -> Catalog:
    """The catalog of policies that are right each by itself; problems between them get their file and line."""
    try:
        return Catalog(policy.table for policy in policies)
    except PolicyError as refused:
        by_table = {policy.table.name: policy for policy in policies}
        raise PolicyError(_in_file(problem, by_table) for problem in refused.problems) from None


def _in_file(problem: Problem, policies: dict[str, Policy]) -> Problem:
    table, *path = problem.path
    inner = Problem(problem.rule, problem.value, problem.remedy, tuple(path))
    return policies[str(table)].placed(inner)


class Look(IntEnum):
    """What a value looks like that was not read; the number is what an ingest keeps of it."""

    SOMETHING_ELSE = 0
    NULL_WORD = 1
    COMMA_THOUSANDS = 2
    POINT_THOUSANDS = 3
    OTHER_THOUSANDS = 4
    DECIMAL_COMMA = 5
    FRACTION = 6
    WITH_UNIT = 7
    YEAR_LAST = 8
    SHORT_YEAR = 9
    EIGHT_DIGITS = 10
    DAY_NUMBER = 11
    THREE_DECIMALS = 100
    """It was read, with a decimal point before three digits; it may mean a thousand times as much."""
    OTHER_DECIMALS = 101
    """It was read, with a decimal point that cannot separate thousands."""


_WORDS = {
    Look.NULL_WORD: ("words for nothing, such as NA", 'say csv: {nulls: [NA, "-"]}'),
    Look.COMMA_THOUSANDS: (
        "numbers with a comma between thousands (12,000)",
        'say csv: {thousands: ","}, or {decimal: ","} if they are decimals',
    ),
    Look.POINT_THOUSANDS: (
        "numbers with a point between thousands (12.000)",
        'say csv: {thousands: ".", decimal: ","}, or {decimal: "."} if they are decimals',
    ),
    Look.OTHER_THOUSANDS: (
        "numbers with a space or an apostrophe between thousands (12 000)",
        'say csv: {thousands: " "} or {thousands: "\'"}',
    ),
    Look.DECIMAL_COMMA: ("numbers with a decimal comma (1,5)", 'say csv: {decimal: ","}'),
    Look.FRACTION: ("numbers with a fraction or an exponent", "declare real"),
    Look.WITH_UNIT: ("numbers with a sign or a unit around them", "take it away first"),
    Look.YEAR_LAST: (
        "dates with the year last (31.12.2024)",
        "say csv: {dates: '%d.%m.%Y'}, or '%m/%d/%Y', and timestamps: for timestamps",
    ),
    Look.SHORT_YEAR: ("dates with two digits for a year", "say csv: {dates: '%d-%m-%y'}, or '%y-%m-%d'"),
    Look.EIGHT_DIGITS: ("dates without separators (20241231)", "say csv: {dates: '%Y%m%d'}"),
    Look.DAY_NUMBER: ("numbers of days, as spreadsheets keep dates", "save them as 2024-12-31"),
}


@dataclass(frozen=True)
class UnreadColumn:
    """What became of the values of one column."""

    count: int
    """How many could not be read as its type."""
    looks: Mapping[Look, int] = field(default_factory=dict)
    """How many of these look like what."""
    doubtful: int = 0
    """How many were read that may mean something else: numbers with a point before three digits, unless other numbers
    say that points are for decimals, and none that they are for thousands."""

    @classmethod
    def of(cls, found: Mapping[int, int]) -> UnreadColumn:
        """From how often each look was seen."""
        looks = {Look(look): count for look, count in found.items() if look < Look.THREE_DECIMALS}
        is_clear = found.get(Look.OTHER_DECIMALS) and not looks.keys() & {Look.POINT_THOUSANDS, Look.DECIMAL_COMMA}
        return cls(sum(looks.values()), looks, 0 if is_clear else found.get(Look.THREE_DECIMALS, 0))


def unread_words(table: Table, unread: Mapping[str, UnreadColumn]) -> list[str]:
    """Sentences for every column of ``table`` with such values."""
    found = [(column, unread[column.name]) for column in table.columns if column.name in unread]
    return [words for column, one in found for words in _column_words(table, column, one)]


def _column_words(table: Table, column: Column, one: UnreadColumn) -> list[str]:
    words = []
    if one.count:
        words.append(
            f"{_counted(column, one.count, 'could not be read as ' + column.type.value)}; {_now(table, column)}"
        )
        for look, count in sorted(one.looks.items(), key=lambda pair: -pair[1]):
            if look in _WORDS:
                like, remedy = _WORDS[look]
                words.append(f"{column.name}: {count:,} of them look like {like}; {remedy}")
    if one.doubtful:
        told = 'if they mean thousands, say csv: {thousands: ".", decimal: ","}; if not, csv: {decimal: "."}'
        words.append(f"{_counted(column, one.doubtful, 'with three digits after a point counted as decimals')}; {told}")
    return words


def _counted(column: Column, count: int, what: str) -> str:
    return f"{column.name}: {count:,} {'value' if count == 1 else 'values'} {what}"


def _now(table: Table, column: Column) -> str:
    is_unit = table.unit is not None and table.unit.casefold() == column.name.casefold()
    return "each such row counts as a person of its own" if is_unit else "they count as missing"
