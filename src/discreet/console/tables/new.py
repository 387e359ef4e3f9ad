"""A new table: its file, a form about it that begins with names and types alone, its policy as it grows, protection."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from nicegui import events, ui

from discreet.catalog.column import ColumnType
from discreet.catalog.policy.write import Schema
from discreet.console.layout import PageVisit
from discreet.console.tables.form import ColumnForm, PolicyForm, PreviewLine, first_form, policy_text, preview_lines
from discreet.console.theme import Kind, button, heading, notice, quiet, row, says_why, section
from discreet.console.widgets import one_line_upload
from discreet.errors import DiscreetError, NotFound
from discreet.reports.format import counted
from discreet.service.operations import protect as protect_ops
from discreet.service.operations import uploads
from discreet.service.operations.uploads import ENDINGS

__all__ = ["NewTableForm"]


_NEIGHBOURS = {
    "add-remove-one": "whether a person is there at all",
    "replace-one": "what a person's rows say; how many people there are is public",
}
_TYPES = {kind: kind.value for kind in ColumnType}
_PUBLIC = (
    "State bounds and keys from what everybody may know, never by looking at the rows: a bound taken from the rows "
    "publishes the largest value, and a list of keys publishes who is there."
)


class NewTableForm:
    """The part of the page where a table comes in."""

    def __init__(self, visit: PageVisit, after: Callable[[], Awaitable[None]]) -> None:
        self._visit = visit
        self._after = after
        self._source: protect_ops.Source | None = None
        self._form: PolicyForm | None = None
        self._written: str | None = None  # the policy as text, where the owner writes it and not the form
        self._share: float | None = None
        self._said: list[tuple[str, Kind]] = []
        ui.context.client.on_delete(self._forget)

    def draw(self) -> None:
        """The part."""
        largest = self._visit.service.settings.largest_upload
        with section("Protect a table", "Names and types come from the file; no value is read until you protect it."):
            with row():
                too_large = f"a file must be a .csv or .parquet of at most {largest:,} bytes"
                one_line_upload(
                    f"CSV or Parquet, up to {largest // 1_000_000:,} MB",
                    ",".join([*ENDINGS, ".gz"]),
                    largest,
                    self._uploaded,
                    lambda: self._refuse(too_large),
                )
                ui.label("or")
                path = ui.input("A path on the server").props("outlined dense").classes("w-72 max-w-full")
                button("Take this file", lambda: self._take((path.value or "").strip()), kind="plain")
            self._words()
            self._filling()

    # The file -----------------------------------------------------------------------------------------------------

    async def _uploaded(self, event: events.UploadEventArguments) -> None:
        service, principal = self._visit.service, self._visit.principal
        try:
            with uploads.receiving(service, principal, event.file.name) as sent:
                async for part in event.file.iterate():
                    await asyncio.to_thread(sent.add, part)
                kept = await asyncio.to_thread(sent.whole)
        except DiscreetError as refusal:
            self._refuse(str(refusal))
            return
        finally:
            if isinstance(event.sender, ui.upload):
                event.sender.reset()
        self._begin(protect_ops.Uploaded(kept.id), kept.name, kept.schema)

    async def _take(self, path: str) -> None:
        """A file on the server."""
        source = protect_ops.OnServer(path)
        try:
            schema = await asyncio.to_thread(protect_ops.schema, self._visit.service, self._visit.principal, source)
        except DiscreetError as refusal:
            self._refuse(str(refusal))
            return
        self._begin(source, Path(path).stem, schema)

    def _begin(self, source: protect_ops.Source, name: str, schema: Schema) -> None:
        """A form about a file, from names and types alone; a table that is known keeps the policy that it has."""
        self._forget()
        self._source, self._said, self._form = source, [], first_form(name, schema)
        self._written = None
        with suppress(NotFound):
            known = self._form.table
            self._written = protect_ops.policy_text(self._visit.service, self._visit.principal, known)
            words = f"{known} is here already: new rows take the place of its rows, under the policy that it has."
            self._said = [(words, "info")]
        self._words.refresh()
        self._filling.refresh()

    def _forget(self) -> None:
        """Remove a file that was uploaded and is not taken in."""
        if isinstance(self._source, protect_ops.Uploaded):
            with suppress(DiscreetError):
                uploads.discard(self._visit.service, self._visit.principal, self._source.id)
        self._source = None

    # What is said -------------------------------------------------------------------------------------------------

    @ui.refreshable_method
    def _words(self) -> None:
        for words, kind in self._said:
            notice(words, kind)

    def _refuse(self, words: str) -> None:
        self._said = [(words, "error")]
        self._words.refresh()

    # The form -----------------------------------------------------------------------------------------------------

    @ui.refreshable_method
    def _filling(self) -> None:
        """The form, once there is a file."""
        form = self._form
        if form is None:
            return
        writes = ui.switch("Write the policy as text", value=self._written is not None)
        writes.on_value_change(lambda event: self._other_way(bool(event.value)))
        if self._written is None:
            self._fields(form)
        else:
            self._textarea(self._written)
        heading("The policy", 3)
        with row() as below:
            self._button = button("Protect", self._protect, icon="shield")
            self._left = says_why(self._button, "")
        self._preview()
        below.move(target_index=-1)

    def _other_way(self, is_written: bool) -> None:
        """From the form to its text, or back to the form as it was left."""
        self._written = self._policy() if is_written else None
        self._filling.refresh()

    def _policy(self) -> str:
        """The policy as it stands."""
        if self._written is not None or self._form is None:
            return self._written or ""
        return policy_text(self._form)

    def _textarea(self, written: str) -> None:
        text = ui.textarea("Policy", value=written).props("outlined autogrow debounce=250").classes("w-full d-code")
        text.on_value_change(lambda event: self._write(event.value or ""))
        quiet("Foreign keys, descriptions, public tables: all that a policy can say can be written here.")

    def _write(self, text: str) -> None:
        self._written = text
        self._preview.refresh()

    def _fields(self, form: PolicyForm) -> None:
        if not form.types_are_stated:
            notice("A CSV file does not state types, and to guess them would read the rows: say what each column is.")
        heading("Whose privacy, and how much", 3)
        with ui.element("div").classes("form-grid"):
            self._facts(form)
        heading("Columns", 3)
        quiet(_PUBLIC)
        for place, column in enumerate(form.columns):
            self._column(place, column)

    def _facts(self, form: PolicyForm) -> None:
        self._text("Name of the table", "table", form.table)
        units = {"row": "every row is a person of its own"} | {one.name: one.name for one in form.columns}
        unit = ui.select(units, value=form.unit or None, label="The person is named by")
        unit.props("outlined dense").on_value_change(lambda event: self._state(unit=event.value or ""))
        hidden = ui.select(_NEIGHBOURS, value=form.neighbours, label="What is hidden")
        hidden.props("outlined dense").on_value_change(lambda event: self._state(neighbours=event.value))
        self._text("Budget ε for all together", "epsilon", form.epsilon)
        self._text("Budget δ, or nothing", "delta", form.delta)
        self._text("Rows of a person that count", "rows_per_unit", form.rows_per_unit)
        self._text("Groups of a person that can show, or nothing for as many", "groups_per_unit", form.groups_per_unit)
        self._text("Description", "description", form.description)

    def _text(self, label: str, name: str, value: str) -> None:
        typed = ui.input(label, value=value).props("outlined dense debounce=250")
        typed.on_value_change(lambda event: self._state(**{name: (event.value or "").strip()}))

    def _column(self, place: int, column: ColumnForm) -> None:
        def state(**changes: Any) -> None:
            self._state_column(place, **changes)

        with ui.element("div").classes("column-form").props('role="group"') as group:
            group.props["aria-label"] = f"Column {column.name}"
            named = ui.checkbox(column.name, value=column.is_named)
            named.on_value_change(lambda event: state(is_named=bool(event.value))).style("overflow-wrap:anywhere")
            kind = ui.select(_TYPES, value=column.type or ColumnType.TEXT, label="Type").props("outlined dense")
            kind.props["aria-label"] = f"Type of {column.name}"
            kind.on_value_change(lambda event: state(type=event.value))
            for label, name in (("Lower bound", "lower"), ("Upper bound", "upper")):
                self._bound(kind, label, column.name).on_value_change(
                    lambda event, name=name: state(**{name: event.value or ""})
                )
            keys = ui.input("Keys, with commas").props("outlined dense debounce=250")
            keys.props["aria-label"] = f"Keys of {column.name}"
            keys.on_value_change(lambda event: state(keys=event.value or ""))
            missing = ui.checkbox("may be missing", value=column.nullable)
            missing.on_value_change(lambda event: state(nullable=bool(event.value)))
            same = ui.checkbox("same for a person", value=column.constant_per_unit)
            same.on_value_change(lambda event: state(constant_per_unit=bool(event.value)))
            rows = ui.input("Rows in a group").props("outlined dense debounce=250")
            rows.props["aria-label"] = f"Rows in a group by {column.name}"
            rows.on_value_change(lambda event: state(rows_per_key=event.value or ""))

    def _bound(self, kind: ui.select, label: str, column: str) -> ui.input:
        """A bound, which is there for columns with an order alone."""
        typed = ui.input(label).props("outlined dense debounce=250")
        typed.props["aria-label"] = f"{label} of {column}"
        typed.bind_visibility_from(kind, "value", lambda chosen: chosen.is_ordered)
        kind.on_value_change(lambda event: None if event.value.is_ordered else typed.set_value(""))
        return typed

    def _state(self, **changes: Any) -> None:
        if self._form is not None:
            self._form = replace(self._form, **changes)
            self._preview.refresh()

    def _state_column(self, place: int, **changes: Any) -> None:
        if self._form is not None:
            columns = list(self._form.columns)
            columns[place] = replace(columns[place], **changes)
            self._state(columns=tuple(columns))

    # The policy ---------------------------------------------------------------------------------------------------

    @ui.refreshable_method
    def _preview(self) -> None:
        """The policy as it stands, with problems in their lines."""
        if self._form is None:
            return
        text = self._policy()
        problems = protect_ops.check_policy(self._visit.service, self._visit.principal, text)
        with ui.element("div").classes("policy").props('role="group" aria-label="The policy as it stands"'):
            for line in preview_lines(text, problems):
                _draw_line(line)
        if self._share is not None:
            bar = ui.linear_progress(value=self._share, show_value=False).props('aria-label="Taking in"')
            ui.timer(0.2, lambda: bar.set_value(self._share or 0.0))
        self._button.set_enabled(not problems and self._share is None)
        left = f"{counted(len(problems), 'problem is', 'problems are')} left, each in its line above."
        self._left.set_text(left if problems else "The table is being taken in.")

    async def _protect(self) -> None:
        source, text = self._source, self._policy()
        if source is None or self._share is not None:
            return
        self._share = 0.0
        self._preview.refresh()
        try:
            made = await asyncio.to_thread(
                protect_ops.protect, self._visit.service, self._visit.principal, source, text, self._progress
            )
        except DiscreetError as refusal:
            self._refuse(str(refusal))
            return
        finally:
            self._share = None
            self._preview.refresh()
        state = "public" if made.table.public else "protected"
        done = f"{made.table.name} is {state}. Say above who may ask about it."
        warnings = [*made.unread_words, *made.warnings]
        self._said = [(done, "good"), *((words, "warn") for words in warnings)]
        self._source = self._form = None
        self._words.refresh()
        self._filling.refresh()
        await self._after()

    def _progress(self, share: float) -> None:
        self._share = share


def _draw_line(line: PreviewLine) -> None:
    with ui.element("div").classes("policy-line wrong" if line.problems else "policy-line"):
        ui.label(str(line.number)).classes("nr").props('aria-hidden="true"')
        ui.label(line.text)
    for words in line.problems:
        ui.label(words).classes("policy-said")
