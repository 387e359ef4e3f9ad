"""The most that a promise lets anybody learn, to be held beside what an attack learned.

Let answers be ε-private for tables that differ in the row of one person: whatever an attack does with them, an event
has a probability under one table that is at most e^ε times that under the other.

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

from discreet.attacks.attack import Goal
from discreet.attacks.score import Score
from discreet.privacy.loss import Loss, Pure

__all__ = ["average_ceiling", "ceiling_beside", "ceiling_of", "exceeds", "surest"]

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
