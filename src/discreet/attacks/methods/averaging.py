"""Ask the same again and again, and take the middle of the answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.attacks.attack import Attack, Goal, Guesses, Knowledge
from discreet.attacks.parts import Person
from discreet.attacks.question import Question
from discreet.attacks.view import Counts, View
from discreet.exact.rational import integer
from discreet.noise.experiment import Chance

__all__ = ["Averaging"]


class Averaging(Attack):
    """The question how many people have the secret and how many have not, person by person, many times.

    The median of the answers comes closer to the truth with every answer that has fresh noise. Where the same text gets
    the same answer, other words for the same question get fresh noise.
    """

    claims = "A person of whom more have the secret than have it not, by the median of all answers, has it."
    goal = Goal.BIT
    most_people = 1000

    def __init__(self, *, is_reworded: bool = False, times: int = 65) -> None:
        """Say whether every question has words of its own, and how often it is asked."""
        self.is_reworded = is_reworded
        self.times = integer(times, "the number of repetitions", least=1)
        self.name = "averaging, reworded" if is_reworded else "averaging"
        how = f"in {self.times} wordings" if is_reworded else f"{self.times} times"
        self.needs = f"A way to name a person in a question, and to ask the same {how}."

    def guess(self, views: Sequence[View], known: Knowledge, chance: Chance) -> Guesses:
        """Yes where the median of those with the secret is above the median of those without."""
        by = (Person(known.everybody), known.bit)
        wordings = [time if self.is_reworded else 0 for time in range(self.times)]
        answers = np.stack(views[0].counts([Question(by, wording=wording) for wording in wordings]))
        no, yes = _medians(answers).reshape(known.everybody, 2)[known.targets].T
        lead = np.nan_to_num(yes - no)
        return Guesses(np.where(lead == 0, -1, lead > 0).astype(np.int64), scores=lead)


def _medians(answers: Counts) -> Counts:
    """For every cell the median of what was answered, NaN where nothing was."""
    medians = np.full(answers.shape[1], np.nan)
    is_told = ~np.isnan(answers).all(axis=0)
    medians[is_told] = np.nanmedian(answers[:, is_told], axis=0)
    return medians
