"""How well an attack did, beside guessing without the release, and beside the most that a promise lets it learn.

Right is a guess that is true. Where the attack claims nothing, the guess of the baseline stands in for it. The baseline
knows how often every secret occurs and nothing else of the release, so it guesses the most frequent one.

An attack that learned nothing is right on a target that it chose and in what it claims no more often than the most
frequent secret occurs. So it is said to beat guessing in two cases, each of which such an attack is in with probability
1/2000 at most: it is right so much more often than the baseline, on the targets on which the two differ, as a fair coin
hardly ever is (a sign test); or so many of its claims are true as hardly ever occur where every claim is true as often
as the most frequent secret occurs. The second is for attacks that are sure of a few: who knows which of all people have
the most frequent secret gains nothing on the baseline there, and has learned a lot.

A score reads as guessing, learned from the crowd, learned from a person's own record, or a broken promise. An attack
that beats guessing (see ``score``) may have learned what holds of everybody: smokers get ill more often, also those who
are not in the table. So the same attack guesses people who are in no release, drawn from the same list by the same lot.
If being in the table made no difference, which of all right guesses fall on members would be decided by that lot alone,
and their number would be hypergeometric (Fisher's exact test). The same holds of true claims among all claims. Only
where one of the two is so large that the lot gives it with probability 1/2000 at most is the person's own record held
to have been used. Attacks whose questions need members (differencing, reconstruction, refusals) are not tried on
others, and are held against guessing alone.

*Ceilings* say the most that a promise lets anybody learn. Let answers be ε-private for tables that differ in the row of
one person: whatever an attack does with them, an event has a probability under one table that is at most e^ε times that
under the other.

`average_ceiling`. A person's secret is one of two values, likely with probability π and 1 - π before anything is seen
and whatever the secrets of others are. Let a and b be the probabilities of guessing right under either value. Then
a ≤ e^ε (1 - b) and b ≤ e^ε (1 - a), and the guess is right with probability πa + (1 - π)b. This is linear in (a, b), so
its maximum is at a corner of the region: (1, 0), (0, 1), or where both hold with equality, a = b = e^ε / (1 + e^ε).
Therefore P(right) ≤ max(π, 1 - π, e^ε / (1 + e^ε)). For membership of a table of fixed size the two values are "in" and
"somebody else is": pairs of a table with the person and one replaced by a stranger run through all tables without.

`surest`. For one particular answer the odds of a value are at most e^ε times what they were. So if the likelier value
has probability q beforehand, whatever the other secrets are, a guess is right with probability at most
e^ε q / (1 - q + e^ε q) given the answers and all other secrets. Tell the targets' secrets one after the other: each
guess is right with at most this probability given all before. So the number of right guesses passes a bound at most as
often as that of independent trials with this probability does.

`ceiling_beside`. From answers about a crowd one learns about everybody, also about people who are not in the table:
that is what answers are for. Let c be the probability of guessing the secret of a random outsider. A random outsider
who takes the place of a random member is a random member. So being inside changes the probability to be guessed right
to e^ε c at most, and that to be guessed wrong to e^-ε (1 - c) at least: P(right) ≤ min(e^ε c, 1 - e^-ε (1 - c)).

>>> round(average_ceiling(1, prior=0.6), 3), round(average_ceiling(0.1, prior=0.6), 3)
(0.731, 0.6)
>>> round(ceiling_beside(0.1, outside=0.4), 3)
0.442
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import comb

import numpy as np
import numpy.typing as npt

from discreet.attacks.attack import Attack, Defence, Goal, Guesses
from discreet.attacks.people import Codes
from discreet.exact.binomial import Proportion
from discreet.privacy.loss import Loss, Pure

__all__ = [
    "ALARM",
    "DefenceVerdict",
    "Score",
    "average_ceiling",
    "beats_outsiders",
    "ceiling_beside",
    "ceiling_of",
    "exceeds",
    "scored",
    "surest",
    "verdict_of",
]


ALARM = Fraction(1, 1000)
"""How often guessing is mistaken for an attack that works."""


@dataclass(frozen=True)
class Score:
    """One attack against one defence."""

    right: Proportion
    """Guesses that are true, of all targets."""
    baseline: Proportion
    """The same for guessing without the release."""
    claims: Proportion
    """Claims that are true, of those that the attack made."""
    beats: bool
    """Whether it does better than guessing, beyond chance."""
    gained: int = 0
    """Targets on which it is right and guessing is not."""
    lost: int = 0
    """Targets on which guessing is right and it is not."""
    asked: int = 0
    """How many questions were asked."""
    refused: int = 0
    """How many of them were refused."""
    note: str = ""
    """A sentence about how it went."""
    control: Proportion | None = None
    """The same attack on people who are not in the table: what is learned of everybody, and not from their record."""
    control_claims: Proportion | None = None
    """Claims that are true, of those made about people who are not in the table."""

    @property
    def advantage(self) -> float:
        """By how much it is right more often than guessing."""
        return self.right.rate - self.baseline.rate


def scored(guesses: Guesses, truth: Codes, baseline: Codes, usual: float = 1.0) -> Score:
    """Hold the guesses against the truth.

    ``usual`` is how often the most frequent secret occurs. By default claims are not judged by it, for attacks that
    know of some targets more than of others.
    """
    claimed = guesses.values >= 0
    made = np.where(claimed, guesses.values, baseline)
    right, by_guessing = made == truth, baseline == truth
    gained, lost = int((right & ~by_guessing).sum()), int((by_guessing & ~right).sum())
    claims = _proportion(right[claimed])
    return Score(
        _proportion(right),
        _proportion(by_guessing),
        claims,
        _beats(gained, lost) or _is_sure(claims, usual),
        gained,
        lost,
        note=guesses.note,
    )


def _proportion(hits: npt.NDArray[np.bool_]) -> Proportion:
    return Proportion(int(hits.sum()), len(hits))


def _beats(only_attack: int, only_baseline: int) -> bool:
    """P(at least so many heads of so many fair coins) ≤ ALARM / 2, exactly."""
    differ = only_attack + only_baseline
    ways = sum(comb(differ, heads) for heads in range(only_attack, differ + 1))
    return bool(ways <= ALARM / 2 * 2**differ)


def _is_sure(claims: Proportion, usual: float) -> bool:
    """P(at least so many true claims, if each is true with probability ``usual``) ≤ ALARM / 2."""
    return claims.hits > 0 and claims.lower(float(ALARM / 2)) > usual


_FALSE_ALARM = 1e-6
_DOUBT = 0.025


def average_ceiling(epsilon: float, prior: float) -> float:
    """The greatest probability of guessing one of two values right, where the likelier one has this ``prior``."""
    return max(prior, 1 - prior, 1 / (1 + math.exp(-epsilon)))


def surest(epsilon: float, prior: float) -> float:
    """The same given the answers and everybody else's secrets."""
    likelier = max(prior, 1 - prior)
    return likelier / (likelier + (1 - likelier) * math.exp(-epsilon))


