"""Many worlds, many questions in each: what was asked, what was answered, and what was found."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from tests.fuzz.finding import Broken, Finding
from tests.fuzz.grammar import Grammar
from tests.fuzz.narrow import NarrowGrammar
from tests.fuzz.oracle import Oracle
from tests.fuzz.places import Pair, Places
from tests.fuzz.wider import WiderGrammar
from tests.fuzz.worlds import FuzzWorld, make_world

__all__ = ["Case", "Tally", "fuzz", "questions_of"]

PRICES = ("0.000001", "0.1", "1", "1", "20", "5999")
"""From so little that grids are coarse to the most that can be charged."""
A_WORLD = 40
"""Questions that are asked in each world."""
AN_EIGHTH = 8
"""One question in so many is of the wider grammar, and one of the narrow one."""


@dataclass(frozen=True)
class Case:
    """A finding and all that is needed to see it again."""

    world: FuzzWorld
    epsilon: str
    finding: Finding


@dataclass
class Tally:
    """What happened."""

    asked: int = 0
    answered: int = 0
    seconds: float = 0.0
    cases: list[Case] = field(default_factory=list)

    @property
    def kinds(self) -> Counter[Broken]:
        """How often each rule was broken."""
        return Counter(case.finding.broken for case in self.cases)


def questions_of(
    world: FuzzWorld, count: int = A_WORLD, *, wider: bool = False, narrow: bool = False
) -> Iterator[tuple[str, str]]:
    """Questions about a world, and a price for each; the same for the same world. Wider and narrow ones are others."""
    chance = random.Random(f"{'wider ' * wider}{'narrow ' * narrow}questions {world.seed}")
    grammar = (WiderGrammar if wider else NarrowGrammar if narrow else Grammar)(world, chance)
    for _ in range(count):
        yield grammar.question(), chance.choice(PRICES)


def fuzz(
    places: Places,
    first: int,
    count: int,
    *,
    seconds: float | None = None,
    a_world: int = A_WORLD,
    plain: bool = False,
    until: Callable[[Tally], bool] = lambda _: False,
) -> Tally:
    """Ask about ``count`` questions in worlds from the number ``first`` on."""
    tally, began, seed = Tally(), time.monotonic(), first

    def is_over(tally: Tally) -> bool:
        return (seconds is not None and time.monotonic() - began >= seconds) or until(tally)

    while tally.asked < count and not is_over(tally):
        world = make_world(seed, plain=plain)
        seed += 1
        if places.suits(world):
            with places.taken_in(world) as pair:
                _ask(pair, min(a_world, count - tally.asked), tally, is_over)
    tally.seconds = time.monotonic() - began
    return tally


def _ask(pair: Pair, count: int, tally: Tally, until: Callable[[Tally], bool]) -> None:
    further = 0 if pair.world.is_plain else count // AN_EIGHTH
    others = (questions_of(pair.world, further, wider=True), questions_of(pair.world, further, narrow=True))
    for sql, epsilon in chain(questions_of(pair.world, count - 2 * further), *others):
        tally.asked += 1
        oracle = Oracle(pair, sql, epsilon, plans_twice=tally.asked % 4 == 0)
        tally.answered += oracle.check()
        tally.cases += [Case(pair.world, epsilon, finding) for finding in oracle.found]
        if until(tally):
            return
