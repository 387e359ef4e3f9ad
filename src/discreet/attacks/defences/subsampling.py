"""Statistics of a random subset of the rows, drawn once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.attacks.defence import Defence
from discreet.attacks.defences.raw import ExactView
from discreet.attacks.people import People
from discreet.attacks.question import Question
from discreet.attacks.view import Counts, View
from discreet.errors import InvalidValue
from discreet.noise.experiment import Chance

__all__ = ["SampledView", "Subsampling"]


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

    def _counts(self, questions: Sequence[Question]) -> list[Counts]:
        return [counts * self.scale for counts in super()._counts(questions)]
