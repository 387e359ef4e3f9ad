"""The loss of shuffled reports: never understated, as small as published, refused where nothing is proved."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from discreet.errors import InvalidInput, InvalidValue
from discreet.exact.ball import Ball, ball, lower, working_precision
from discreet.local.mean_mechanisms import HybridMean, PiecewiseMean
from discreet.local.randomized_response import GeneralizedResponse
from discreet.local.randomizer import Randomizer
from discreet.local.shuffling import Amplification, closed_form, delta_of_shuffle, largest_local, shuffle
from discreet.privacy.hypothesis_tests import Pair
from discreet.privacy.loss import Approximate, Pure
from discreet.privacy.neighbours import Neighbours

PUBLISHED = [  # n, δ, ε₀, closed form, numeric bound
    (10**4, 1e-6, 1, 0.214, 0.053),
    (10**4, 1e-6, 2, 0.501, 0.155),
    (10**5, 1e-6, 1, 0.0726, 0.0153),
    (10**5, 1e-6, 4, 0.535, 0.170),
    (10**6, 1e-8, 1, 0.0268, 0.0061),
    (10**6, 1e-8, 4, 0.226, 0.064),
]


@pytest.mark.parametrize(("n", "delta", "local", "closed", "numeric"), PUBLISHED)
def test_agrees_with_published_figures(n: int, delta: float, local: int, closed: float, numeric: float) -> None:
    assert float(shuffle(n, local, delta).central.epsilon) == pytest.approx(numeric, rel=0.01)
    assert float(closed_form(n, local, delta).epsilon) == pytest.approx(closed, rel=0.005)


def theorem(n: int, local: Fraction, central: Fraction) -> Ball:
    """The hockey-stick divergence of the pair in the theorem, from its definition, in balls."""
    with working_precision(256):
        clone, honest = (-ball(local)).exp(), 1 / (1 + (-ball(local)).exp())
        here: dict[tuple[int, int], Ball] = {}
        there: dict[tuple[int, int], Ball] = {}
        for c in range(n):
            chance = math.comb(n - 1, c) * clone**c * (1 - clone) ** (n - 1 - c)
            for a in range(c + 1):
                mass = chance * math.comb(c, a) / 2**c
                for mine, other, weight in ((1, 0, honest), (0, 1, 1 - honest)):
                    first, second = (a + mine, c - a + other), (a + other, c - a + mine)
                    here[first] = here.get(first, Ball(0)) + mass * weight
                    there[second] = there.get(second, Ball(0)) + mass * weight
        outcomes = list(here | there)
        laws = [[law.get(outcome, Ball(0)) for outcome in outcomes] for law in (here, there)]
        return Pair(*laws).delta(central)


@pytest.mark.parametrize("n", [1, 2, 7, 40])
@pytest.mark.parametrize("local", [Fraction(1, 2), Fraction(2), Fraction(5)])
def test_is_the_divergence_of_the_theorem(n: int, local: Fraction) -> None:
    for part in (0, Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)):
        exact = theorem(n, local, part * local)
        found = delta_of_shuffle(n, local, part * local)
        assert found >= float(lower(exact)) * (1 - 1e-15)
        assert found == pytest.approx(float(exact), rel=1e-6, abs=1e-12)


def shuffled_law(oracle: Randomizer[Any], values: Sequence[Any]) -> Counter[tuple[object, ...]]:
    """The law of the sorted reports: what anybody sees after shuffling."""
    laws = [oracle.law(value) for value in values]
    found: Counter[tuple[object, ...]] = Counter()
    for drawn in itertools.product(*(list(zip(law.outcomes, map(float, law.masses), strict=True)) for law in laws)):
        found[tuple(sorted(outcome for outcome, _ in drawn))] += math.prod(mass for _, mass in drawn)
    return found


@pytest.mark.parametrize("categories", ["ab", "abc"])
@pytest.mark.parametrize("local", [0.5, 1, 3])
def test_real_shuffled_reports_stay_within_the_bound(categories: str, local: float) -> None:
    """The others all answer alike, or are spread: the loss that is there never passes the one that is stated."""
    oracle = GeneralizedResponse(local, list(categories))
    for others in ("aaaaa", "ababa", "bbbbb"):
        here, there = (shuffled_law(oracle, [mine, *others]) for mine in "ab")
        for part in (0.0, 0.2, 0.5, 0.9):
            central = part * local
            real = sum(max(here[seen] - math.exp(central) * there[seen], 0.0) for seen in here)
            assert real <= delta_of_shuffle(len(others) + 1, local, central) + 1e-12


@pytest.mark.parametrize("local", [0.5, 1, 3])
def test_real_shuffled_numbers_stay_within_the_bound(local: float) -> None:
    for kind in (PiecewiseMean, HybridMean):
        randomizer = kind(local, 0, 1, steps=2)
        for others in ((0, 0, 0), (0, 1, 0.5)):
            here, there = (shuffled_law(randomizer, [mine, *others]) for mine in (0, 1))
            for part in (0.0, 0.3, 0.8):
                central = part * local
                real = sum(max(here[seen] - math.exp(central) * there[seen], 0.0) for seen in here)
                assert real <= delta_of_shuffle(4, local, central) + 1e-12


@pytest.mark.parametrize("count", [50, 10**5, 10**8, 10**10])
def test_binomial_tails_are_as_good_as_the_proof_needs(count: int) -> None:
    for deviations in (1, 4, 7):
        k = min(count // 2 + int(deviations * math.sqrt(count) / 2), count - 1)
        with working_precision(256):
            tail = Ball(0.5).beta_lower(k, count - k + 1, True)
            logs = [Ball(m + 1).lgamma() for m in (count, k, count - k)]
            mass = (logs[0] - logs[1] - logs[2] - count * Ball(2).log()).exp()
        assert binom.sf(k - 1, count, 0.5) == pytest.approx(float(tail), rel=2e-10)
        assert binom.pmf(k, count, 0.5) == pytest.approx(float(mass), rel=2e-10)


def test_pieces_of_clones_cost_next_to_nothing() -> None:
    whole = delta_of_shuffle(2000, 1, 0.05)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("discreet.local.shuffling._PIECES", 50)
        pieces = delta_of_shuffle(2000, 1, 0.05)
    assert whole <= pieces <= 1.2 * whole


def test_more_people_help_and_more_loss_does_not() -> None:
    by_people = [shuffle(n, 2, 1e-6).central.epsilon for n in (10, 100, 1000, 10_000)]
    assert by_people == sorted(by_people, reverse=True)
    by_loss = [shuffle(1000, local, 1e-6).central.epsilon for local in (0.1, 1, 2, 4)]
    assert by_loss == sorted(by_loss)
    by_delta = [shuffle(1000, 1, delta).central.epsilon for delta in (1e-10, 1e-6, 1e-3, 0.1)]
    assert by_delta == sorted(by_delta, reverse=True)


def test_is_never_worse_than_the_reports_alone() -> None:
    found = shuffle(1, 1, 1e-300)
    relation = Neighbours.REPLACE_ONE
    assert found == Amplification(1, Pure(1, relation), Approximate(1, 1e-300, relation))
    assert found.factor == 1
    assert shuffle(10**6, "0.001", 0.9).central.epsilon == 0
    assert shuffle(10**6, "0.001", 0.9).factor == math.inf
    assert shuffle(100, Fraction(1, 2**90), 1e-9).central.epsilon <= Fraction(1, 2**90)
    assert shuffle(100, 650, 1e-9).central.epsilon <= 650


def test_what_is_returned_was_checked() -> None:
    found = shuffle(5000, 2, 1e-5)
    assert delta_of_shuffle(5000, 2, found.central.epsilon) <= 1e-5
    assert delta_of_shuffle(5000, 2, found.central.epsilon * Fraction(999, 1000)) > 1e-5
    assert shuffle(5000, Pure(2), 1e-5) == found


@pytest.mark.parametrize(("n", "central"), [(1, 1), (1000, "0.1"), (10**6, 1), (10**9, 2)])
def test_the_largest_local_loss_is_the_largest(n: int, central: Any) -> None:
    local = largest_local(n, central, 1e-6)
    assert shuffle(n, local, 1e-6).central.epsilon <= Fraction(central) * (1 + Fraction(1, 10**6))
    assert shuffle(n, local.epsilon * Fraction(1001, 1000), 1e-6).central.epsilon > Fraction(central)
    assert local.epsilon >= Fraction(central)


def test_the_closed_form_is_refused_outside_its_conditions() -> None:
    most = math.log(10**5 / (16 * math.log(2 / 1e-6)))
    assert closed_form(10**5, most - 1e-6, 1e-6).epsilon > 0
    with pytest.raises(InvalidValue, match=r"proved for a local ε of at most 6\.06"):
        closed_form(10**5, most + 1e-6, 1e-6)
    with pytest.raises(InvalidValue, match="for no local ε"):
        closed_form(10, 1, 1e-6)


@pytest.mark.parametrize(
    ("n", "local", "delta"),
    [
        (0, 1, 1e-6),
        (10**10 + 1, 1, 1e-6),
        (1.5, 1, 1e-6),
        (10, 0, 1e-6),
        (10, -1, 1e-6),
        (10, 701, 1e-6),
        (10, Pure(0), 1e-6),
        (10, Approximate(1, 1e-6), 1e-6),
        (10, 1, 0),
        (10, 1, 1),
        (10, math.nan, 1e-6),
        (10, np.inf, 1e-6),
    ],
)
def test_bad_input_is_refused(n: int, local: float, delta: float) -> None:
    for calculator in (shuffle, closed_form):
        with pytest.raises(InvalidInput):
            calculator(n, local, delta)
