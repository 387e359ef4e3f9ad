"""The event of a family that promises to prove most: a quarter of the draws teaches scores, another one chooses.

The choice weighs events by what they would prove if the rest of the draws looked like this quarter. It affects what is
found and never what is proved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.audit.claimed import Claimed
from discreet.audit.event import Event
from discreet.audit.family import Counts, Family, Learning, Score
from discreet.evidence.proportion import lower_bounds, upper_bounds

__all__ = ["Choosing", "telling_events"]

Floats = npt.NDArray[np.float64]

_QUANTILES = np.concatenate([np.linspace(0, 1, 97), np.geomspace(1e-6, 1e-2, 25), 1 - np.geomspace(1e-6, 1e-2, 25)])
_SCALE = 2  # the draws that prove are twice as many as those that choose


@dataclass(frozen=True)
class Choosing:
    """What events are chosen by."""

    first: Counts
    """How often each outcome was drawn for the first input, in the quarter that chooses."""
    second: Counts
    """The same for the second input."""
    claim: Claimed
    """What is to be refuted."""
    alpha: float
    """How often a single bound may fail."""


def telling_events(family: Family, learning: Learning, choosing: Choosing) -> list[Event]:
    """The best event of the family for either input; none where it has no scores."""
    best: dict[bool, _Candidate] = {}
    for score in family.scores(learning):
        for candidate in _candidates(score, choosing):
            side = candidate.favours_second
            if side not in best or candidate.worth > best[side].worth:
                best[side] = candidate
    return [candidate.event(family.name) for candidate in best.values()]


@dataclass(frozen=True)
class _Candidate:
    """The scores that are at least, or at most, a threshold."""

    worth: float
    """How far it lies above the claim, if the rest of the draws are like these."""
    score: Score
    threshold: float
    is_upper: bool
    favours_second: bool

    def event(self, family: str) -> Event:
        values = self.score.values
        holds = values >= self.threshold if self.is_upper else values <= self.threshold
        words = f"{self.score.words} {'≥' if self.is_upper else '≤'} {self.threshold:.6g}"
        phrase = self.score.phrase
        return Event(family, words if phrase is None else phrase(holds), holds, self.favours_second)


def _candidates(score: Score, choosing: Choosing) -> Iterator[_Candidate]:
    """The best upper and lower set of one score, for either input."""
    cuts = _cuts(score.values, choosing)
    if cuts is None:
        return
    for is_upper in (True, False):
        first, second = cuts.hits(is_upper)
        for favours_second in (True, False):
            worth = _worth(first, second, choosing, favours_second)
            place = int(np.argmax(worth))
            yield _Candidate(float(worth[place]), score, float(cuts.thresholds[place]), is_upper, favours_second)


@dataclass(frozen=True)
class _Cuts:
    """Thresholds worth trying, and how often the score fell below, or not above, each of them."""

    thresholds: Floats
    below: Counts
    """One row per input: how often the score was below the threshold."""
    not_above: Counts
    """One row per input: how often the score was at most the threshold."""
    totals: Counts

    def hits(self, is_upper: bool) -> tuple[Counts, Counts]:
        found = self.totals[:, None] - self.below if is_upper else self.not_above
        return found[0], found[1]


def _cuts(values: Floats, choosing: Choosing) -> _Cuts | None:
    drawn = np.flatnonzero((choosing.first + choosing.second > 0) & ~np.isnan(values))
    if not len(drawn):
        return None
    order = drawn[np.argsort(values[drawn], kind="stable")]
    ranked = values[order]
    running = np.cumsum([choosing.first[order], choosing.second[order]], axis=1)
    last = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))  # the last place of each different value
    pooled = running[:, last].sum(axis=0)
    places = np.unique(np.searchsorted(pooled, _QUANTILES * pooled[-1]).clip(0, len(last) - 1))
    upto = np.concatenate([np.zeros((2, 1), np.int64), running[:, last]], axis=1)
    return _Cuts(ranked[last][places], upto[:, places], upto[:, places + 1], running[:, -1])


def _worth(first: Counts, second: Counts, choosing: Choosing, favours_second: bool) -> Floats:
    """How far an event lies above the claim once bounded, if the rest of the draws were like these."""
    sizes = _SCALE * int(choosing.first.sum()), _SCALE * int(choosing.second.sum())
    likely, rare = (second, first) if favours_second else (first, second)
    likely_size, rare_size = sizes[::-1] if favours_second else sizes
    least = lower_bounds(_SCALE * likely, likely_size, choosing.alpha)
    most = upper_bounds(_SCALE * rare, rare_size, choosing.alpha)
    return choosing.claim.excess(least, most)[0]
