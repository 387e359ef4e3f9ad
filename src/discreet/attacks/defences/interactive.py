"""Owners who answer questions without counting what they tell.

Answers are exact; exact, but only about enough people, in two readings of "large query sets"; about a random subset of
the rows that is drawn once; about secrets that were replaced by chance once; with uniform noise of a bounded size; or
with Laplace noise, fresh for every question or for every new wording of one. Limits on sizes do not look at what was
answered before, so two answers about large groups that differ in one person pass them. Of Laplace noise, each answer
alone would be differentially private if its noise were drawn exactly. All of them together are not, because nothing
counts them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from discreet.attacks.attack import Counts, Defence, View
from discreet.attacks.people import Coded, People
from discreet.attacks.queries import Part, TableQuery
from discreet.errors import InvalidValue
from discreet.exact.rational import Number, integer, positive, probability
from discreet.noise.experiment import Chance

__all__ = [
    "BoundedNoise",
    "BoundedView",
    "ExactView",
    "InputPerturbation",
    "LaplaceView",
    "LargeGroups",
    "LargeGroupsView",
    "MinimumSize",
    "MinimumSizeView",
    "NaiveLaplace",
    "RawStatistics",
    "SampledView",
    "StickyLaplace",
    "StickyView",
    "Subsampling",
]


class RawStatistics(Defence):
    """No names are shown, and every statistic is answered as it is."""

    name = "exact answers"
    says = "No row is shown, but every count is answered exactly."

    def defend(self, people: People, everybody: People, chance: Chance) -> View:
        """Every count, exact."""
        return ExactView(people)


class ExactView(View):
    """Counts as they are."""

    def __init__(self, people: People) -> None:
        self.people = people
        self.rows = people.size

    def _counts(self, questions: Sequence[TableQuery]) -> list[Counts]:
        return [question.counts(self.people).astype(np.float64) for question in questions]

    def _greatest(self, groups: Sequence[Part]) -> Counts:
        return np.array([self._one_greatest(group) for group in groups])

    def _one_greatest(self, group: Part) -> float:
        return float(self.people.secret.codes[group.codes(self.people) == 1].max(initial=-1))


class MinimumSize(Defence):
    """A cell that counts fewer people than the least number is not shown: what statistical offices do."""

    def __init__(self, least: int = 10) -> None:
        """Name the smallest count that is shown."""
        self.least = integer(least, "the least number of people", least=1)
        self.name = f"minimum size {self.least}"
        self.says = f"Every count is answered exactly, except those below {self.least}."

    def defend(self, people: People, everybody: People, chance: Chance) -> View:
        """Exact counts of large cells."""
        return MinimumSizeView(people, self.least)


class MinimumSizeView(ExactView):
    """Counts as they are, where they are large."""

    def __init__(self, people: People, least: int) -> None:
        super().__init__(people)
        self.least = least

    def _counts(self, questions: Sequence[TableQuery]) -> list[Counts]:
        return [np.where(counts < self.least, np.nan, counts) for counts in super()._counts(questions)]

    def _one_greatest(self, group: Part) -> float:
        return super()._one_greatest(group) if _members(group, self.people) >= self.least else np.nan


class LargeGroups(Defence):
    """A question is answered where it is about enough people, and leaves enough people out.

    A question is about everybody who would be counted with one secret or another, so the number does not depend on
    anybody's secret. The second half of the rule is there because a count of all but one person is a count of one.
    """

    def __init__(self, least: int = 10) -> None:
        """Name the smallest group, and the smallest rest."""
        self.least = integer(least, "the least number of people", least=1)
        self.name = f"large groups, {self.least} to n − {self.least}"
        self.says = f"Counts are exact, and about {self.least} people at least and all but {self.least} at most."

    def defend(self, people: People, everybody: People, chance: Chance) -> View:
        """Exact counts in groups that are neither small nor nearly everybody."""
        return LargeGroupsView(people, self.least)


class LargeGroupsView(ExactView):
    """Counts as they are, in large groups with a large rest."""

    def __init__(self, people: People, least: int) -> None:
        super().__init__(people)
        self.least = least

    def _counts(self, questions: Sequence[TableQuery]) -> list[Counts]:
        exact = super()._counts(questions)
        return [
            np.where(self._is_allowed(question.concerned(self.people)), counts, np.nan)
            for question, counts in zip(questions, exact, strict=True)
        ]

    def _one_greatest(self, group: Part) -> float:
        return super()._one_greatest(group) if self._is_allowed(_members(group, self.people)) else np.nan

    def _is_allowed(self, size: npt.NDArray[np.int64] | int) -> npt.NDArray[np.bool_]:
        return (np.asarray(size) >= self.least) & (np.asarray(size) <= self.rows - self.least)


def _members(group: Part, people: People) -> int:
    return int((group.codes(people) == 1).sum())


class Subsampling(Defence):
    """Answers are computed from a random share of the rows and scaled up.

    Who is not in the sample is safe. Who is in it is exposed as if there were no defence, and somebody always is.
    """

    def __init__(self, share: float = 0.2) -> None:
        """Name the share of people who are in the sample."""
        if not 0 < share <= 1:
            raise InvalidValue("the share of a sample must lie in (0, 1]", share)
        self.share = float(share)
        self.name = f"sample of {self.share:.0%}"
        self.says = f"A random {self.share:.0%} of the rows answers for all of them."

    def defend(self, people: People, everybody: People, chance: Chance) -> View:
        """Exact answers about a sample that is drawn now and never again."""
        size = max(1, round(self.share * people.size))
        sample = people.take(np.sort(chance.permutation(people.size)[:size]))
        return SampledView(sample, people.size)


class SampledView(ExactView):
    """Counts of a sample, as if they were of everybody."""

    def __init__(self, sample: People, rows: int) -> None:
        super().__init__(sample)
        self.rows = rows
        self.scale = rows / sample.size

    def _counts(self, questions: Sequence[TableQuery]) -> list[Counts]:
        return [counts * self.scale for counts in super()._counts(questions)]


class InputPerturbation(Defence):
    """Every secret is replaced by a random one with some probability; then all answers are exact.

    The same question has the same answer, so there is nothing to average. What is told of a person is right with
    probability 1 − q + q/v, with q the probability and v the number of values: it is randomized response, in the hands
    of an owner who could have done better with the rows.
    """

    def __init__(self, replaced: Number = 0.2) -> None:
        """Name the probability that a secret is replaced."""
        self.replaced = float(probability(replaced, "the probability of a replacement"))
        self.name = f"{self.replaced:.0%} of secrets replaced"
        self.says = f"Before counting, each secret is replaced by a random one with probability {self.replaced:g}."

    def defend(self, people: People, everybody: People, chance: Chance) -> View:
        """Exact answers about perturbed people."""
        values = people.secret.values
        drawn = chance.integers(len(values), size=people.size)
        codes = np.where(chance.random(people.size) < self.replaced, drawn, people.secret.codes)
        return ExactView(replace(people, columns={**people.columns, people.secret_name: Coded(codes, values)}))


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

    def _counts(self, questions: Sequence[TableQuery]) -> list[Counts]:
        return [counts + self._noise(len(counts)) for counts in super()._counts(questions)]

    def _greatest(self, groups: Sequence[Part]) -> Counts:
        return super()._greatest(groups) + self._noise(len(groups))

    def _noise(self, size: int) -> Counts:
        return self.chance.uniform(-self.bound, self.bound, size)


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

    def _counts(self, questions: Sequence[TableQuery]) -> list[Counts]:
        return [self._count(question) for question in questions]

    def _count(self, question: TableQuery) -> Counts:
        return question.counts(self.people) + self.chance.laplace(0, self.scale, question.cells)

    def _one_greatest(self, group: Part) -> float:
        return super()._one_greatest(group) + self.chance.laplace(0, self.scale)


class StickyView(LaplaceView):
    """The same, with a memory."""

    def __init__(self, people: People, scale: float, chance: Chance) -> None:
        super().__init__(people, scale, chance)
        self.counted: dict[str, Counts] = {}
        self.found: dict[str, float] = {}

    def _count(self, question: TableQuery) -> Counts:
        text = question.sql("people")
        if text not in self.counted:
            self.counted[text] = super()._count(question)
        return self.counted[text]

    def _one_greatest(self, group: Part) -> float:
        text = group.sql()
        if text not in self.found:
            self.found[text] = super()._one_greatest(group)
        return self.found[text]
