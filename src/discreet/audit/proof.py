"""The test of a claim: choose one event per family and input, and bound its probabilities on the held-out half.

A quarter of the draws teaches scores, and another one chooses the event of a family that promises to prove most. The
choice weighs events by what they would prove if the rest of the draws looked like this quarter. It affects what is
found and never what is proved.

Promise. If every draw for an input is independent of all others and has the law of that input, and the two laws keep
the claim, then some proof refutes the claim with probability at most ``false_alarm``. Proof: ``audit.md``.

Early draws are held against late ones, for each input, to see whether the mechanism stayed the same meanwhile.

Promise. If all draws for one input are independent and have one law, a change is reported with probability at most
``false_alarm``. The claim that is put to the test is that early and late draws have the same law: a loss of 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.audit.draws import Chunk, DrawRoles, Piece
from discreet.audit.events import Counts, Event, Family, Learning, LikelihoodRatio, OutcomeScore, Thresholds
from discreet.audit.mechanism import Claimed
from discreet.audit.outcomes import OutcomeTally, tally
from discreet.errors import InvalidValue
from discreet.exact.binomial import Proportion, lower_bounds, upper_bounds
from discreet.privacy.loss import Pure

__all__ = ["Choosing", "Proof", "Reach", "Tested", "check_rate", "drift", "prove", "reach", "telling_events", "tested"]


_SLACK = 1e-7  # far more than a bound can be off by rounding, which is 2e-9 for a billion draws


@dataclass(frozen=True)
class Proof:
    """One event, how often it happened for each input, and what that refutes."""

    event: Event
    """What was looked for; chosen without these draws."""
    first: Proportion
    """How often it happened for the first input."""
    second: Proportion
    """How often it happened for the second input."""
    least: float
    """The probability is at least this for the input that the event favours."""
    most: float
    """The probability is at most this for the other input."""
    claimed_epsilon: float
    """The ε of the claim at ``delta``."""
    delta: float
    """The δ at which most is proved against the claim."""
    epsilon: float
    """At this δ the mechanism loses at least this ε: ln((least - δ)/most); 0 where nothing is proved."""
    proved_delta: float
    """At the claimed ε the mechanism needs at least this δ: least - e^ε most; 0 where nothing is proved."""
    refutes: bool
    """Whether no mechanism that keeps the claim has probabilities within these bounds."""

    @property
    def errors(self) -> tuple[float, float]:
        """Upper bounds on the two error rates of the test that names the favoured input when the event happens."""
        return self.most, 1 - self.least


def prove(event: Event, first: Counts, second: Counts, claim: Claimed, alpha: float) -> Proof:
    """Bound the event on draws that it was not chosen by; either bound fails with probability ``alpha`` at most."""
    sides = [Proportion(int(counts[event.holds].sum()), int(counts.sum())) for counts in (first, second)]
    likely, rare = sides[::-1] if event.favours_second else sides
    least = max(likely.lower(alpha) * (1 - _SLACK), 0.0)
    most = min(rare.upper(alpha) * (1 + _SLACK), 1.0)
    place = int(claim.excess(np.array([least]), np.array([most]))[1][0])
    epsilon, delta = float(claim.epsilons[place]), float(claim.deltas[place])
    proved_delta = least - math.exp(epsilon) * most if epsilon < 700 else 0.0
    return Proof(
        event,
        sides[0],
        sides[1],
        least,
        most,
        epsilon,
        delta,
        max(math.log(least - delta) - math.log(most), 0.0) if least > delta else 0.0,
        max(proved_delta, 0.0),
        not claim.allows(most, min((1 - least) * (1 + _SLACK), 1.0)),
    )


@dataclass(frozen=True)
class Reach:
    """The most that an audit of so many draws can prove: an event always happens for one input, never for the other."""

    epsilon: float
    """The largest ε that can be proved at ``delta``."""
    delta: float
    """The δ at which the claim is easiest to refute."""
    claimed_epsilon: float
    """The ε of the claim at ``delta``."""

    @property
    def suffices(self) -> bool:
        """Whether some mechanism could be found to break the claim."""
        return self.epsilon > self.claimed_epsilon


def reach(pairs: int, claim: Claimed, alpha: float) -> Reach:
    """What ``pairs`` held-out draws for each input can prove at best."""
    least, most = Proportion(pairs, pairs).lower(alpha), Proportion(0, pairs).upper(alpha)
    place = int(claim.excess(np.array([least]), np.array([most]))[1][0])
    delta = float(claim.deltas[place])
    epsilon = math.log(least - delta) - math.log(most) if least > delta else 0.0
    return Reach(max(epsilon, 0.0), delta, float(claim.epsilons[place]))


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
    score: OutcomeScore
    threshold: float
    is_upper: bool
    favours_second: bool

    def event(self, family: str) -> Event:
        values = self.score.values
        holds = values >= self.threshold if self.is_upper else values <= self.threshold
        words = f"{self.score.words} {'≥' if self.is_upper else '≤'} {self.threshold:.6g}"
        phrase = self.score.phrase
        return Event(family, words if phrase is None else phrase(holds), holds, self.favours_second)


def _candidates(score: OutcomeScore, choosing: Choosing) -> Iterator[_Candidate]:
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
class _Thresholds:
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


def _cuts(values: Floats, choosing: Choosing) -> _Thresholds | None:
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
    return _Thresholds(ranked[last][places], upto[:, places], upto[:, places + 1], running[:, -1])


def _worth(first: Counts, second: Counts, choosing: Choosing, favours_second: bool) -> Floats:
    """How far an event lies above the claim once bounded, if the rest of the draws were like these."""
    sizes = _SCALE * int(choosing.first.sum()), _SCALE * int(choosing.second.sum())
    likely, rare = (second, first) if favours_second else (first, second)
    likely_size, rare_size = sizes[::-1] if favours_second else sizes
    least = lower_bounds(_SCALE * likely, likely_size, choosing.alpha)
    most = upper_bounds(_SCALE * rare, rare_size, choosing.alpha)
    return choosing.claim.excess(least, most)[0]


@dataclass(frozen=True)
class Tested:
    """What the draws say."""

    proofs: tuple[Proof, ...]
    """One for each event that was tested, those that prove most first."""
    reach: Reach
    """What so many draws can prove at best."""
    alpha: float
    """How often each single bound may fail."""
    table: OutcomeTally
    """How often each outcome was drawn: two rows that teach, two that choose and two that prove."""


def tested(
    first: Sequence[Piece],
    second: Sequence[Piece],
    roles: DrawRoles,
    claim: Claimed,
    false_alarm: float,
    families: Sequence[Family],
) -> Tested:
    """Test the claim on these draws."""
    # Fixed before any draw is seen: two events per family, two bounds per event.
    alpha = false_alarm / (4 * len(families))
    sides = [roles.split(first), roles.split(second)]
    found = tally([side[role] for role in range(3) for side in sides])
    counts = found.counts
    known = np.asarray(counts[:4].any(axis=0))
    learning = Learning(replace(found.outcomes, known=known), counts[0], counts[1])
    choosing = Choosing(counts[2], counts[3], claim, alpha)
    events = [event for family in families for event in telling_events(family, learning, choosing)]
    proofs = [prove(event, counts[4], counts[5], claim, alpha) for event in events]
    ranked = sorted(proofs, key=lambda one: (not one.refutes, one.claimed_epsilon - one.epsilon))
    return Tested(tuple(ranked), reach(int(min(counts[4].sum(), counts[5].sum())), claim, alpha), alpha, found)


def check_rate(false_alarm: Any) -> None:
    """Refuse what is no probability strictly between 0 and 1."""
    if not (isinstance(false_alarm, (int, float)) and 0 < false_alarm < 1):
        raise InvalidValue("false_alarm must lie strictly between 0 and 1", false_alarm, "1e-6 is usual")


_FAMILIES = (Thresholds(), LikelihoodRatio())
_MOST = 100_000


def drift(chunks: Sequence[Chunk], roles: DrawRoles, false_alarm: float) -> Proof | None:
    """An event that happened more often early than late, or the other way round, for one of the inputs."""
    for side in ([chunk.first for chunk in chunks], [chunk.second for chunk in chunks]):
        half = sum(map(len, side)) // 2
        early = _first_of(side, min(half, _MOST))
        late = _first_of([one[::-1] for one in reversed(side)], min(half, _MOST))
        for proof in tested(early, late, roles, Claimed(Pure(0)), false_alarm / 2, _FAMILIES).proofs:
            if proof.refutes:
                return proof
    return None


def _first_of(pieces: Sequence[Piece], count: int) -> list[Piece]:
    found: list[Piece] = []
    for one in pieces:
        if count <= 0:
            break
        found.append(one[:count])
        count -= len(one)
    return found
