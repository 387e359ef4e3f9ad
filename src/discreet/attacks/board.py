"""Every attack against every defence, on one table: who learns what, beside guessing without any release.

>>> import pyarrow as pa
>>> people = pa.table({"age": list(range(20, 60)) * 3, "ill": ["no", "yes", "no"] * 40})
>>> board = scoreboard(people, quasi=["age"], secret="ill", attacks=["direct"], defences=["exact"])
>>> cell = board.cells[0]
>>> cell.attack, cell.defence, cell.score.right, cell.verdict.name
('direct question', 'exact answers', Proportion(hits=96, trials=96), 'LEAK')

A scene has everything that an attack is run on and scored by: who is in the table, who is attacked, and what is true.
The truth never reaches the attack: it gets views and `Knowledge`, and the scene keeps the rest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.attacks.attack import Attack, Defence, Goal, Guesses, Knowledge, View
from discreet.attacks.catalogue import chosen_attacks, chosen_defences
from discreet.attacks.people import Codes, People
from discreet.attacks.report_content import board_details, board_document, board_summary, report_data
from discreet.attacks.score import DefenceVerdict, Score, ceiling_of, scored, verdict_of
from discreet.errors import DiscreetError
from discreet.exact.rational import Number
from discreet.noise.experiment import Chance, experiment
from discreet.reports.document import Document
from discreet.reports.report import Report

__all__ = ["EPSILONS", "Cell", "Inapplicable", "Progress", "Scene", "Scoreboard", "Stage", "held_against", "scoreboard"]


_MOST_PEOPLE = 20_000
_MOST_KNOWN_WRONG = 2
_CONTROLS = 5  # one in so many people is left out of the table, to see what is learned without being in it


@dataclass(frozen=True)
class Inapplicable:
    """An attack that this defence leaves nothing to do."""

    reason: str
    """Why, in a sentence."""


@dataclass(frozen=True, eq=False)
class Scene:
    """One attack's stage, the same for every defence."""

    attack: Attack
    """Who attacks."""
    everybody: People
    """The outside list, by number."""
    releases: tuple[Codes, ...]
    """For every release the numbers of the people in it."""
    targets: Codes
    """Whom the attack is about."""
    controls: Codes
    """People who are in no release, guessed in the same way."""
    seed: int
    """Where all chance but the curator's comes from."""

    @classmethod
    def of(cls, attack: Attack, people: People, seed: int = 0) -> Scene:
        """Divide the people for one attack: a table, overlapping tables, or members and others."""
        chance = experiment(seed)
        size = min(people.size, attack.most_people or _MOST_PEOPLE)
        everybody = people.take(np.sort(chance.permutation(people.size)[:size])).renumbered()
        if attack.goal is Goal.MEMBERSHIP:
            return cls._of_members(attack, everybody, chance.permutation(size), seed)
        controls, inside = np.split(chance.permutation(size), [size // _CONTROLS if attack.has_controls else 0])
        parts = attack.releases + 1 if attack.releases > 1 else 1  # else several releases would be one and the same
        targets, others = np.split(inside, [min(attack.most_targets, len(inside) // parts)])
        releases = [np.sort(np.concatenate([targets, part])) for part in np.array_split(others, attack.releases)]
        return cls(attack, everybody, tuple(releases), targets, controls[: attack.most_targets], seed)

    @classmethod
    def _of_members(cls, attack: Attack, everybody: People, order: Codes, seed: int) -> Scene:
        members, others = np.array_split(order, 2)
        each = min(attack.most_targets // 2, len(others) // 2)
        targets = np.concatenate([members[:each], others[:each]])
        return cls(attack, everybody, (np.sort(members),), targets, others[:0], seed)

    def run(self, defence: Defence) -> Score | Inapplicable:
        """The attack against one defence."""
        if not len(self.targets):
            return Inapplicable("There are too few people to attack.")
        chance = experiment(self.seed + 1)
        with ExitStack() as opened:
            views = [opened.enter_context(closing(self._view(defence, rows, chance))) for rows in self.releases]
            return self._attack(views, chance)

    def _view(self, defence: Defence, rows: Codes, chance: Chance) -> View:
        return defence.defend(self.everybody.take(rows), self.everybody, chance)

    def _attack(self, views: Sequence[View], chance: Chance) -> Score | Inapplicable:
        reason = self.attack.does_not_apply(views[0])
        if reason:
            return Inapplicable(reason)
        people = np.concatenate([self.targets, self.controls])
        known = self._known(people, experiment(self.seed + 2))  # drawn apart: the same for every defence
        guesses = self.attack.guess(views, known, chance)
        asked, refused = sum(view.asked for view in views), sum(view.refused for view in views)
        usual = self._usual(known.excluded)
        inside = len(self.targets)
        score = replace(self._score(guesses, usual, slice(inside), self.targets), asked=asked, refused=refused)
        if not len(self.controls):
            return score
        control = self._score(guesses, usual, slice(inside, None), self.controls)
        return replace(score, control=control.right, control_claims=control.claims)

    def _score(self, guesses: Guesses, usual: Codes, part: slice, people: Codes) -> Score:
        everybody = self._truth(np.arange(self.everybody.size))
        share = 1.0 if self.attack.rules_out else float((everybody == usual[0]).mean())
        return scored(Guesses(guesses.values[part], guesses.note), self._truth(people), usual[part], share)

    def _truth(self, people: Codes) -> Codes:
        match self.attack.goal:
            case Goal.VALUE:
                return self.everybody.secret.codes[people]
            case Goal.BIT:
                return self.everybody.bits[people].astype(np.int64)
            case Goal.MEMBERSHIP:
                return np.isin(people, self.releases[0]).astype(np.int64)

    def _usual(self, excluded: npt.NDArray[np.bool_]) -> Codes:
        """What guesses without the release say of every target: the most frequent of what is not ruled out."""
        times = np.bincount(self._truth(np.arange(self.everybody.size)), minlength=excluded.shape[1])
        if not self.attack.rules_out:
            return np.full(len(excluded), times.argmax())
        return np.asarray(np.where(excluded, -1, times).argmax(axis=1))

    def _known(self, people: Codes, chance: Chance) -> Knowledge:
        is_tracing = self.attack.goal is Goal.MEMBERSHIP
        strangers = np.setdiff1d(np.arange(self.everybody.size), np.concatenate([*self.releases, people]))
        return Knowledge(
            {name: self.everybody.columns[name] for name in self.everybody.quasi},
            self.everybody.secret_name,
            self.everybody.secret.values,
            self.everybody.marked,
            people,
            self._known_wrong(people, chance),
            self.everybody.take(people) if is_tracing else None,
            self.everybody.take(strangers) if is_tracing else None,
        )

    def _known_wrong(self, people: Codes, chance: Chance) -> npt.NDArray[np.bool_]:
        """For every target some secrets that the outsider has ruled out: two, and never all but one."""
        values = len(self.everybody.secret.values)
        ruled_out = min(_MOST_KNOWN_WRONG, values - 2) if self.attack.rules_out else 0
        drawn = chance.random((len(people), values))
        drawn[np.arange(len(people)), self.everybody.secret.codes[people]] = 2  # the true one is never ruled out
        return drawn.argsort(axis=1).argsort(axis=1) < ruled_out


EPSILONS: tuple[Number, ...] = ("0.1", 1, 10)
"""The budgets at which the curator is attacked."""
Progress = Callable[[float, str], None]
"""Told the share that is done, and what is done next."""
Stage = Callable[[Attack, People, int], Scene]
"""Divides the people for an attack, by a seed."""


@dataclass(frozen=True)
class Cell:
    """One attack against one defence."""

    attack: str
    """The name of the attack."""
    defence: str
    """The name of the defence."""
    score: Score | None
    """How it went; None where it did not."""
    reason: str = ""
    """Why there is no score, in a sentence."""
    verdict: DefenceVerdict | None = None
    """How the score reads."""
    ceiling: float | None = None
    """The most that the promise of the defence allows; None where it promises nothing."""
    seconds: float = 0.0
    """How long it took."""


@dataclass(frozen=True, eq=False)
class Scoreboard(Report):
    """What every attack made of every defence."""

    name: str
    """What the table is called."""
    people: People
    """The table."""
    attacks: tuple[Attack, ...]
    """Who attacked."""
    defences: tuple[Defence, ...]
    """What was attacked."""
    cells: tuple[Cell, ...]
    """Every attack against every defence, attack by attack."""
    seed: int
    """Where all chance but the curator's comes from."""

    @cached_property
    def _places(self) -> dict[tuple[str, str], Cell]:
        return {(cell.attack, cell.defence): cell for cell in self.cells}

    def cell(self, attack: Attack, defence: Defence) -> Cell:
        """One attack against one defence."""
        return self._places[attack.name, defence.name]

    def of(self, attack: Attack) -> list[Cell]:
        """One attack against every defence."""
        return [self.cell(attack, defence) for defence in self.defences]

    @property
    def seconds(self) -> float:
        """How long everything took."""
        return sum(cell.seconds for cell in self.cells)

    def to_dict(self) -> dict[str, Any]:
        """The scoreboard as plain data."""
        return report_data(self)

    def document(self) -> Document:
        """All of it, with charts of what the attacks do at scale, which take some seconds."""
        return board_document(self)

    def summary(self) -> Document:
        """The scores, what their signs mean, and what came of every defence."""
        return board_summary(self)

    def details(self) -> Document:
        """What every defence does, and every attack by itself with every score and its interval."""
        return board_details(self)


def scoreboard(
    table: Any,
    *,
    quasi: Sequence[str],
    secret: str,
    attacks: Sequence[Attack | str] | None = None,
    defences: Sequence[Defence | str] | None = None,
    epsilons: Sequence[Number] = EPSILONS,
    seed: int = 0,
    progress: Progress | None = None,
    seen: Callable[[Cell], None] | None = None,
    name: str = "table",
) -> Scoreboard:
    """Run every attack against every defence on a table with one row for each person.

    ``quasi`` are the columns that others may know, ``secret`` is the one that nobody should learn. ``attacks`` and
    ``defences`` are all there are, or objects, or parts of names. ``epsilons`` are the budgets of the curator. All
    chance but the curator's own comes from ``seed``. ``seen`` is shown every cell as soon as it is there.
    """
    people = People.of(table, quasi, secret)
    against = chosen_attacks(attacks), chosen_defences(defences, epsilons)
    return held_against(people, *against, seed=seed, progress=progress, seen=seen, name=name)


def held_against(
    people: People,
    attacks: Sequence[Attack],
    defences: Sequence[Defence],
    *,
    seed: int = 0,
    progress: Progress | None = None,
    seen: Callable[[Cell], None] | None = None,
    name: str = "table",
    stage: Stage = Scene.of,
) -> Scoreboard:
    """The scoreboard of these attacks and defences; ``stage`` says who is in the table and who is attacked."""
    scenes = (stage(attack, people, seed) for attack in attacks)
    found = _cells(scenes, defences, len(attacks) * len(defences), progress or _unheard)
    cells = tuple(_shown_to(seen, cell) for cell in found)
    return Scoreboard(name, people, tuple(attacks), tuple(defences), cells, seed)


def _cells(scenes: Iterable[Scene], defences: Sequence[Defence], total: int, progress: Progress) -> Iterator[Cell]:
    for done, (scene, defence) in enumerate(product(scenes, defences)):
        progress(done / total, f"{scene.attack.name} against {defence.name}")
        yield _cell(scene, defence)
    progress(1.0, "")


def _cell(scene: Scene, defence: Defence) -> Cell:
    start = time.perf_counter()
    try:
        found = scene.run(defence)
    except DiscreetError as refusal:
        found = Inapplicable(f"It could not be run: {' '.join(str(refusal).split())}.")
    took = time.perf_counter() - start
    attack = scene.attack
    if isinstance(found, Inapplicable):
        return Cell(attack.name, defence.name, None, found.reason, seconds=took)
    ceiling = ceiling_of(found, attack.goal, defence.promise, attack.releases)
    return Cell(attack.name, defence.name, found, "", verdict_of(found, attack, defence), ceiling, took)


def _shown_to(seen: Callable[[Cell], None] | None, cell: Cell) -> Cell:
    if seen is not None:
        seen(cell)
    return cell


def _unheard(share: float, words: str) -> None:
    """Nobody waits for it."""
