"""How some values of a column are written at every level, or why that cannot be, and which values stand in the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discreet.anonymize.coded import CodedColumn, label_of
from discreet.anonymize.hierarchy import Hierarchy
from discreet.console.publishing.column_plan import HierarchyPlan
from discreet.errors import DiscreetError

__all__ = ["LevelPreview", "level_preview"]

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
