"""A run in the lab: one piece of separate work with a bar, words and a button to stop it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from nicegui import ui

from discreet.console import look
from discreet.console.lab_desk import DESK
from discreet.console.separate_work import Said, SeparateWork, Stopped, WorkFailed
from discreet.errors import DiscreetError

__all__ = ["RunPanel"]

T = TypeVar("T")
_LOOK_EVERY = 0.2
_LONGEST = 1800.0


class RunPanel:
    """Start, watch and stop."""

    def __init__(self, visitor: str, label: str, start: Callable[[], Any], on_part: Callable[[Any], None]) -> None:
        """Draw it; ``start`` is called when the reader starts, ``on_part`` gets every part that is shown."""
        self._visitor = visitor
        self._on_part = on_part
        self._work: SeparateWork[Any] | None = None
        self._is_left = False
        with look.row():
            self._start = look.button(label, start, icon="play_arrow")
            self._stop = look.button("Stop", self.stop, icon="stop", kind="plain")
            look.says_why(self._start, "A run is under way: stop it, or wait for it.")
            self._words = ui.label().classes("d-muted d-small").props('role="status"')
        self._bar = ui.linear_progress(0, show_value=False).props('rounded aria-label="How far it is"')
        self._said = ui.element("div").classes("w-full")
        self._rest()
        ui.context.client.on_delete(self._leave)

    def stop(self) -> None:
        """End what runs."""
        if self._work is not None:
            self._work.stop()

    def _leave(self) -> None:
        """The reader closed the page: nobody waits for what runs, and nothing can be shown."""
        self._is_left = True
        self.stop()

    async def run(self, task: Callable[[Said], T]) -> T | None:
        """Do the work and show how far it is; None where it was stopped, refused or failed, which is said."""
        self._said.clear()
        try:
            with DESK.place(self._visitor):
                return await self._watched(SeparateWork(task))
        except DiscreetError as refusal:
            self._say(str(refusal), "error")
        except Stopped:
            self._say("Stopped. What was there by then is shown.", "info")
        except WorkFailed:
            self._say("The run failed, and nothing of it is kept.", "error")
        return None

    async def _watched(self, work: SeparateWork[T]) -> T:
        self._work = work
        self._busy()
        ends = time.monotonic() + _LONGEST

        def watch() -> None:
            self._bar.set_value(work.share)
            self._words.set_text(work.words or "starting")
            while work.shown:
                self._on_part(work.shown.pop(0))
            if time.monotonic() > ends:
                work.stop()

        timer = ui.timer(_LOOK_EVERY, watch)
        try:
            found = await work.result()
            watch()
            return found
        finally:
            timer.deactivate()
            self._work = None
            self._rest()

    def _busy(self) -> None:
        self._start.disable()
        self._stop.set_visibility(True)
        self._bar.set_visibility(True)
        self._bar.set_value(0)

    def _rest(self) -> None:
        if self._is_left:
            return
        self._start.enable()
        self._stop.set_visibility(False)
        self._bar.set_visibility(False)
        self._words.set_text("")

    def _say(self, words: str, kind: look.Kind) -> None:
        if not self._is_left:
            with self._said:
                look.notice(words, kind)
