"""How often a mechanism that keeps its claim is found guilty, summed over everything that can be drawn."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom

from discreet.audit import Verdict, audit
from discreet.audit import proof as testing
from discreet.audit.audit import FAMILIES
from discreet.audit.draws import DrawRoles
from discreet.audit.events import Event, Learning
from discreet.audit.mechanism import Claimed
from discreet.audit.outcomes import Outcomes
from discreet.audit.proof import Choosing, prove, telling_events
from discreet.exact.ball import ln_up
from discreet.noise.experiment import experiment
from discreet.privacy.loss import Approximate, Loss, Pure
from tests.thoroughness import some

TEACHING, CHOOSING, PROVING = 2, 3, 40


def counts_of(ones: int, draws: int) -> np.ndarray:
    return np.array([draws - ones, ones])


@cache
def chance_of_an_alarm(rates: tuple[float, float], claim: Loss, false_alarm: float, bounds: int) -> float:
    """Exact, for an answer of 0 or 1 that is 1 with these probabilities; ``bounds`` shares the rate of false alarms."""
    promised, outcomes = Claimed(claim), Outcomes(np.array([0, 1]))
    alpha = false_alarm / bounds
    masses = [binom.pmf(range(PROVING + 1), PROVING, rate) for rate in rates]

    @cache
    def refutes(holds: tuple[bool, bool], favours_second: bool, first: int, second: int) -> bool:
        event = Event("", "", np.array(holds), favours_second)
        return prove(event, counts_of(first, PROVING), counts_of(second, PROVING), promised, alpha).refutes

    @cache
    def alarm(events: frozenset[tuple[tuple[bool, bool], bool]]) -> float:
        seen = itertools.product(range(PROVING + 1), repeat=2)
        guilty = [(a, b) for a, b in seen if any(refutes(holds, favours, a, b) for holds, favours in events)]
        return math.fsum(masses[0][a] * masses[1][b] for a, b in guilty)

    total = 0.0
    for seen in itertools.product(range(TEACHING + 1), range(TEACHING + 1), range(CHOOSING + 1), range(CHOOSING + 1)):
        taught = Learning(outcomes, counts_of(seen[0], TEACHING), counts_of(seen[1], TEACHING))
        choosing = Choosing(counts_of(seen[2], CHOOSING), counts_of(seen[3], CHOOSING), promised, alpha)
        found = [event for family in FAMILIES for event in telling_events(family, taught, choosing)]
        events = frozenset((tuple(event.holds.tolist()), event.favours_second) for event in found)
        weight = math.prod(
            binom.pmf(k, (TEACHING, CHOOSING)[place // 2], rates[place % 2]) for place, k in enumerate(seen)
        )
        total += weight * alarm(events)
    return total


CASES = {
    "equal laws": ((0.5, 0.5), Pure(0)),
    "randomized response at its price": ((0.75, 0.25), Pure(ln_up(3))),
    "a leak of δ": ((0.0, 0.1), Approximate(0, "0.1")),
}


@pytest.mark.parametrize(("case", "false_alarm"), some(itertools.product(CASES, (0.3, 0.05)), len(CASES)))
def test_a_mechanism_on_the_edge_of_its_claim_is_found_guilty_at_most_as_often_as_stated(case, false_alarm):
    rates, claim = CASES[case]
    assert chance_of_an_alarm(rates, claim, false_alarm, 4 * len(FAMILIES)) <= false_alarm


def test_the_sum_sees_alarms_and_would_see_bounds_that_are_too_bold():
    """At the edge alarms do happen, and bounds that share three times the rate would give too many."""
    rates, claim = CASES["equal laws"]
    assert 1e-4 < chance_of_an_alarm(rates, claim, 0.3, 4 * len(FAMILIES)) < 0.3
    assert chance_of_an_alarm(rates, claim, 0.3, 1) > 0.1


@pytest.mark.parametrize("count", [1, 3])
def test_an_audit_shares_its_rate_of_false_alarms_among_all_bounds(count):
    """Two events per family, two bounds per event."""
    chance = experiment(0)
    sides = [[chance.integers(0, 9, 1000)] for _ in range(2)]
    found = testing.tested(*sides, DrawRoles(chance), Claimed(Pure(1)), 0.05, FAMILIES[:count])
    assert found.alpha == pytest.approx(0.05 / (4 * count))
    assert len(found.proofs) <= 2 * count
    for proof in found.proofs:
        likely, rare = (proof.second, proof.first) if proof.event.favours_second else (proof.first, proof.second)
        assert proof.least == pytest.approx(likely.lower(found.alpha), rel=2e-7)
        assert proof.most == pytest.approx(rare.upper(found.alpha), rel=2e-7)


def blind_audit(seed: int) -> Verdict:
    chance = experiment(seed)
    return audit(lambda value: int(chance.integers(0, 3000)), 0, 1, claim=0, draws=10_000).verdict


def test_a_mechanism_that_ignores_its_input_passes_the_strictest_claim():
    """Each of the ten audits gives a false alarm with probability 1e-6 at most."""
    assert {blind_audit(seed) for seed in range(10)} == {Verdict.CONSISTENT}


def test_draws_that_chose_the_event_must_not_prove_it(monkeypatch):
    """Planted: all draws teach, choose and prove at once. Then chance alone looks like a difference."""
    monkeypatch.setattr(DrawRoles, "split", lambda self, pieces: (list(pieces),) * 3)
    assert blind_audit(0) is Verdict.VIOLATION
