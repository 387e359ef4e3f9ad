"""Controls that several pages share.

There is one line to choose a file or drop it on; a field that both whoever types and the page change; a dial, whose
number is chosen with a slider or typed; keyboard focus that stays where it was when a control is drawn anew; and the
latest of several requests, where what older ones find is dropped, however late.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from nicegui import events, ui
from nicegui.element import Element

__all__ = [
    "UPLOAD_STYLE",
    "Dial",
    "Latest",
    "SliderScale",
    "come_back_to",
    "counted",
    "logarithmic",
    "one_line_upload",
    "percentages",
    "shared",
    "stay_on",
]


UPLOAD_STYLE = """
.one-line-upload{width:22rem;max-width:100%}
.one-line-upload .q-uploader__list,.one-line-upload .q-uploader__subtitle{display:none}
.one-line-upload .q-uploader__header{background:var(--d-raised);color:var(--d-text);border-radius:8px}
"""
"""The rules of the line, for a page that has one."""


def one_line_upload(
    label: str,
    endings: str,
    largest: int,
    on_upload: Callable[[events.UploadEventArguments], Any],
    on_rejected: Callable[[], object],
) -> ui.upload:
    """The line; files with other ``endings`` or with more bytes than ``largest`` are rejected before they are sent."""
    made = ui.upload(label=label, max_file_size=largest, auto_upload=True, on_upload=on_upload, on_rejected=on_rejected)
    return made.props(f'accept="{endings}" flat bordered').classes("one-line-upload")


def shared(field: ui.input) -> ui.input:
    """Let what is typed be the field's value in the browser at once.

    A new value of ours comes in two messages: the second shows what the first brought. Without this, it would show it
    again over what was typed between the two.
    """
    is_it = f"(typed) => {{ mounted_app.elements[{field.id}].props.value = typed; }}"
    return field.on("update:value", js_handler=is_it)


_FRAMES = 120
"""How many frames to wait until the control is on the page."""


def stay_on(control: Element) -> None:
    """Put the focus on a control that was drawn a moment ago."""
    control.client.run_javascript(
        "(function again(frames) {"
        f"const box = getHtmlElement({control.id});"
        "if (box) (box.querySelector('input') ?? box).focus();"
        "else if (frames) requestAnimationFrame(() => again(frames - 1));"
        f"}})({_FRAMES})"
    )


def come_back_to(control: Element) -> None:
    """Put the focus on a control that lost it while it could not be used, unless something else has it by now."""
    if control.is_deleted:
        return
    control.client.run_javascript(
        "(function again(frames) {"
        f"const box = getHtmlElement({control.id});"
        "if (!box || document.activeElement !== document.body) return;"
        "box.focus();"
        "if (frames) requestAnimationFrame(() => again(frames - 1));"
        f"}})({_FRAMES})"
    )


Found = TypeVar("Found")


class Latest:
    """Works that replace each other."""

    def __init__(self) -> None:
        """Nothing was asked for yet."""
        self._turn = 0

    async def run(
        self, work: Callable[[], Awaitable[Found]], show: Callable[[Found], object], pause: float = 0.0
    ) -> None:
        """After ``pause`` seconds do the work, and show what it found, unless another was asked for meanwhile."""
        self._turn += 1
        turn = self._turn
        await asyncio.sleep(pause)
        if turn == self._turn:
            found = await work()
            if turn == self._turn:
                show(found)


_DIGITS = 3
_TYPING = 250  # milliseconds without a key


@dataclass(frozen=True)
class SliderScale:
    """Where numbers lie on a slider."""

    low: float
    """The first place."""
    high: float
    """The last one."""
    step: float
    """From one place to the next."""
    text_at: Callable[[float], str]
    """The number at a place, as people write it."""
    place_of: Callable[[float], float]
    """The place of a number."""


def logarithmic(low: float, high: float, *, is_whole: bool = False, zero: bool = False) -> SliderScale:
    """Equal steps multiply; with ``zero`` the first place stands for 0."""
    first, last = math.log10(low), math.log10(high)
    start = first - 1 if zero else first

    def text_at(place: float) -> str:
        if zero and place < first - 0.5:
            return "0"
        value = 10**place
        return str(round(float(f"{value:.{_DIGITS}g}"))) if is_whole else _short(value)

    def place_of(value: float) -> float:
        return start if value <= 0 else min(max(math.log10(value), first), last)

    return SliderScale(start, last, 1 if zero else 0.01, text_at, place_of)


def counted(low: int, high: int) -> SliderScale:
    """Whole numbers, one by one."""
    return SliderScale(low, high, 1, lambda place: str(round(place)), lambda value: min(max(value, low), high))


def percentages(low: int, high: int) -> SliderScale:
    """Whole percentages of a number from 0 to 1."""
    return SliderScale(
        low, high, 1, lambda place: _short(place / 100), lambda value: min(max(100 * value, float(low)), float(high))
    )


def _short(value: float) -> str:
    text = f"{value:.{_DIGITS}g}"
    return text.replace("e-0", "e-").replace("e+0", "e")


class Dial:
    """A slider and a field that always show the same number."""

    def __init__(self, name: str, hint: str, scale: SliderScale, text: str, on_change: Callable[[], None]) -> None:
        """Draw it where the page is being built; ``on_change`` hears of every change."""
        self.text = text
        self._scale = scale
        self._on_change = on_change
        self._is_following = False
        with ui.element("div").classes("d-dial"):
            with ui.element("div").classes("d-dial-head"):
                ui.label(name).classes("d-h3")
                self._field = shared(ui.input(value=text, on_change=self._typed)).props(
                    f'dense outlined debounce={_TYPING} inputmode="decimal" input-class="text-right"'
                )
                self._field.props["aria-label"] = name
            ends = {"min": scale.low, "max": scale.high, "step": scale.step}
            self._slider = ui.slider(**ends, value=self._place(), on_change=self._moved)
            self._slider.props["aria-label"] = f"{name}, slider"
            self._slider.props["aria-valuetext"] = text
            ui.label(hint).classes("d-muted d-small")

    def _place(self) -> float:
        try:
            return self._scale.place_of(float(self.text))
        except (ValueError, OverflowError):
            return self._slider.value or self._scale.low

    def _typed(self) -> None:
        if not self._is_following and (self._field.value or "").strip() != self.text:
            self.text = (self._field.value or "").strip()
            self._follow(lambda: self._slider.set_value(self._place()))

    def _moved(self) -> None:
        if not self._is_following and self._slider.value is not None:
            self.text = self._scale.text_at(self._slider.value)
            self._follow(lambda: self._field.set_value(self.text))

    def _follow(self, move: Callable[[], object]) -> None:
        """Move the other one without listening to it."""
        self._is_following = True
        try:
            move()
        finally:
            self._is_following = False
        self._slider.props["aria-valuetext"] = self.text
        self._on_change()
