"""The plan of a publication: what is to happen to each column of the table that an owner brought.

The table is a file, read once from a folder that is gone afterwards, or an example; its columns are coded once. A
column has a role, and a quasi-identifier a way to become coarser. The first plan is a guess from names and values.
Where nothing speaks for another role, a column is taken to be known to others: that is the careful guess, since a
column that is called harmless is released as it is.

A preview shows how some values of a column are written at every level, or why that cannot be, and which values stand in
the way.
"""

from __future__ import annotations

import csv
import io
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from discreet.anonymize.hierarchies.builders import described_hierarchy
from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.roles import Role, Roles
from discreet.anonymize.table import CodedColumn, arrow_table, label_of
from discreet.attacks.people import patients
from discreet.errors import DiscreetError, InvalidValue
from discreet.service.operations.uploads import ENDINGS, PARQUET, check_schema

__all__ = [
    "KINDS",
    "LARGEST_FILE",
    "MOST_CELLS",
    "Brought",
    "ColumnPlan",
    "HierarchyPlan",
    "LaidOut",
    "LevelPreview",
    "Plans",
    "brought",
    "csv_bytes",
    "example",
    "first_plans",
    "hierarchies_of",
    "laid_out",
    "level_preview",
    "parquet_bytes",
    "roles_of",
]


LARGEST_FILE = 64_000_000
"""How many bytes a file may have."""
MOST_CELLS = 50_000_000
"""How many cells a table may have: a packed file of a few kilobytes can unpack to any size."""
_MOST_UNPACKED = 8 * LARGEST_FILE
_EXAMPLE_ROWS = 3000
_MOST_COLUMNS = 2000
_MARKS = ",;\t|"


@dataclass(frozen=True, eq=False)
class Brought:
    """A table to work on."""

    name: str
    """What it is called: the name of its file without the ending."""
    table: pa.Table
    """Its rows."""


def brought(file: str, content: bytes) -> Brought:
    """The table in a file of this name; what is no table, or too large, is refused in words about the file."""
    path = Path(file.replace("\\", "/"))
    if path.suffix.lower() not in ENDINGS:
        raise InvalidValue("a table must be a .csv, .tsv or .parquet file", path.name)
    if len(content) > LARGEST_FILE:
        raise InvalidValue(f"a file must have at most {LARGEST_FILE:,} bytes", len(content), "use the command line")
    with tempfile.TemporaryDirectory(prefix="discreet-publish-") as folder:
        kept = Path(folder) / f"table{path.suffix.lower()}"
        kept.write_bytes(content)
        try:
            _refuse_columns(kept)
            _refuse_unpacking(kept)
            table = arrow_table(kept)
        except DiscreetError as refusal:
            raise _about(refusal, str(kept), path.name) from None
    _refuse_cells(table.num_rows, table.num_columns)
    if not table.num_rows:
        raise InvalidValue("a table must have rows", 0)
    return Brought(path.stem or "table", table)


def example() -> Brought:
    """The made-up hospital with a number for each patient, so that there is a column of every role."""
    people = patients(_EXAMPLE_ROWS)
    numbers = pa.array([f"P-{10_000 + 7919 * row % 90_000}" for row in range(people.num_rows)])
    return Brought("patients", people.add_column(0, "patient", numbers))


def _refuse_columns(path: Path) -> None:
    """Refuse a text of very many columns, each of which takes more memory than its few letters in the file."""
    if path.suffix in PARQUET:
        return
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as text:
        mark = max(_MARKS, key=text.readline().count)
        text.seek(0)
        try:
            names = next(csv.reader(text, delimiter=mark), [])
        except csv.Error:
            raise InvalidValue("a table must have names of columns that can be read", path.name) from None
    if len(names) > _MOST_COLUMNS:
        raise InvalidValue(f"a table must have at most {_MOST_COLUMNS:,} columns", len(names), "use the command line")


def _refuse_unpacking(path: Path) -> None:
    """Refuse a Parquet file that unpacks to too much, before its rows are."""
    if path.suffix in PARQUET:
        check_schema(path, _MOST_UNPACKED)
        footer = parquet.read_metadata(path)
        _refuse_cells(footer.num_rows, footer.num_columns)


def _refuse_cells(rows: int, columns: int) -> None:
    if rows * columns > MOST_CELLS:
        raise InvalidValue(f"a table must have at most {MOST_CELLS:,} cells", rows * columns, "use the command line")


def _about(refusal: DiscreetError, path: str, name: str) -> InvalidValue:
    """The refusal with the name that the owner knows in place of a path on this machine."""
    value = name if refusal.value in (path, Path(path).name) else refusal.value
    return InvalidValue(refusal.rule.replace(path, name), value, refusal.remedy.replace(path, name))


