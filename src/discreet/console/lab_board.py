"""The scoreboard of the lab, which fills cell by cell: defences down, attacks across, and a chart of one attack."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from nicegui import ui

from discreet.attacks.report_words import MARKS, percent
from discreet.console import look
from discreet.console.charts import Axis, Bars, Chart, bar_chart
from discreet.console.lab_wishes import ShownCell

__all__ = ["Board", "attack_chart", "attack_words"]

_WHOLE = 100
_STRONGEST = 45
"""How much of the colour for harm the worst cell has, in %."""
_ROW = 2.1
_LEAST = 7.0


class Board:
    """A table of cells, of which none is known at first."""

    def __init__(self, attacks: Sequence[str], defences: Sequence[str]) -> None:
        """Draw it where the page is being built."""
        self._attacks, self._defences = list(attacks), list(defences)
        self._cells: dict[tuple[str, str], ShownCell] = {}
        self._buttons: dict[tuple[str, str], ui.element] = {}
        self._chosen = self._attacks[0]
        with ui.element("div").classes("d-table-box").props('tabindex="0" aria-label="The scoreboard"'):
            self._draw_table()
        self._words = ui.label("Every cell says how often the attack was right. Press one to read what it means.")
        self._words.props('role="status"')
        _legend()
        with ui.element("div").classes("w-full"):
            self._select = ui.select(self._attacks, value=self._chosen, label="One attack, every defence")
            self._select.props("outlined dense options-dense").classes("w-72 max-w-full")
            self._select.on_value_change(self._choose)
        height = max(_LEAST, 5 + _ROW * len(self._defences))
        self._chart = Chart(*self._drawn(), height=f"{height}rem")

    def _draw_table(self) -> None:
        with ui.element("table").classes("lab-board"):
            with ui.element("thead"), ui.element("tr"):
                ui.element("td")
                for attack in self._attacks:
                    _head(attack, "col")
            with ui.element("tbody"):
                for defence in self._defences:
                    with ui.element("tr"):
                        _head(_unbroken(defence), "row")
                        for attack in self._attacks:
                            with ui.element("td"):
                                self._buttons[attack, defence] = self._empty(attack, defence)

    def _empty(self, attack: str, defence: str) -> ui.element:
        button = ui.element("button").classes("lab-cell").props('type="button" disabled')
        button.props["aria-label"] = f"{attack} against {defence}: not there yet"
        button.props["title"] = "It is filled in while the attacks run"
        button.on("click", lambda: self._tell(attack, defence))
        with button:
            ui.label("·")
        return button

    def show(self, cell: ShownCell) -> None:
        """Fill in one cell."""
        self._cells[cell.attack, cell.defence] = cell
        button = self._buttons[cell.attack, cell.defence]
        button.props(remove="disabled title")
        button.props["aria-label"] = f"{cell.attack} against {cell.defence}: {cell.words}"
        share = round(_STRONGEST * cell.harm)
        button.style(f"background:color-mix(in srgb, var(--d-bad) {share}%, var(--d-surface))")
        button.clear()
        with button:
            ui.label(cell.text)
        if cell.attack == self._chosen:
            self._chart.redraw(*self._drawn())

    def _tell(self, attack: str, defence: str) -> None:
        cell = self._cells.get((attack, defence))
        if cell is not None:
            self._words.set_text(f"{attack.capitalize()} against {defence}: {cell.words}")

    def _choose(self) -> None:
        self._chosen = str(self._select.value)
        self._chart.redraw(*self._drawn())

    def _drawn(self) -> tuple[dict[str, Any], str]:
        cells = [self._cells.get((self._chosen, defence)) for defence in self._defences]
        return attack_chart(self._defences, cells), attack_words(self._chosen, cells)


def attack_chart(defences: Sequence[str], cells: Sequence[ShownCell | None]) -> dict[str, Any]:
    """How often one attack was right behind each defence, with intervals, beside guessing."""
    known = [None if cell is None or cell.right is None else cell for cell in cells]
    values = [None if cell is None or cell.right is None else _WHOLE * cell.right for cell in known]
    ranges = [
        None if cell is None or cell.interval is None else (_WHOLE * cell.interval[0], _WHOLE * cell.interval[1])
        for cell in known
    ]
    harmful = {place: "var(--d-bad)" for place, cell in enumerate(known) if cell is not None and cell.harm > 0}
    guessing = next((_WHOLE * cell.guessing for cell in known if cell is not None and cell.guessing is not None), None)
    bars = Bars("right", values, 1, harmful, ranges)
    return bar_chart(list(map(_unbroken, defences)), [bars], Axis("right", 0, 100, unit="%"), reference=guessing)


def attack_words(attack: str, cells: Sequence[ShownCell | None]) -> str:
    """What one attack made of the defences, in a sentence."""
    known = [cell for cell in cells if cell is not None and cell.right is not None]
    if not known:
        return f"{attack.capitalize()}: nothing is known yet."
    worst, best = max(known, key=_right), min(known, key=_right)
    guessing = percent(known[0].guessing or 0)
    if worst is best:
        return f"{attack.capitalize()} is right {percent(_right(worst))} of the time; guessing is right {guessing}."
    return (
        f"{attack.capitalize()} is right {percent(_right(worst))} of the time behind {worst.defence}, and "
        f"{percent(_right(best))} behind {best.defence}; guessing, the dotted line, is right {guessing}. Red bars "
        "learned from people's own records."
    )


def _right(cell: ShownCell) -> float:
    return cell.right or 0.0


def _head(text: str, scope: str) -> None:
    ui.html(escape(text), sanitize=False, tag="th").props(f'scope="{scope}"')


def _unbroken(name: str) -> str:
    """No line ends within an equation."""
    return name.replace(" = ", "\u00a0=\u00a0")


def _legend() -> None:
    with ui.expansion("What the signs mean").props("dense").classes("w-full"):
        rows = [(mark, f"{verdict.value}.") for verdict, mark in MARKS.items() if mark]
        rows = [("62 %", "guesses that are right; without a sign, no better than guessing."), *rows]
        rows.append(("–", "the attack has nothing to work on, or could not be run."))
        parts = "".join(f"<dt>{escape(sign)}</dt><dd>{escape(words)}</dd>" for sign, words in rows)
        ui.html(parts, sanitize=False, tag="dl").classes("lab-legend")
        look.heading("The darker the red, the more was learned from people's own records.", 3)
