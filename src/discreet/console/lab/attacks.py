"""Attacks in the lab: choose a table, attacks and defences, run them, and watch the scoreboard fill, cell by cell.

Defences stand down, attacks across, and a chart shows one attack.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from functools import partial
from html import escape
from typing import Any

from nicegui import events, ui

from discreet.attacks.people import QUASI, SECRET
from discreet.attacks.report_content import MARKS, percent
from discreet.console import theme
from discreet.console.charts import Bars, Chart, ChartAxis, bar_chart
from discreet.console.lab.worker import (
    CURATOR,
    AttackAskRequest,
    BoardDone,
    Item,
    RunPanel,
    ShownCell,
    curators,
    list_catalogue,
    run_attacks,
)
from discreet.console.layout import PageVisit
from discreet.console.publish.plan import Brought, brought
from discreet.console.websocket_guard import LARGEST_BY_OTHERS
from discreet.errors import DiscreetError, InvalidValue

__all__ = ["AttackTab", "Board", "attack_chart", "attack_words"]


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
    return bar_chart(list(map(_unbroken, defences)), [bars], ChartAxis("right", 0, 100, unit="%"), reference=guessing)


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
        theme.heading("The darker the red, the more was learned from people's own records.", 3)


_ENDINGS = (".csv", ".tsv", ".txt")
_SIZES = {300: "300 patients", 1000: "1,000 patients", 3000: "3,000 patients"}
_EPSILONS = "0.1, 1, 10"
_HOSPITAL, _OWN = "the made-up hospital", "a table of mine"


class AttackTab:
    """The tab of one reader."""

    def __init__(self, visit: PageVisit) -> None:
        self._visit = visit
        self._brought: Brought | None = None
        self._board: Board | None = None

    def draw(self) -> None:
        """All of it."""
        with theme.section("1. Whom to attack"):
            self._draw_table()
        with theme.section("2. With what, and behind which defence"):
            self._attacks = _choices("Attacks", list_catalogue().attacks)
            self._defences = _choices("Defences", list_catalogue().defences)
            self._epsilons = ui.input(f"ε of {CURATOR}, with commas", value=_EPSILONS).props("outlined dense")
            self._epsilons.classes("w-72 max-w-full")
        with theme.section(
            "3. What comes of it", "It runs in a process of its own. Few at a time, and you can stop it."
        ):
            self._panel = RunPanel(self._visit.principal.name, "Run the attacks", self._run, self._on_cell)
            self._result = ui.element("div").classes("w-full").style("display:flex;flex-direction:column;gap:14px")

    # The table.

    def _draw_table(self) -> None:
        self._which = ui.radio([_HOSPITAL, _OWN], value=_HOSPITAL).props('inline aria-label="Which table"')
        with ui.element("div").classes("w-full").bind_visibility_from(self._which, "value", value=_HOSPITAL):
            self._patients = ui.select(_SIZES, value=300, label="Size").props("outlined dense").classes("w-48")
            known = ", ".join(QUASI)
            ui.label(f"Others know {known}; the secret is {SECRET}. Nobody in it exists.").classes("d-muted d-small")
        own = ui.element("div").classes("w-full").bind_visibility_from(self._which, "value", value=_OWN)
        with own.style("display:flex;flex-direction:column;gap:12px"):
            self._draw_upload()

    def _draw_upload(self) -> None:
        ui.label(
            f"One row for each person, as CSV, up to {LARGEST_BY_OTHERS // 1_000_000} MB. It stays in the memory of "
            "this page and is gone with it; at most 20,000 people of it are attacked."
        ).classes("d-muted d-small")
        upload = ui.upload(
            label="Choose or drop a file",
            max_file_size=LARGEST_BY_OTHERS,
            auto_upload=True,
            on_upload=self._uploaded,
            on_rejected=lambda: self._refuse(f"a file must be a .csv of at most {LARGEST_BY_OTHERS:,} bytes"),
        )
        upload.props(f'accept="{",".join(_ENDINGS)}" flat bordered').classes("w-full max-w-md")
        self._facts = ui.element("div").classes("w-full")
        self._quasi = ui.select([], multiple=True, label="What others know").props("outlined dense use-chips")
        self._quasi.classes("w-full max-w-md")
        self._secret = ui.select([], label="What nobody should learn").props("outlined dense")
        self._secret.classes("w-full max-w-md")

    async def _uploaded(self, event: events.UploadEventArguments) -> None:
        if isinstance(event.sender, ui.upload):
            event.sender.reset()
        try:
            if event.file.size() > LARGEST_BY_OTHERS:  # before it is read, whoever sent it
                raise InvalidValue(f"a file must have at most {LARGEST_BY_OTHERS:,} bytes", event.file.size())
            if not event.file.name.lower().endswith(_ENDINGS):  # files that unpack are for owners alone
                raise InvalidValue("a table must be a .csv file here", event.file.name)
            self._brought = await asyncio.to_thread(brought, event.file.name, await event.file.read())
        except DiscreetError as refusal:
            self._refuse(str(refusal))
            return
        table = self._brought.table
        names = table.column_names
        self._quasi.set_options(names, value=names[:-1])
        self._secret.set_options(names, value=names[-1])
        self._say(f"{self._brought.name}: {table.num_rows:,} rows, {table.num_columns} columns", "good")

    def _refuse(self, words: str) -> None:
        self._brought = None
        self._say(words, "error")

    def _say(self, words: str, kind: theme.Kind) -> None:
        self._facts.clear()
        with self._facts:
            theme.notice(words, kind)

    # The run.

    async def _run(self) -> None:
        if self._which.value == _OWN and self._brought is None:
            self._say("Bring a table first.", "warn")
            return
        with tempfile.TemporaryDirectory(prefix="discreet-lab-") as folder:
            ask_request = self._ask_request(folder)
            try:
                self._draw_board(ask_request)
            except DiscreetError as refusal:
                with self._result:
                    theme.notice(str(refusal), "error")
                return
            done = await self._panel.run(partial(run_attacks, ask_request))
        if done is not None:
            self._finish(done)

    def _ask_request(self, folder: str) -> AttackAskRequest:
        own = self._brought if self._which.value == _OWN else None
        defences = tuple(name for name, box in self._defences.items() if box.value)
        typed = [one.strip() for one in str(self._epsilons.value or "").split(",")]
        secret = str(self._secret.value or "")
        return AttackAskRequest(
            folder=folder,
            name="a made-up hospital" if own is None else own.name,
            table=None if own is None else own.table,
            patients=int(self._patients.value or 0),
            quasi=tuple(name for name in self._quasi.value or () if name != secret),
            secret=secret,
            attacks=tuple(name for name, box in self._attacks.items() if box.value),
            defences=defences,
            epsilons=tuple(one for one in typed if one) if CURATOR in defences else (),
        )

    def _draw_board(self, ask_request: AttackAskRequest) -> None:
        self._result.clear()
        self._board = None
        defences = [name for name in ask_request.defences if name != CURATOR]
        defences += curators(ask_request.epsilons)
        if ask_request.attacks and defences:
            with self._result:
                self._board = Board(ask_request.attacks, defences)

    def _on_cell(self, cell: object) -> None:
        if self._board is not None:
            self._board.show(cell)  # type: ignore[arg-type]

    def _finish(self, done: BoardDone) -> None:
        with self._result:
            theme.notice(done.headline, "good")
            with theme.row():
                theme.download_button("The page", "scoreboard.html", "text/html", done.page.encode)
                theme.download_button("The figures", "scoreboard.json", "application/json", done.data.encode)


def _choices(title: str, items: tuple[Item, ...]) -> dict[str, ui.checkbox]:
    """A box to tick for each item, behind a heading that says how many are ticked."""
    boxes: dict[str, ui.checkbox] = {}
    with ui.expansion().props("dense").classes("w-full") as part, ui.element("div").classes("lab-choices"):
        for item in items:
            with ui.element("div").classes("lab-choice"):
                boxes[item.name] = ui.checkbox(item.name, value=item.is_usual)
                ui.label(item.words).classes("d-muted d-small")

    def count() -> None:
        part.set_text(f"{title}: {sum(bool(box.value) for box in boxes.values())} of {len(boxes)} chosen")

    for box in boxes.values():
        box.on_value_change(count)
    count()
    return boxes