KINDS = ("keep or hide", "mask", "intervals", "ordered", "dates", "file")
"""How a column may be made coarser. The first has two levels: the value, or nothing."""

_NAMES_PEOPLE = re.compile(r"(?i)(^|_)(id|name|number|nr|no|email|mail|phone|ssn|address|patient|person|user)($|_)")
_SECRET = re.compile(r"(?i)diagnos|disease|illness|condition|salary|income|religion|drug|treatment|grade|score")
_CODE = re.compile(r"[0-9A-Za-z]{4,12}\Z")
_MOSTLY_UNIQUE = 0.9
_FEW_VALUES = 12
_STEPS_ACROSS = 16


@dataclass(frozen=True)
class HierarchyPlan:
    """How a column is made coarser."""

    kind: str = "keep or hide"
    """One of KINDS."""
    details: str = ""
    """What the kind takes: ``prefix``, numbers, or names of levels, with commas."""
    file: Hierarchy | None = None
    """The hierarchy of a file that was brought."""

    def hierarchy(self, column: CodedColumn) -> Hierarchy:
        """The hierarchy of a column; refused where it does not hold every value."""
        made = self._made(column)
        made.places(column)
        return made

    def _made(self, column: CodedColumn) -> Hierarchy:
        if self.kind == "keep or hide":
            return Hierarchy.suppressing(column.values)
        if self.kind != "file":
            return described_hierarchy(column, self.kind, self.details)
        if self.file is None:
            raise InvalidValue(f"'{column.name}' must have the file of its hierarchy", "<none>", "bring the file")
        return self.file


@dataclass(frozen=True)
class ColumnPlan:
    """What is to happen to one column."""

    role: Role
    """What it says about a person."""
    hierarchy: HierarchyPlan = HierarchyPlan()
    """How it is made coarser if it is a quasi-identifier."""

    def with_role(self, role: Role) -> ColumnPlan:
        """The same column in another role."""
        return replace(self, role=role)

    def with_hierarchy(self, hierarchy: HierarchyPlan) -> ColumnPlan:
        """The same column, made coarser in another way."""
        return replace(self, hierarchy=hierarchy)


Plans = Mapping[str, ColumnPlan]
"""The plan of every column of a table."""


def roles_of(plans: Plans) -> Roles:
    """The roles of all columns; refused where none is a quasi-identifier."""
    named = {role: [name for name, plan in plans.items() if plan.role is role] for role in Role}
    return Roles.of(
        plans,
        quasi=named[Role.QUASI_IDENTIFYING],
        sensitive=named[Role.SENSITIVE],
        identifying=named[Role.IDENTIFYING],
        insensitive=named[Role.INSENSITIVE],
    )


def hierarchies_of(table: pa.Table, plans: Plans) -> dict[str, Hierarchy]:
    """The hierarchy of every quasi-identifier; refused with the name of each column that has none."""
    found: dict[str, Hierarchy] = {}
    problems: list[str] = []
    for name, plan in plans.items():
        if plan.role is Role.QUASI_IDENTIFYING:
            try:
                found[name] = plan.hierarchy.hierarchy(CodedColumn.of(name, table.column(name)))
            except DiscreetError as refusal:
                problems.append(f"{name}: {refusal}")
    if problems:
        raise InvalidValue("every column that others know must become coarser\n" + "\n".join(problems))
    return found


# The first plan ---------------------------------------------------------------------------------------------------


def first_plans(columns: Mapping[str, CodedColumn]) -> dict[str, ColumnPlan]:
    """A plan to begin with, column by column."""
    return {name: ColumnPlan(_first_role(column), _first_hierarchy(column)) for name, column in columns.items()}


def _first_role(column: CodedColumn) -> Role:
    is_mostly_unique = len(column.values) > _MOSTLY_UNIQUE * len(column.codes)
    is_text = any(isinstance(value, str) for value in column.values)
    if is_mostly_unique and (is_text or _NAMES_PEOPLE.search(column.name)):
        return Role.IDENTIFYING
    return Role.SENSITIVE if _SECRET.search(column.name) else Role.QUASI_IDENTIFYING


def _first_hierarchy(column: CodedColumn) -> HierarchyPlan:
    values = [value for value in column.values if value is not None]
    if values and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return _first_steps(values)
    if values and all(hasattr(value, "year") for value in values):
        return HierarchyPlan("dates")
    if len(values) > _FEW_VALUES and all(isinstance(value, str) and _CODE.match(value) for value in values):
        lengths = {len(value) for value in values}
        return HierarchyPlan("mask") if len(lengths) == 1 and _has_digits(values) else HierarchyPlan()
    return HierarchyPlan()


