"""A run in the lab: attacks or an audit in a process of its own, with a bar, words and a button to stop it.

Runs take a whole processor, so there are few places for them. What a run is asked to do, and what it hands back cell by
cell, is plain data that travels between processes. It gets tables that were uploaded or made up, and never opens a
curator's folder. Attacks, defences and mechanisms are listed here, each with a sentence about it.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import pyarrow as pa
from nicegui import ui

from discreet.attacks.board import Cell, scoreboard
from discreet.attacks.catalogue import every_attack, every_defence
from discreet.attacks.people import QUASI, SECRET, patients
from discreet.attacks.report_content import MARKS, harm, percent, reading
from discreet.attacks.report_content import headline as headline_of_board
from discreet.audit.audit import audit_case
from discreet.audit.builtin import Case, builtin_case, builtin_mechanisms
from discreet.audit.gallery import BROKEN as EXHIBITS
from discreet.audit.report import (
    claim_figure,
    confidence_words,
    event_words,
    exact_figure,
    headline,
    observed_figure,
)
from discreet.console import theme
from discreet.console.worker import ProgressRelay, SeparateWork, Stopped, WorkFailed
from discreet.errors import DiscreetError, InvalidValue, TooManyRequests
from discreet.time_limits import LAB_AUDIT

__all__ = [
    "BROKEN",
    "CURATOR",
    "MENDED",
    "OURS",
    "WORKER",
    "AttackAskRequest",
    "AuditAskRequest",
    "Audited",
    "BoardDone",
    "Item",
    "LabCatalogue",
    "LabQueue",
    "RunPanel",
    "ShownCell",
    "curators",
    "list_catalogue",
    "run_attacks",
    "run_audit",
    "shown_cell",
]


_PLACES = 2


class LabQueue:
    """So many places, and one for each principal at most."""

    def __init__(self, places: int = _PLACES) -> None:
        self._places = places
        self._taken: set[str] = set()

    @contextmanager
    def place(self, principal: str) -> Iterator[None]:
        """A place for a principal, until they leave it; refused where there is none."""
        if principal in self._taken:
            raise TooManyRequests("one person runs one thing at a time", None, "wait for it, or stop it")
        if len(self._taken) >= self._places:
            rule = f"the lab runs {self._places} things at a time"
            raise TooManyRequests(rule, None, "somebody else is at work; try again in a minute")
        self._taken.add(principal)
        try:
            yield
        finally:
            self._taken.discard(principal)


WORKER = LabQueue()
"""The worker of this process."""


T = TypeVar("T")
_LOOK_EVERY = 0.2
_LONGEST = 1800.0


class RunPanel:
    """Start, watch and stop."""

    def __init__(self, principal: str, label: str, start: Callable[[], Any], on_part: Callable[[Any], None]) -> None:
        """Draw it; ``start`` is called when the reader starts, ``on_part`` gets every part that is shown."""
        self._principal = principal
        self._on_part = on_part
        self._work: SeparateWork[Any] | None = None
        self._is_left = False
        with theme.row():
            self._start = theme.button(label, start, icon="play_arrow")
            self._stop = theme.button("Stop", self.stop, icon="stop", kind="plain")
            theme.says_why(self._start, "A run is under way: stop it, or wait for it.")
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

    async def run(self, task: Callable[[ProgressRelay], T]) -> T | None:
        """Do the work and show how far it is; None where it was stopped, refused or failed, which is said."""
        self._said.clear()
        try:
            with WORKER.place(self._principal):
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

    def _say(self, words: str, kind: theme.Kind) -> None:
        if not self._is_left:
            with self._said:
                theme.notice(words, kind)


@dataclass(frozen=True, eq=False)
class AttackAskRequest:
    """Which attacks to run on which table."""

    folder: str
    """Where the process may write; it is emptied afterwards."""
    name: str
    """What the table is called."""
    table: pa.Table | None
    """A table of the principal's own; None for the made-up hospital."""
    patients: int
    """How many patients the hospital has."""
    quasi: tuple[str, ...]
    """What others know; of no use for the hospital, which knows its own."""
    secret: str
    """What nobody should learn; likewise."""
    attacks: tuple[str, ...]
    """The names of attacks."""
    defences: tuple[str, ...]
    """The names of defences; the curator is one, whatever its ε."""
    epsilons: tuple[str, ...]
    """The budgets of the curator."""


