"""First step of a publication: bring a table, or take the made-up one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from nicegui import events, ui

from discreet.console.publish.plan import LARGEST_FILE, Brought, brought, example, laid_out
from discreet.console.publish.state import Bench
from discreet.console.theme import button, notice, row, section
from discreet.console.widgets import one_line_upload
from discreet.errors import DiscreetError
from discreet.service.operations.uploads import ENDINGS

__all__ = ["TableStep"]


class TableStep:
    """Where the table comes from."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._problem = ""

    def draw(self) -> None:
        """The step."""
        largest = min(LARGEST_FILE, self._bench.visit.service.settings.largest_upload)
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
        if self._bench.table is not None:
            found = self._bench.table.brought
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
        self._bench.bring(table)
        self._say("")

    def _say(self, problem: str) -> None:
        self._problem = problem
        self._facts.refresh()
