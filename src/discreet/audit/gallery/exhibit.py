"""An exhibit: a mechanism that breaks its claim, two neighbours that show it, and an honest version that keeps it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from discreet.audit.builtin import Case
from discreet.audit.mechanism import Batched, Mechanism
from discreet.noise.experiment import Chance, experiment
from discreet.privacy.loss import Loss

__all__ = ["Exhibit", "HonestVersion", "naive", "one_by_one"]


_SEED = 2012


@dataclass(frozen=True)
class HonestVersion:
    """The same thing done right."""

    mechanism: Mechanism
    """What to run instead."""
    claim: Loss
    """What it costs."""
    words: str
    """What is different about it."""
    draws: int = 100_000
    """How many answers an audit of it draws."""


@dataclass(frozen=True)
class Exhibit:
    """One broken mechanism."""

    name: str
    """How people ask for it."""
    wrong: str
    """What is wrong, in one sentence."""
    mechanism: Mechanism
    """The broken thing itself."""
    first: Any
    """One input."""
    second: Any
    """A neighbour of it."""
    claim: Loss
    """What it says it costs."""
    source: str
    """Where it comes from."""
    honest: HonestVersion | None = None
    """How to do it right; None where nothing does what it wants to do."""
    draws: int = 100_000
    """How many answers are enough to see it."""

    @property
    def case(self) -> Case:
        """The exhibit as something to audit: the audit must find it guilty."""
        inputs = self.first, self.second
        return Case(self.name, self.mechanism, *inputs, self.claim, self.wrong, self.draws, keeps_its_claim=False)

    @property
    def honest_case(self) -> Case | None:
        """Its honest version as something to audit: the audit must let it pass."""
        kept = self.honest
        if kept is None:
            return None
        name = f"{self.name}, mended"
        return Case(name, kept.mechanism, self.first, self.second, kept.claim, kept.words, kept.draws)


def naive(function: Callable[[Any, int, Chance], Any]) -> Batched:
    """A function that draws its noise from an experiment's chance, as something to audit."""
    chance = experiment(_SEED)

    def answers(value: Any, size: int) -> Any:
        return function(value, size, chance)

    answers.__name__ = function.__name__
    return Batched(answers)


def one_by_one(function: Callable[[Any, Chance], Any]) -> Callable[[Any], Any]:
    """The same for a function that gives one answer at a time, or none but an exception."""
    chance = experiment(_SEED)

    def answer(value: Any) -> Any:
        return function(value, chance)

    answer.__name__ = function.__name__
    return answer
