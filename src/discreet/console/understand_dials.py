"""Dials: a number that is chosen with a slider or typed, with the keyboard or without."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from nicegui import ui

from discreet.console.shared_field import shared

__all__ = ["Dial", "Scale", "counted", "logarithmic", "percentages"]

_DIGITS = 3
_TYPING = 250  # milliseconds without a key


@dataclass(frozen=True)
class Scale:
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


def logarithmic(low: float, high: float, *, is_whole: bool = False, zero: bool = False) -> Scale:
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

    return Scale(start, last, 1 if zero else 0.01, text_at, place_of)


def counted(low: int, high: int) -> Scale:
    """Whole numbers, one by one."""
    return Scale(low, high, 1, lambda place: str(round(place)), lambda value: min(max(value, low), high))


def percentages(low: int, high: int) -> Scale:
    """Whole percentages of a number from 0 to 1."""
    return Scale(
        low, high, 1, lambda place: _short(place / 100), lambda value: min(max(100 * value, float(low)), float(high))
    )


def _short(value: float) -> str:
    text = f"{value:.{_DIGITS}g}"
    return text.replace("e-0", "e-").replace("e+0", "e")


class Dial:
    """A slider and a field that always show the same number."""

    def __init__(self, name: str, hint: str, scale: Scale, text: str, on_change: Callable[[], None]) -> None:
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
