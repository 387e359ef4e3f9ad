"""What the held-out draws prove about one event: bounds on its two probabilities, and what follows for the claim."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.audit.claimed import Claimed
from discreet.audit.event import Event
from discreet.audit.family import Counts
from discreet.evidence.proportion import Proportion

__all__ = ["Proof", "Reach", "prove", "reach"]

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