def _first_steps(values: list[float]) -> HierarchyPlan:
    """Widths that double twice from about a sixteenth of the span."""
    span = max(values) - min(values)
    if len(values) <= _FEW_VALUES or not 0 < span < float("inf"):
        return HierarchyPlan()
    width = _round_number(span / _STEPS_ACROSS)
    return HierarchyPlan("intervals", ", ".join(f"{width * times:g}" for times in (1, 2, 4)))


def _round_number(size: float) -> float:
    """The 1, 2 or 5 with zeros, or behind a point, that is next to a size.

    >>> _round_number(4.4), _round_number(130), _round_number(0.03)
    (5.0, 100.0, 0.02)
    """
    power = 10.0 ** int(f"{size:e}".partition("e")[2])
    return float(f"{min((1, 2, 5, 10), key=lambda step: abs(step * power - size)) * power:g}")


def _has_digits(values: list[str]) -> bool:
    return all(any(sign.isdigit() for sign in value) for value in values)


_SHOWN = 6
_MOST_OFFENDING = 12


@dataclass(frozen=True)
class LevelPreview:
    """Some values at every level."""

    rows: tuple[tuple[str, ...], ...] = ()
    """For each sample value how it is written at level 0, 1, and so on."""
    groups: tuple[int, ...] = ()
    """How many different values each level has."""
    problem: str = ""
    """Why there is no such hierarchy; empty where there is one."""
    offending: tuple[str, ...] = ()
    """Values that stand in the way, some of them where they are many."""
    more_offending: int = 0
    """How many more there are."""


def level_preview(column: CodedColumn, plan: HierarchyPlan) -> LevelPreview:
    """The preview of a column under a plan."""
    try:
        found = plan.hierarchy(column)
    except DiscreetError as refusal:
        return _problem(column, plan, refusal)
    places = found.places(column)
    chosen = _spread(len(column.values))
    levels = range(found.height + 1)
    rows = tuple(tuple(found.label(level, found.levels[level][places[code]]) for level in levels) for code in chosen)
    return LevelPreview(rows, tuple(_seen(found, level, places) for level in levels))


def _seen(found: Hierarchy, level: int, places: Any) -> int:
    """How many groups of a level occur in the column."""
    return len(set(found.levels[level][places].tolist()))


def _spread(count: int) -> list[int]:
    """Places from the first value to the last, evenly."""
    if count <= _SHOWN:
        return list(range(count))
    return [round(number * (count - 1) / (_SHOWN - 1)) for number in range(_SHOWN)]


def _problem(column: CodedColumn, plan: HierarchyPlan, refusal: DiscreetError) -> LevelPreview:
    values = _offending(column, plan)
    shown = tuple(label_of(value) for value in values[:_MOST_OFFENDING])
    return LevelPreview(problem=str(refusal), offending=shown, more_offending=max(len(values) - _MOST_OFFENDING, 0))


def _offending(column: CodedColumn, plan: HierarchyPlan) -> Sequence[Any]:
    """The values that no hierarchy of this kind holds."""
    if plan.file is not None and plan.kind == "file":
        return plan.file.lacking(column)
    if plan.kind in ("intervals", "dates"):
        return [value for value in column.values if value is not None and not _fits(value, plan.kind)]
    return ()


def _fits(value: Any, kind: str) -> bool:
    if kind == "dates":
        return hasattr(value, "year")
    return isinstance(value, (int, float)) and not isinstance(value, bool)


@dataclass(frozen=True, eq=False)
class LaidOut:
    """A table, and what the page knows about it before anybody chose anything."""

    brought: Brought
    """The table."""
    columns: Mapping[str, CodedColumn]
    """Its columns."""
    plans: Mapping[str, ColumnPlan]
    """What may be meant to happen to them."""
    previews: Mapping[str, LevelPreview]
    """How their values are written at every level of the first plan."""


def laid_out(brought: Brought) -> LaidOut:
    """Lay out a table; a column whose values have no order is refused."""
    columns = {name: CodedColumn.of(name, brought.table.column(name)) for name in brought.table.column_names}
    plans = first_plans(columns)
    previews = {name: level_preview(columns[name], plan.hierarchy) for name, plan in plans.items()}
    return LaidOut(brought, columns, plans, previews)


def csv_bytes(table: pa.Table) -> bytes:
    """The rows as CSV in UTF-8; refused where a column has a type that CSV cannot write."""
    kept = io.BytesIO()
    try:
        arrow_csv.write_csv(table, kept)
    except pa.ArrowException:
        raise InvalidValue("CSV must be able to write every column", table.column_names, "take Parquet") from None
    return kept.getvalue()


def parquet_bytes(table: pa.Table) -> bytes:
    """The rows as Parquet."""
    kept = io.BytesIO()
    parquet.write_table(table, kept)
    return kept.getvalue()
