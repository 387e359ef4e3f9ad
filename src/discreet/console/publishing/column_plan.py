"""What is to happen to each column: its role, and for a quasi-identifier how it is made coarser.

The first plan is a guess from names and values. Where nothing speaks for another role, a column is taken to be known to
others: that is the careful guess, since a column that is called harmless is released as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from discreet.anonymize.coded import CodedColumn
from discreet.anonymize.described_hierarchy import described_hierarchy
from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.roles import Role, Roles
from discreet.errors import DiscreetError, InvalidValue

__all__ = ["KINDS", "ColumnPlan", "HierarchyPlan", "Plans", "first_plans", "hierarchies_of", "roles_of"]

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
