"""What the lab has on its shelves: attacks, defences and mechanisms, each with a sentence about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from discreet.attacks.catalogue import every_attack, every_defence
from discreet.audit.gallery import BROKEN as EXHIBITS
from discreet.audit.house import house
from discreet.errors import InvalidValue

__all__ = ["BROKEN", "CURATOR", "MENDED", "OURS", "Item", "Shelves", "curators", "shelves"]

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
class Shelves:
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
def shelves() -> Shelves:
    """All of it."""
    attacks = [
        Item(one.name, f"{one.claims} It needs: {_small(one.needs)}", one.name in _USUAL_ATTACKS)
        for one in every_attack()
    ]
    defences = [Item(one.name, one.says, one.name in _USUAL_DEFENCES) for one in every_defence(())]
    (curator,) = every_defence((1,))[len(defences) :]
    return Shelves(tuple(attacks), (*defences, Item(CURATOR, curator.says, is_usual=True)), _mechanisms())


def _mechanisms() -> tuple[Item, ...]:

    broken = [Item(one.name, one.wrong, kind=BROKEN, draws=one.draws) for one in EXHIBITS]
    mended = [
        Item(case.name, case.about, kind=MENDED, draws=case.draws)
        for case in (one.honest_case for one in EXHIBITS)
        if case is not None
    ]
    ours = [Item(case.name, case.about, kind=OURS, draws=_OUR_DRAWS) for case in house()]
    return (*broken, *mended, *ours)


def curators(epsilons: Sequence[str]) -> list[str]:
    """The names of the curator at these budgets; what is no budget is refused, and so are more than fit on a page."""
    if len(epsilons) > _MOST_BUDGETS:
        raise InvalidValue(f"the curator is tried at {_MOST_BUDGETS} budgets at most", f"<{len(epsilons):,}>")
    return [one.name for one in every_defence(epsilons)[len(every_defence(())) :]]


def _small(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
