"""A table laid out for work: its columns coded once, a first plan, and a preview of every column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.anonymize.coded import CodedColumn
from discreet.console.publishing.brought_table import Brought
from discreet.console.publishing.column_plan import ColumnPlan, first_plans
from discreet.console.publishing.level_preview import LevelPreview, level_preview

__all__ = ["LaidOut", "laid_out"]


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