def ceiling_beside(epsilon: float, outside: float) -> float:
    """The same for any secret, where people who are not in the table are guessed right with probability ``outside``."""
    return min(math.exp(min(epsilon, 700)) * outside, 1 - math.exp(-epsilon) * (1 - outside))


def ceiling_of(score: Score, goal: Goal, promise: Loss | None, releases: int = 1) -> float | None:
    """The ceiling beside a score, where it rests on releases that each promise so much; None where nothing follows.

    How often outsiders are guessed right is known from a sample, so the upper end of its 95 % interval is taken.
    """
    if not isinstance(promise, Pure) or not score.right.trials:
        return None
    epsilon = float(promise.epsilon) * releases
    if goal is not Goal.VALUE:
        return average_ceiling(epsilon, score.baseline.rate)
    return None if score.control is None else ceiling_beside(epsilon, score.control.upper(_DOUBT))


def exceeds(score: Score, goal: Goal, promise: Loss | None, releases: int = 1) -> bool:
    """Whether so many guesses are right that the promise cannot be true.

    Where it is true and secrets are independent, this says otherwise with probability 1e-6 at most. Secrets of more
    than two values are not judged: how much of a guess comes from the crowd is not known exactly.
    """
    if goal is Goal.VALUE or not isinstance(promise, Pure):
        return False
    from scipy.stats import binom  # noqa: PLC0415  an import of a second, for those who need it

    chance = surest(float(promise.epsilon) * releases, score.baseline.rate)
    return bool(binom.sf(score.right.hits - 1, score.right.trials, chance) <= _FALSE_ALARM)


class DefenceVerdict(Enum):
    """What a score says about a defence."""

    GUESSING = "no better than guessing"
    CROWD = "learned from the crowd: no better than on people who are not in the table"
    BOUNDED = "learned from the person's own record, within a bound that the defence proves"
    LEAK = "learned from the person's own record"
    BROKEN = "learned more than the defence promises: the promise is broken"


def verdict_of(score: Score, attack: Attack, defence: Defence) -> DefenceVerdict:
    """How the score of an attack on a defence reads."""
    if exceeds(score, attack.goal, defence.promise, attack.releases):
        return DefenceVerdict.BROKEN
    if not score.beats:
        return DefenceVerdict.GUESSING
    if score.control is not None and not _knows_members(score, score.control):
        return DefenceVerdict.CROWD
    return DefenceVerdict.LEAK if defence.promise is None else DefenceVerdict.BOUNDED


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
