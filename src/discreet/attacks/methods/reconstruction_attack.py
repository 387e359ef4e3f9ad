"""Ask how many people in random halves of the table have the secret, and solve for everybody at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.attacks.attack import Attack, Goal, Guesses, Knowledge
from discreet.attacks.methods.floats import Floats
from discreet.attacks.methods.least_squares import shrunken_least_squares
from discreet.attacks.methods.subset_queries import SubsetQueries
from discreet.attacks.parts import AnyOf, Side
from discreet.attacks.people import Codes
from discreet.attacks.question import Question
from discreet.attacks.view import Counts, View
from discreet.noise.experiment import Chance

__all__ = ["Reconstruction"]

_QUESTIONS_PER_PERSON = 4
_MODULUS = 2**31 - 1


class Reconstruction(Attack):
    """Four questions a person, each about a random half of everybody; no question is about a small group."""

    name = "reconstruction"
    needs = "A number for every person that questions can compute with; each question is about half of all people."
    claims = "The people who fit all answers best have the secret."
    goal = Goal.BIT
    has_controls = False  # its equations need to know who is in the table
    most_people = 100

    def guess(self, views: Sequence[View], known: Knowledge, chance: Chance) -> Guesses:
        """Solve for everybody, and claim what the targets are."""
        people = len(next(iter(known.quasi.values())).codes)
        secret = AnyOf(known.secret, known.values, tuple(int(place) for place in np.flatnonzero(known.marked)))
        drawn = chance.integers(1, _MODULUS, (_QUESTIONS_PER_PERSON * people, 2))
        sides = [Side(int(multiplier), int(offset)) for multiplier, offset in drawn]
        answers = views[0].counts([Question(by=(side, secret)) for side in sides])
        halves, yes = _equations([side.codes_of(np.arange(people)) for side in sides], answers)
        if not len(yes):
            return Guesses(np.full(len(known.targets), -1), "No question was answered.")
        share = float(np.clip(yes.sum() / halves.sum(), 1 / people, 1 - 1 / people))
        found = shrunken_least_squares(SubsetQueries(halves), yes, share)[known.targets]
        if not 0 < (found > 0.5).sum() < len(found):
            return Guesses(np.full(len(found), -1), "The answers do not tell people apart.", found)
        return Guesses((found > 0.5).astype(np.int64), scores=found)


def _equations(sides: Sequence[Codes], answers: Sequence[Counts]) -> tuple[Codes, Floats]:
    """For every half that was answered who is in it, and how many of them have the secret.

    Every half gives two equations: how many have the secret, and how many are left over when those without it are taken
    away. Where there is noise, the two are noisy on their own.
    """
    both = np.stack([(codes == half).astype(np.int64) for codes in sides for half in (0, 1)])
    no, yes = np.concatenate([answer.reshape(2, 2) for answer in answers]).T
    rows, values = np.concatenate([both, both]), np.concatenate([yes, both.sum(axis=1) - no])
    told = np.isfinite(values)
    return rows[told], values[told]
