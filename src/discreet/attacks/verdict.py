"""How a score reads: guessing, learned from the crowd, learned from a person's own record, or a broken promise.

An attack that beats guessing (see ``score``) may have learned what holds of everybody: smokers get ill more often, also
those who are not in the table. So the same attack guesses people who are in no release, drawn from the same list by the
same lot. If being in the table made no difference, which of all right guesses fall on members would be decided by that
lot alone, and their number would be hypergeometric (Fisher's exact test). The same holds of true claims among all
claims. Only where one of the two is so large that the lot gives it with probability 1/2000 at most is the person's own
record held to have been used. Attacks whose questions need members (differencing, reconstruction, refusals) are not
tried on others, and are held against guessing alone.
"""

from __future__ import annotations

from enum import Enum
from fractions import Fraction
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
    BOUNDED = "learned from the person's own record, within a bound that the defence proves"
    LEAK = "learned from the person's own record"
    BROKEN = "learned more than the defence promises: the promise is broken"


def verdict_of(score: Score, attack: Attack, defence: Defence) -> Verdict:
    """How the score of an attack on a defence reads."""
    if exceeds(score, attack.goal, defence.promise, attack.releases):
        return Verdict.BROKEN
    if not score.beats:
        return Verdict.GUESSING
    if score.control is not None and not _knows_members(score, score.control):
        return Verdict.CROWD
    return Verdict.LEAK if defence.promise is None else Verdict.BOUNDED


def _knows_members(score: Score, control: Proportion) -> bool:
    """Whether members are guessed better than outsiders, in all or in what is claimed of them.

    Where nothing is claimed of outsiders, the claims about members are held against guesses about outsiders.
    """
    claims = score.control_claims
    outside = control if claims is None or not claims.trials else claims
    return beats_outsiders(score.right, control, ALARM / 2) or beats_outsiders(score.claims, outside, ALARM / 2)


def beats_outsiders(inside: Proportion, outside: Proportion, alarm: Fraction = ALARM) -> bool:
    """P(at least so many of all right guesses fall on members, by lot) ≤ ``alarm``, exactly."""
    people, right = inside.trials + outside.trials, inside.hits + outside.hits
    most = min(right, inside.trials)
    ways = sum(comb(inside.trials, hits) * comb(outside.trials, right - hits) for hits in range(inside.hits, most + 1))
    return bool(ways <= alarm * comb(people, right))
