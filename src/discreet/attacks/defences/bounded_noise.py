"""Uniform noise of a bounded size, drawn anew for every answer."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.attacks.defence import Defence
from discreet.attacks.defences.raw import ExactView
from discreet.attacks.parts import Part
from discreet.attacks.people import People
from discreet.attacks.question import Question
from discreet.attacks.view import Counts, View
from discreet.exact.rational import Number, positive
from discreet.noise.experiment import Chance

__all__ = ["BoundedNoise", "BoundedView"]


class BoundedNoise(Defence):
    """No answer is further from the truth than the bound.

    Useful for whoever asks, and enough to rebuild the table for whoever asks often: the bound would have to grow with
    the square root of the number of people.
    """

    def __init__(self, bound: Number = 2) -> None:
        """Name the largest error of an answer."""
        self.bound = float(positive(bound, "the bound of the noise"))
        self.name = f"noise within ±{self.bound:g}"
        self.says = f"Every answer gets fresh uniform noise between −{self.bound:g} and {self.bound:g}."

    def defend(self, people: People, everybody: People, chance: Chance) -> View:
        """Answers that are off by the bound at most."""
        return BoundedView(people, self.bound, chance)


class BoundedView(ExactView):
    """Counts with uniform noise."""

    def __init__(self, people: People, bound: float, chance: Chance) -> None:
        super().__init__(people)
        self.bound = bound
        self.chance = chance

    def _counts(self, questions: Sequence[Question]) -> list[Counts]:
        return [counts + self._noise(len(counts)) for counts in super()._counts(questions)]

    def _greatest(self, groups: Sequence[Part]) -> Counts:
        return super()._greatest(groups) + self._noise(len(groups))

    def _noise(self, size: int) -> Counts:
        return self.chance.uniform(-self.bound, self.bound, size)