@dataclass(frozen=True)
class ShownCell:
    """One attack against one defence, as people see it."""

    attack: str
    """The name of the attack."""
    defence: str
    """The name of the defence."""
    text: str
    """How often it was right, with a sign where that says something."""
    harm: float
    """How much of what guessing leaves open was learned from people's own records, from 0 to 1."""
    words: str
    """The same in a sentence."""
    right: float | None
    """The share of right guesses; None where there were none."""
    interval: tuple[float, float] | None
    """Where that share lies, with confidence 95 %."""
    guessing: float | None
    """The share that guessing without the release gets right."""


@dataclass(frozen=True)
class BoardDone:
    """A finished scoreboard."""

    headline: str
    """What came of it, in a sentence or two."""
    page: str
    """The scoreboard as a page that stands alone."""
    data: str
    """The same as JSON."""


@dataclass(frozen=True)
class AuditAskRequest:
    """What to audit, and how."""

    kind: str
    """Broken, mended, or ours."""
    name: str
    """The mechanism."""
    epsilon: str
    """What ours is to claim; the others have claims of their own."""
    draws: int
    """How many answers to draw."""


@dataclass(frozen=True)
class Audited:
    """What an audit found."""

    verdict: str
    """One word."""
    headline: str
    """The same in a sentence."""
    claim: str
    """What was claimed."""
    claimed: float | None
    """The ε of the claim; None where it has none of its own."""
    observed: float
    """The ε that the draws prove to be lost."""
    observed_words: str
    """The same in words."""
    exact: float | None
    """The ε that the laws themselves lose; None where they are not known, or it has no end."""
    exact_words: str
    """The same in words; empty where the laws are not known."""
    event: str
    """The event that proves most, in words."""
    confidence: str
    """How sure the verdict is."""
    inputs: tuple[str, str]
    """The two neighbours."""
    laws: tuple[tuple[str, float, float], ...]
    """How often each outcome was seen for the two inputs."""
    page: str
    """The report as a page that stands alone."""
    data: str
    """The same as JSON."""


CURATOR = "Discreet"
"""The defence that is tried at every ε."""
BROKEN, MENDED, OURS = "broken", "mended", "ours"
"""Kinds of mechanisms to audit."""


@dataclass(frozen=True)
class Item:
    """One thing on a shelf."""

    name: str
    """What it is called."""
    words: str
    """What it is, in a sentence or two."""
    is_usual: bool = False
    """Whether it is chosen unless the reader says otherwise."""
    kind: str = ""
    """For a mechanism, whether it is broken, mended or one of ours."""
    draws: int = 100_000
    """For a mechanism, how many draws are enough to see what it does."""


@dataclass(frozen=True)
class LabCatalogue:
    """Everything that can be tried."""

    attacks: tuple[Item, ...]
    """Ways to learn about a person."""
    defences: tuple[Item, ...]
    """Ways to prevent it."""
    mechanisms: tuple[Item, ...]
    """What can be audited: the gallery of broken mechanisms, their mended twins, and ours."""


_USUAL_ATTACKS = ("linkage", "homogeneity", "differencing", "averaging", "tracing")
_USUAL_DEFENCES = ("names removed", "5-anonymity", "exact answers", "minimum size 10", "Laplace noise, ε = 0.5 each")
_OUR_DRAWS = 200_000
_MOST_BUDGETS = 10


@cache
def list_catalogue() -> LabCatalogue:
    """All of it."""
    attacks = [
        Item(one.name, f"{one.claims} It needs: {_small(one.needs)}", one.name in _USUAL_ATTACKS)
        for one in every_attack()
    ]
    defences = [Item(one.name, one.says, one.name in _USUAL_DEFENCES) for one in every_defence(())]
    (curator,) = every_defence((1,))[len(defences) :]
    return LabCatalogue(tuple(attacks), (*defences, Item(CURATOR, curator.says, is_usual=True)), _mechanisms())


def _mechanisms() -> tuple[Item, ...]:

    broken = [Item(one.name, one.wrong, kind=BROKEN, draws=one.draws) for one in EXHIBITS]
    mended = [
        Item(case.name, case.about, kind=MENDED, draws=case.draws)
        for case in (one.honest_case for one in EXHIBITS)
        if case is not None
    ]
    ours = [Item(case.name, case.about, kind=OURS, draws=_OUR_DRAWS) for case in builtin_mechanisms()]
    return (*broken, *mended, *ours)


