"""First steps of a publication: bring a table, or take the made-up one, and say what each of its columns is.

The role of every column has a colour; those known to others become coarser.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path

from nicegui import events, ui

from discreet.anonymize.hierarchies.builders import read_arx_csv
from discreet.anonymize.hierarchies.hierarchy import Hierarchy
from discreet.anonymize.roles import Role
from discreet.anonymize.table import CodedColumn, label_of
from discreet.console.publish.plan import (
    LARGEST_FILE,
    Brought,
    ColumnPlan,
    HierarchyPlan,
    LaidOut,
    LevelPreview,
    brought,
    example,
    laid_out,
    level_preview,
)
from discreet.console.publish.state import ROLE_NAMES, ROLE_WORDS, PublicationState, role_chip, role_class
from discreet.console.theme import button, chip, notice, plain_table, quiet, row, section
from discreet.console.widgets import one_line_upload, stay_on
from discreet.errors import DiscreetError
from discreet.service.operations.uploads import ENDINGS

__all__ = [
    "ColumnsStep",
    "TableStep",
]


class TableStep:
    """Where the table comes from."""

    def __init__(self, state: PublicationState) -> None:
        self._state = state
        self._problem = ""

    def draw(self) -> None:
        """The step."""
        largest = min(LARGEST_FILE, self._state.visit.service.settings.largest_upload)
        with section("1. Bring a table", "It stays in the memory of this page: nothing is kept until you approve it."):
            with row():
                too_large = f"a file must be a .csv or .parquet of at most {largest:,} bytes"
                one_line_upload(
                    f"CSV or Parquet, up to {largest // 1_000_000} MB",
                    ",".join(ENDINGS),
                    largest,
                    self._uploaded,
                    lambda: self._say(too_large),
                )
                ui.label("or")
                button("Take the made-up hospital", self._take_example, icon="local_hospital", kind="plain")
            self._facts()

    @ui.refreshable_method
    def _facts(self) -> None:
        if self._problem:
            notice(self._problem, "error")
        if self._state.table is not None:
            found = self._state.table.brought
            notice(f"{found.name}: {found.table.num_rows:,} rows, {found.table.num_columns} columns", "good")

    async def _uploaded(self, event: events.UploadEventArguments) -> None:
        content = await event.file.read()
        if isinstance(event.sender, ui.upload):
            event.sender.reset()
        await self._bring(lambda: brought(event.file.name, content))

    async def _take_example(self) -> None:
        await self._bring(example)

    async def _bring(self, found: Callable[[], Brought]) -> None:
        """Read and lay out a table beside the event loop."""
        try:
            table = await asyncio.to_thread(lambda: laid_out(found()))
        except DiscreetError as refusal:
            self._say(str(refusal))
            return
        self._state.bring(table)
        self._say("")

    def _say(self, problem: str) -> None:
        self._problem = problem
        self._facts.refresh()


_LARGEST_HIERARCHY = 8_000_000
_SAMPLES = 4
_KIND_WORDS = {
    "keep or hide": "keep it or hide it",
    "mask": "hide characters",
    "intervals": "intervals of numbers",
    "ordered": "groups of neighbours in order",
    "dates": "dates by month, year, decade",
    "file": "a hierarchy from a file (ARX)",
}
_FIRST_DETAILS = {"intervals": "5, 10, 20", "ordered": "3, 9", "dates": "month, year, decade"}
_LEVELS_OF_DATES = ["day", "month", "quarter", "year", "decade"]


class ColumnsStep:
    """Roles and hierarchies."""

    def __init__(self, state: PublicationState) -> None:
        self._state = state
        state.when("table", self.draw.refresh)

    @ui.refreshable_method
    def draw(self) -> None:
        """The step, once there is a table."""
        table = self._state.table
        if table is None:
            return
        words = "What does each column say about a person, and who knows it? These are guesses: look at each one."
        with section("2. Columns and their roles", words):
            _legend()
            for name in self._state.plans:
                _ColumnCard(self._state, table, name).draw()


def _legend() -> None:
    listed = ui.element("dl").classes("grid gap-x-3 gap-y-2 m-0 items-center")
    with listed.style("grid-template-columns:max-content 1fr"):
        for role in Role:
            with ui.element("dt"):
                role_chip(role)
            with ui.element("dd").classes("m-0"):
                quiet(ROLE_WORDS[role])


class _ColumnCard:
    """One column: its role, and its hierarchy with a preview."""

    def __init__(self, state: PublicationState, table: LaidOut, name: str) -> None:
        self._state = state
        self._name = name
        self._column = table.columns[name]
        self._preview = table.previews[name]
        self._file_problem = ""
        self._changed = ""  # which choice has drawn the card anew

    @property
    def _plan(self) -> ColumnPlan:
        return self._state.plans[self._name]

    @ui.refreshable_method
    def draw(self) -> None:
        """The card."""
        role = self._plan.role
        with ui.element("div").classes(f"q-card role-card {role_class(role)}"):
            with row(spread=True):
                self._title(role)
                options = {one: ROLE_NAMES[one] for one in Role}
                chosen = ui.select(options, value=role, label=f"Role of {self._name}", on_change=self._other_role)
                self._placed(chosen.props("outlined dense").classes("w-56 max-w-full"), "role")
            if role is Role.QUASI_IDENTIFYING:
                self._builder()
                self._levels()

    def _title(self, role: Role) -> None:
        with ui.column().classes("gap-0 grow").style("min-width:12rem;flex-basis:0"):
            with ui.row().classes("items-center gap-2"):
                ui.label(self._name).classes("text-weight-bold").style("overflow-wrap:anywhere")
                role_chip(role)
            quiet(_facts(self._column))

    def _placed(self, chosen: ui.select, name: str) -> None:
        """Keep whoever uses the keyboard on the choice that they changed."""
        if self._changed == name:
            self._changed = ""
            stay_on(chosen)

    # The builder of the hierarchy ---------------------------------------------------------------------------------

    def _builder(self) -> None:
        plan = self._plan.hierarchy
        label = f"How {self._name} becomes coarser"
        with row():
            kinds = ui.select(_KIND_WORDS, value=plan.kind, label=label, on_change=self._other_kind)
            self._placed(kinds.props("outlined dense").classes("w-72 max-w-full"), "kind")
            match plan.kind:
                case "mask":
                    self._side(plan)
                case "intervals":
                    self._numbers("Widths, with commas", plan)
                case "ordered":
                    self._numbers("Sizes of groups, with commas", plan)
                case "dates":
                    self._dates(plan)
                case "file":
                    self._file()

    def _side(self, plan: HierarchyPlan) -> None:
        sides = {"": "from the end", "prefix": "from the start"}
        side = ui.select(sides, value=plan.details, label="Hide", on_change=self._other_details)
        side.props("outlined dense").classes("w-44")

    def _numbers(self, label: str, plan: HierarchyPlan) -> None:
        numbers = ui.input(label, value=plan.details, on_change=self._other_details)
        numbers.props("outlined dense debounce=300").classes("w-56")

    def _dates(self, plan: HierarchyPlan) -> None:
        value = [level for level in _LEVELS_OF_DATES if level in plan.details]
        levels = ui.select(_LEVELS_OF_DATES, multiple=True, label="Levels", value=value, on_change=self._other_levels)
        levels.props("outlined dense use-chips").classes("w-80 max-w-full")

    def _file(self) -> None:
        refused = "the file of a hierarchy must be a .csv of at most 8 MB"
        label = "value;group;coarser group;*"
        one_line_upload(label, ".csv", _LARGEST_HIERARCHY, self._brought_file, lambda: self._say_file(refused))

    @ui.refreshable_method
    def _levels(self) -> None:
        """The preview of the levels, or what stands in the way."""
        if self._file_problem:
            notice(f"{self._name}: {self._file_problem}", "error")
        found = self._preview
        if found.problem:
            _draw_problem(self._name, found)
            return
        heads = ["as it is", *(f"level {level}" for level in range(1, len(found.groups)))]
        counts = [f"{count:,} values" if count > 1 else "1 value" for count in found.groups]
        plain_table(heads, [*found.rows, counts])

    # What is changed ----------------------------------------------------------------------------------------------

    def _other_role(self, event: events.ValueChangeEventArguments[Role]) -> None:
        self._state.plan(self._name, self._plan.with_role(event.value))
        self._changed = "role"
        self.draw.refresh()

    async def _other_kind(self, event: events.ValueChangeEventArguments[str]) -> None:
        await self._change(HierarchyPlan(event.value, _FIRST_DETAILS.get(event.value, "")))
        self._changed = "kind"
        self.draw.refresh()

    async def _other_details(self, event: events.ValueChangeEventArguments[str | None]) -> None:
        await self._change(HierarchyPlan(self._plan.hierarchy.kind, event.value or ""))
        self._levels.refresh()

    async def _other_levels(self, event: events.ValueChangeEventArguments[list[str]]) -> None:
        chosen = [level for level in _LEVELS_OF_DATES if level in event.value]
        await self._change(HierarchyPlan("dates", ", ".join(chosen)))
        self._levels.refresh()

    async def _brought_file(self, event: events.UploadEventArguments) -> None:
        content = await event.file.read()
        if isinstance(event.sender, ui.upload):
            event.sender.reset()
        try:
            await self._change(HierarchyPlan("file", file=await asyncio.to_thread(_hierarchy_in, content)))
            self._levels.refresh()
        except DiscreetError as refusal:
            self._say_file(str(refusal))

    def _say_file(self, problem: str) -> None:
        self._file_problem = problem
        self._levels.refresh()

    async def _change(self, hierarchy: HierarchyPlan) -> None:
        """Take another hierarchy, and look what it makes of the values beside the event loop."""
        self._file_problem = ""
        self._state.plan(self._name, self._plan.with_hierarchy(hierarchy))
        found = await asyncio.to_thread(level_preview, self._column, hierarchy)
        if self._plan.hierarchy is hierarchy:  # or somebody typed on, and a later one will come
            self._preview = found


def _draw_problem(column: str, found: LevelPreview) -> None:
    notice(f"{column}: {found.problem}", "error")
    if found.offending:
        with row():
            quiet("In the way:")
            for value in found.offending:
                chip(value)
            if found.more_offending:
                quiet(f"and {found.more_offending:,} more")


def _facts(column: CodedColumn) -> str:
    values = [label_of(value) for value in column.values[:_SAMPLES]]
    more = ", …" if len(column.values) > _SAMPLES else ""
    return f"{len(column.values):,} different: {', '.join(values)}{more}"


def _hierarchy_in(content: bytes) -> Hierarchy:
    """The hierarchy in a file of ARX, read from a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="discreet-publish-") as folder:
        path = Path(folder) / "hierarchy.csv"
        path.write_bytes(content)
        return read_arx_csv(path)
