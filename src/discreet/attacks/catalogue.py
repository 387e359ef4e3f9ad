"""All attacks and all defences there are, and how to name some of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from discreet.attacks.attack import Attack, Defence
from discreet.attacks.defences.curator import CuratorDefence
from discreet.attacks.defences.interactive import (
    BoundedNoise,
    InputPerturbation,
    LargeGroups,
    MinimumSize,
    NaiveLaplace,
    RawStatistics,
    StickyLaplace,
    Subsampling,
)
from discreet.attacks.defences.query_auditing import QueryAuditing
from discreet.attacks.defences.releases import KAnonymousTable, LDiverseTable, NamesRemoved, TCloseTable
from discreet.attacks.methods.queries import Averaging, Differencing, DirectQuestion, Refusals
from discreet.attacks.methods.reconstruction import Reconstruction
from discreet.attacks.methods.releases import BackgroundKnowledge, Homogeneity, Intersection, Linkage
from discreet.attacks.methods.tabulations import TwoWayTables
from discreet.attacks.methods.tracing import Tracing
from discreet.errors import InvalidValue
from discreet.exact.rational import Number

__all__ = ["chosen_attacks", "chosen_defences", "every_attack", "every_defence"]


_Named = TypeVar("_Named", Attack, Defence)


def every_attack() -> tuple[Attack, ...]:
    """All attacks, those on published tables first."""
    return (
        Linkage(),
        Homogeneity(),
        BackgroundKnowledge(),
        Intersection(),
        DirectQuestion(),
        Differencing(),
        Refusals(),
        Averaging(),
        Averaging(is_reworded=True),
        Reconstruction(),
        TwoWayTables(),
        Tracing(),
    )


def every_defence(epsilons: Sequence[Number]) -> tuple[Defence, ...]:
    """All defences: published tables, then answers, then the curator at every budget."""
    return (
        NamesRemoved(),
        KAnonymousTable(),
        LDiverseTable(),
        TCloseTable(),
        RawStatistics(),
        MinimumSize(),
        LargeGroups(),
        QueryAuditing(),
        QueryAuditing(is_simulatable=True),
        Subsampling(),
        InputPerturbation(),
        BoundedNoise(),
        NaiveLaplace(),
        StickyLaplace(),
        *(CuratorDefence(epsilon) for epsilon in epsilons),
    )


def chosen_attacks(wanted: Sequence[Attack | str] | None) -> tuple[Attack, ...]:
    """The attacks that are asked for, as they are or by a part of their names; all where nothing is asked for."""
    return _choose(wanted, every_attack(), "attack")


def chosen_defences(wanted: Sequence[Defence | str] | None, epsilons: Sequence[Number]) -> tuple[Defence, ...]:
    """The same for defences."""
    return _choose(wanted, every_defence(epsilons), "defence")


def _choose(wanted: Sequence[_Named | str] | None, known: tuple[_Named, ...], what: str) -> tuple[_Named, ...]:
    if wanted is None:
        return known
    found = [one for each in wanted for one in (_named(each, known, what) if isinstance(each, str) else (each,))]
    if not found:
        raise InvalidValue(f"there must be at least one {what}", list(wanted), "leave it out for all")
    return tuple({one.name: one for one in found}.values())


def _named(words: str, known: tuple[_Named, ...], what: str) -> tuple[_Named, ...]:
    found = tuple(one for one in known if words.strip() and words.strip().casefold() in one.name.casefold())
    if not found:
        raise InvalidValue(f"the {what} must be known", words, f"one of {', '.join(one.name for one in known)}")
    return found
