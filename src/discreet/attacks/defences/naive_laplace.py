"""Laplace noise without a budget: fresh for every question, or fresh for every new wording of a question.

Each answer alone would be differentially private if its noise were drawn exactly. All of them together are not,
because nothing counts them.
"""

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

__all__ = ["LaplaceView", "NaiveLaplace", "StickyLaplace", "StickyView"]


class NaiveLaplace(Defence):
    """Every answer gets fresh noise, and nobody counts how many there were."""

    def __init__(self, epsilon: Number = 0.5) -> None:
        """Name the ε of one answer; the scale of its noise is 1/ε."""
        self.scale = 1 / float(positive(epsilon, "epsilon"))
        self.name = f"Laplace noise, ε = {1 / self.scale:g} each"
        self.says = f"Every answer gets fresh Laplace noise of scale {self.scale:g}, without a budget."

    def defend(self, people: People, everybody: People, chance: Chance) -> View:
        """Noisy answers, as many as anybody likes."""
        return LaplaceView(people, self.scale, chance)


class StickyLaplace(NaiveLaplace):
    """The same text gets the same answer, so asking again gives nothing. Another text gets another answer."""

    def __init__(self, epsilon: Number = 0.5) -> None:
        """Name the ε of one answer; the scale of its noise is 1/ε."""
        super().__init__(epsilon)
        self.name = f"sticky Laplace, ε = {1 / self.scale:g} each"
        self.says = f"Laplace noise of scale {self.scale:g}; the same text gets the same answer, without a budget."

    def defend(self, people: People, everybody: People, chance: Chance) -> View:
        """Noisy answers that are remembered by their text."""
        return StickyView(people, self.scale, chance)


class LaplaceView(ExactView):
    """Counts with Laplace noise."""

    def __init__(self, people: People, scale: float, chance: Chance) -> None:
        super().__init__(people)
        self.scale = scale
        self.chance = chance

    def _counts(self, questions: Sequence[Question]) -> list[Counts]:
        return [self._count(question) for question in questions]

    def _count(self, question: Question) -> Counts:
        return question.counts(self.people) + self.chance.laplace(0, self.scale, question.cells)

    def _one_greatest(self, group: Part) -> float:
        return super()._one_greatest(group) + self.chance.laplace(0, self.scale)


class StickyView(LaplaceView):
    """The same, with a memory."""

    def __init__(self, people: People, scale: float, chance: Chance) -> None:
        super().__init__(people, scale, chance)
        self.counted: dict[str, Counts] = {}
        self.found: dict[str, float] = {}

    def _count(self, question: Question) -> Counts:
        text = question.sql("people")
        if text not in self.counted:
            self.counted[text] = super()._count(question)
        return self.counted[text]

    def _one_greatest(self, group: Part) -> float:
        text = group.sql()
        if text not in self.found:
            self.found[text] = super()._one_greatest(group)
        return self.found[text]
