"""How well an attack did, beside guessing without the release.

Right is a guess that is true. Where the attack claims nothing, the guess of the baseline stands in for it. The baseline
knows how often every secret occurs and nothing else of the release, so it guesses the most frequent one.

An attack that learned nothing is right on a target that it chose and in what it claims no more often than the most
frequent secret occurs. So it is said to beat guessing in two cases, each of which such an attack is in with probability
1/2000 at most: it is right so much more often than the baseline, on the targets on which the two differ, as a fair coin
hardly ever is (a sign test); or so many of its claims are true as hardly ever occur where every claim is true as often
as the most frequent secret occurs. The second is for attacks that are sure of a few: who knows which of all people have
the most frequent secret gains nothing on the baseline there, and has learned a lot.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb

import numpy as np
import numpy.typing as npt

from discreet.attacks.attack import Guesses
from discreet.attacks.people import Codes
from discreet.evidence.proportion import Proportion

__all__ = ["ALARM", "Score", "scored"]

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
