"""Every attack against every defence, on one table: who learns what, beside guessing without any release.

>>> import pyarrow as pa
>>> people = pa.table({"age": list(range(20, 60)) * 3, "ill": ["no", "yes", "no"] * 40})
>>> board = scoreboard(people, quasi=["age"], secret="ill", attacks=["direct"], defences=["exact"])
>>> cell = board.cells[0]
>>> cell.attack, cell.defence, cell.score.right, cell.verdict.name
('direct question', 'exact answers', Proportion(hits=96, trials=96), 'LEAK')
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

from discreet.attacks.attack import Attack
from discreet.attacks.catalogue import chosen_attacks, chosen_defences
from discreet.attacks.ceiling import ceiling_of
from discreet.attacks.defence import Defence
from discreet.attacks.people import People
from discreet.attacks.report_data import report_data
from discreet.attacks.report_html import report_html
from discreet.attacks.report_text import report_text
from discreet.attacks.scene import Inapplicable, Scene
from discreet.attacks.score import Score
from discreet.attacks.verdict import Verdict, verdict_of
from discreet.errors import DiscreetError
from discreet.exact.rational import Number
from discreet.pages.report import Report

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["EPSILONS", "Cell", "Progress", "Scoreboard", "Stage", "held_against", "scoreboard"]

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
    verdict: Verdict | None = None
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

    def to_html(self) -> str:
        """The scoreboard as one page that needs nothing else: no network, no scripts."""
        return report_html(self)

    def __rich__(self) -> RenderableType:
        return report_text(self)


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