def curators(epsilons: Sequence[str]) -> list[str]:
    """The names of the curator at these budgets; what is no budget is refused, and so are more than fit on a page."""
    if len(epsilons) > _MOST_BUDGETS:
        raise InvalidValue(f"the curator is tried at {_MOST_BUDGETS} budgets at most", f"<{len(epsilons):,}>")
    return [one.name for one in every_defence(epsilons)[len(every_defence(())) :]]


def _small(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def run_attacks(ask_request: AttackAskRequest, said: ProgressRelay) -> BoardDone:
    """Run the attacks; every cell is shown as soon as it is there."""
    tempfile.tempdir = ask_request.folder  # so that nothing is left behind when this process is ended

    attacks = [one for one in every_attack() if one.name in ask_request.attacks]
    plain = len(every_defence(()))
    defences = [
        one
        for place, one in enumerate(every_defence(ask_request.epsilons))
        if (one.name if place < plain else CURATOR) in ask_request.defences
    ]
    board = scoreboard(
        **_source(ask_request),
        attacks=attacks,
        defences=defences,
        progress=said,
        seen=lambda cell: said.show(shown_cell(cell)),
    )
    said(1.0, "drawing the page")
    return BoardDone(headline_of_board(board), board.to_html(), board.to_json())


def _source(ask_request: AttackAskRequest) -> dict[str, Any]:
    """The table, what others know, the secret, and a name."""
    if ask_request.table is None:
        return {"table": patients(ask_request.patients), "quasi": QUASI, "secret": SECRET, "name": ask_request.name}
    if not ask_request.quasi:
        raise InvalidValue("an attack needs columns that outsiders know", "<no column>", "choose one or more")
    return {
        "table": ask_request.table,
        "quasi": ask_request.quasi,
        "secret": ask_request.secret,
        "name": ask_request.name,
    }


def shown_cell(cell: Cell) -> ShownCell:
    """A cell as people see it."""
    said = reading(cell).rstrip(".")
    if cell.score is None or cell.verdict is None:
        return ShownCell(cell.attack, cell.defence, "–", 0.0, f"{said}.", None, None, None)
    score = cell.score
    rates = f"{percent(score.right.rate)} right, where guessing is right {percent(score.baseline.rate)}"
    text = f"{percent(score.right.rate)} {MARKS[cell.verdict]}".rstrip()
    note = f" {score.note}" if score.note else ""
    words = f"{rates}: {said}.{note}"
    sizes = score.right.rate, score.right.interval(), score.baseline.rate
    return ShownCell(cell.attack, cell.defence, text, harm(cell), words, *sizes)


def run_audit(ask_request: AuditAskRequest, said: ProgressRelay) -> Audited:
    """Audit one mechanism."""

    def drawn(done: int, total: int) -> None:
        said(done / total, f"{done:,} of {total:,} answers drawn")

    report = audit_case(_case(ask_request), draws=ask_request.draws, seconds=LAB_AUDIT, progress=drawn)
    exact = None if report.exact is None else report.exact.epsilon
    return Audited(
        verdict=str(report.verdict),
        headline=headline(report),
        claim=claim_figure(report.claim),
        claimed=_epsilon(report.claim),
        observed=report.observed_epsilon,
        observed_words=observed_figure(report),
        exact=exact if exact is not None and exact < _ENDLESS else None,
        exact_words=exact_figure(report),
        event="" if report.best is None else event_words(report.best),
        confidence=confidence_words(report),
        inputs=(report.first, report.second),
        laws=tuple((one.outcome, one.first, one.second) for one in report.seen),
        page=report.to_html(),
        data=report.to_json(),
    )


_ENDLESS = 1e6


def _epsilon(claim: Any) -> float | None:
    found = getattr(claim, "epsilon", None)
    return None if found is None else float(found)


def _case(ask_request: AuditAskRequest) -> Case:

    if ask_request.kind == BROKEN:
        return next(one.case for one in EXHIBITS if one.name == ask_request.name)
    if ask_request.kind == MENDED:
        honest_cases = (one.honest_case for one in EXHIBITS)
        return next(case for case in honest_cases if case is not None and case.name == ask_request.name)
    return builtin_case(ask_request.name, ask_request.epsilon)
