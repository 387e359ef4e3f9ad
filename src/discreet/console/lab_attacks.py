"""The bench of attacks: choose a table, attacks and defences, run them, and watch the scoreboard fill."""

from __future__ import annotations

import asyncio
import tempfile
from functools import partial

from nicegui import events, ui

from discreet.attacks.hospital import QUASI, SECRET
from discreet.console import look
from discreet.console.door import LARGEST_BY_OTHERS
from discreet.console.lab_board import Board
from discreet.console.lab_catalogue import CURATOR, Item, curators, shelves
from discreet.console.lab_run import RunPanel
from discreet.console.lab_wishes import AttackWish, BoardDone
from discreet.console.lab_work import run_attacks
from discreet.console.publishing.brought_table import Brought, brought
from discreet.console.visit import Visit
from discreet.errors import DiscreetError, InvalidValue

__all__ = ["AttackBench"]

_ENDINGS = (".csv", ".tsv", ".txt")
_SIZES = {300: "300 patients", 1000: "1,000 patients", 3000: "3,000 patients"}
_EPSILONS = "0.1, 1, 10"
_HOSPITAL, _OWN = "the made-up hospital", "a table of mine"


class AttackBench:
    """One reader's bench."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        self._brought: Brought | None = None
        self._board: Board | None = None

    def draw(self) -> None:
        """All of it."""
        with look.section("1. Whom to attack"):
            self._draw_table()
        with look.section("2. With what, and behind which defence"):
            self._attacks = _choices("Attacks", shelves().attacks)
            self._defences = _choices("Defences", shelves().defences)
            self._epsilons = ui.input(f"ε of {CURATOR}, with commas", value=_EPSILONS).props("outlined dense")
            self._epsilons.classes("w-72 max-w-full")
        with look.section(
            "3. What comes of it", "It runs in a process of its own. Few at a time, and you can stop it."
        ):
            self._panel = RunPanel(self._visit.visitor.name, "Run the attacks", self._run, self._on_cell)
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

    def _say(self, words: str, kind: look.Kind) -> None:
        self._facts.clear()
        with self._facts:
            look.notice(words, kind)

    # The run.

    async def _run(self) -> None:
        if self._which.value == _OWN and self._brought is None:
            self._say("Bring a table first.", "warn")
            return
        with tempfile.TemporaryDirectory(prefix="discreet-lab-") as folder:
            wish = self._wish(folder)
            try:
                self._draw_board(wish)
            except DiscreetError as refusal:
                with self._result:
                    look.notice(str(refusal), "error")
                return
            done = await self._panel.run(partial(run_attacks, wish))
        if done is not None:
            self._finish(done)

    def _wish(self, folder: str) -> AttackWish:
        own = self._brought if self._which.value == _OWN else None
        defences = tuple(name for name, box in self._defences.items() if box.value)
        typed = [one.strip() for one in str(self._epsilons.value or "").split(",")]
        secret = str(self._secret.value or "")
        return AttackWish(
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

    def _draw_board(self, wish: AttackWish) -> None:
        self._result.clear()
        self._board = None
        defences = [name for name in wish.defences if name != CURATOR]
        defences += curators(wish.epsilons)
        if wish.attacks and defences:
            with self._result:
                self._board = Board(wish.attacks, defences)

    def _on_cell(self, cell: object) -> None:
        if self._board is not None:
            self._board.show(cell)  # type: ignore[arg-type]

    def _finish(self, done: BoardDone) -> None:
        with self._result:
            look.notice(done.headline, "good")
            with look.row():
                look.download_button("The page", "scoreboard.html", "text/html", done.page.encode)
                look.download_button("The figures", "scoreboard.json", "application/json", done.data.encode)


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
