"""How a score reads: guessing, learned from the crowd, learned from the person's own record, or a broken promise.

An attack that beats guessing (see ``score``) may have learned what holds of everybody: smokers get ill more often, also
those who are not in the table. So the same attack guesses people who are in no release, drawn from the same list by the
same lot. If being in the table made no difference, which of all right guesses fall on members would be decided by that
lot alone, and their number would be hypergeometric (Fisher's exact test). Only where it is so large that the lot gives
it with probability 1/1000 at most is the person's own record held to have been used.
"""

from __future__ import annotations

from enum import Enum
from math import comb

from discreet.attacks.attack import Attack
from discreet.attacks.ceiling import exceeds
from discreet.attacks.defence import Defence
from discreet.attacks.score import ALARM, Score
from discreet.evidence.proportion import Proportion

__all__ = ["Verdict", "beats_outsiders", "verdict_of"]


class Verdict(Enum):
    """What a score says about a defence."""

    GUESSING = "no better than guessing"
    CROWD = "learned from the crowd: no better than on people who are not in the table"
    LEAK = "learned from the person's own record"
    BROKEN = "more than the promise allows: the promise is broken"


def verdict_of(score: Score, attack: Attack, defence: Defence) -> Verdict:
    """How the score of an attack on a defence reads."""
    if exceeds(score, attack.goal, defence.promise, attack.releases):
        return Verdict.BROKEN
    if not score.beats:
        return Verdict.GUESSING
    return Verdict.LEAK if score.control is None or beats_outsiders(score.right, score.control) else Verdict.CROWD


def beats_outsiders(inside: Proportion, outside: Proportion) -> bool:
    """P(at least so many of all right guesses fall on members, by lot) ≤ 1/1000, exactly."""
    people, right = inside.trials + outside.trials, inside.hits + outside.hits
    most = min(right, inside.trials)
    ways = sum(comb(inside.trials, hits) * comb(outside.trials, right - hits) for hits in range(inside.hits, most + 1))
    return bool(ways <= ALARM * comb(people, right))
