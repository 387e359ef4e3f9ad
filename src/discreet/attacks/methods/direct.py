"""Ask about one person: SELECT person, COUNT(*) ... GROUP BY person. The first thing that anybody tries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.attacks.attack import Attack, Goal, Guesses, Knowledge
from discreet.attacks.parts import Person
from discreet.attacks.question import Question
from discreet.attacks.view import View
from discreet.noise.experiment import Chance

__all__ = ["DirectQuestion"]


class DirectQuestion(Attack):
    """Count the people with the secret, person by person."""

    name = "direct question"
    needs = "A way to name a person in a question."
    claims = "A person counted more than one half has the secret."
    goal = Goal.BIT

    def guess(self, views: Sequence[View], known: Knowledge, chance: Chance) -> Guesses:
        """Yes where the count of one person is above one half."""
        (counts,) = views[0].counts([Question(by=(Person(known.everybody),), where=((known.bit, 1),))])
        found = counts[known.targets]
        return Guesses(np.where(np.isnan(found), -1, found > 0.5).astype(np.int64))
