"""What a loss means: probabilities, tests and beliefs stay where the loss says, and the limits are reached."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from discreet.errors import InvalidInput, NoProvedPath
from discreet.exact.ball import Ball, ball, exp_up, lower, upper, working_precision
from discreet.noise.gaussian import DiscreteGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.privacy.hypothesis_tests import Pair
from discreet.privacy.loss import Approximate, GaussianDP, Loss, Pure, Renyi, ZeroConcentrated
from discreet.privacy.meaning import (
    Beliefs,
    ErrorRegion,
    OddsRatio,
    pinsker_bound,
    possible_probabilities,
    posterior_odds,
    posterior_range,
    with_or_without_me,
)
from tests.privacy.strategies import approximates, laws, small_sizes

LIGHT = settings(max_examples=40, deadline=None)
F = Fraction
probabilities = st.fractions(min_value=0, max_value=1, max_denominator=200)
factors = st.fractions(min_value=1, max_value=20, max_denominator=50).map(OddsRatio)


def _is_private(p: Fraction, q: Fraction, factor: Fraction, delta: Fraction) -> bool:
    """Whether the mechanism that says yes with probability p on x and q on x' keeps (ln factor, δ), at every event."""
    events = [(p, q), (1 - p, 1 - q)]
    return all(a <= factor * b + delta and b <= factor * a + delta for a, b in events)


# How far a probability can move.


@LIGHT
@given(probabilities, factors)
def test_both_ends_of_the_range_belong_to_a_mechanism_and_nothing_beyond_does(p: Fraction, loss: OddsRatio) -> None:
    low, high = possible_probabilities(p, loss)
    assert 0 <= low <= p <= high <= 1
    for end, beyond in ((low, low - F(1, 10**6)), (high, high + F(1, 10**6))):
        assert _is_private(p, end, loss.factor, F(0))
        assert not 0 <= beyond <= 1 or not _is_private(p, beyond, loss.factor, F(0))


@LIGHT
@given(probabilities, approximates)
def test_the_range_is_tight_with_delta_too(p: Fraction, loss: Approximate) -> None:
    factor = exp_up(loss.epsilon)
    low, high = possible_probabilities(p, loss)
    for end, beyond in ((low, low - F(1, 10**6)), (high, high + F(1, 10**6))):
        assert _is_private(p, end, factor, loss.delta)
        assert not 0 <= beyond <= 1 or not _is_private(p, beyond, factor, loss.delta)


def test_a_zero_loss_moves_no_probability() -> None:
    assert possible_probabilities("0.3", Pure(0)) == (F(3, 10), F(3, 10))
    assert possible_probabilities("0.3", OddsRatio(1)) == (F(3, 10), F(3, 10))
    assert possible_probabilities("0.3", Approximate(0, "0.1")) == (F(2, 10), F(4, 10))


def test_a_factor_and_its_logarithm_mean_the_same() -> None:
    low, high = possible_probabilities("0.2", OddsRatio(3).loss)
    assert (float(low), float(high)) == pytest.approx((0.2 / 3, 0.6))
    assert OddsRatio(3).loss >= Pure(math.nextafter(math.log(3), 0))
    assert OddsRatio(1).loss == Pure(0)
    assert str(OddsRatio("5/4")) == "one unit makes no outcome more than 5/4 times likelier or less likely"


# How well a test can do.


@LIGHT
@given(st.tuples(laws(3), laws(3)))
def test_no_mechanism_leaves_the_region_of_its_own_pure_loss(pair: tuple[list[Fraction], list[Fraction]]) -> None:
    p, q = pair
    factor = max(max(a / b, b / a) for a, b in zip(p, q, strict=True))
    region = ErrorRegion(OddsRatio(factor))
    for event in itertools.product([0, 1], repeat=3):
        false_positive = sum((a for a, says in zip(p, event, strict=True) if says), F(0))
        false_negative = sum((b for b, says in zip(q, event, strict=True) if not says), F(0))
        assert region.allows(false_positive, false_negative)
    assert region.least_error_sum() <= upper(Pair(p, q).least_error_sum())


@LIGHT
@given(factors)
def test_randomized_response_touches_the_boundary(loss: OddsRatio) -> None:
    lie = 1 / (1 + loss.factor)
    region = ErrorRegion(loss)
    assert region.least_false_negative(lie) == lie
    assert region.least_error_sum() == 2 * lie
    for false_positive, false_negative in Pair([1 - lie, lie], [lie, 1 - lie]).trade_off():
        assert float(region.least_false_negative(false_positive)) == pytest.approx(false_negative, abs=1e-12)


def test_a_test_better_than_the_loss_allows_is_not_allowed() -> None:
    region = ErrorRegion(OddsRatio(3))
    assert region.allows("1/4", "1/4")
    assert not region.allows("0.24", "0.25")
    assert not region.allows("0.25", "0.24")
    assert region.allows(0, 1)
    assert region.allows(1, 0)


def test_delta_lets_some_tests_be_certain() -> None:
    region = ErrorRegion(Approximate(0, "0.1"))
    assert region.allows(0, "0.9")
    assert not region.allows(0, "0.89")
    assert region.least_error_sum() == F(9, 10)


@LIGHT
@given(st.fractions(min_value=0, max_value=1, max_denominator=99), st.fractions(min_value=0, max_value=5))
def test_a_gaussian_loss_forbids_what_its_trade_off_curve_forbids(p: Fraction, mu: Fraction) -> None:
    exact = norm.cdf(norm.isf(float(p)) - float(mu))
    assert float(ErrorRegion(GaussianDP(mu)).least_false_negative(p)) == pytest.approx(exact, abs=1e-12)
    assert float(ErrorRegion(GaussianDP(mu)).least_error_sum()) == pytest.approx(
        2 * norm.cdf(-float(mu) / 2), abs=1e-12
    )


def test_no_loss_is_too_large_for_an_error_region() -> None:
    assert ErrorRegion(GaussianDP(2**99)).least_false_negative("0.5") == 0
    assert ErrorRegion(ZeroConcentrated(2**99)).least_error_sum() >= 0


@pytest.mark.parametrize("loss", [Pure(1), Pure(1) + ZeroConcentrated(0), Pure(1) + GaussianDP(0), Renyi({2: 1, 8: 1})])
def test_every_kind_of_loss_allows_the_tests_of_a_mechanism_that_keeps_it(loss: Loss) -> None:
    law = DiscreteLaplace(1)
    with working_precision():
        pair = Pair([law.mass(k) for k in range(-60, 61)], [law.mass(k - 1) for k in range(-60, 61)])
    region = ErrorRegion(loss)
    for false_positive, false_negative in pair.trade_off():
        assert float(region.least_false_negative(false_positive)) <= false_negative + 1e-12
    assert region.least_error_sum() <= upper(pair.least_error_sum())


def test_a_zero_concentrated_loss_allows_the_tests_on_gaussian_noise_and_forbids_much_better_ones() -> None:
    law = DiscreteGaussian(2)
    with working_precision():
        pair = Pair([law.mass(k) for k in range(-60, 61)], [law.mass(k - 1) for k in range(-60, 61)])
    region = ErrorRegion(ZeroConcentrated("1/8"))
    for false_positive, false_negative in pair.trade_off():
        assert float(region.least_false_negative(false_positive)) <= false_negative + 1e-12
    assert 0.6 < float(region.least_error_sum()) <= float(pair.least_error_sum())
    assert region.least_false_negative("0.01") > F(1, 2)


@LIGHT
@given(st.fractions(min_value=0, max_value=8, max_denominator=100))
def test_pinskers_bound_is_never_above_the_exact_one(epsilon: Fraction) -> None:
    assert pinsker_bound(Pure(epsilon)) <= ErrorRegion(Pure(epsilon)).least_error_sum()


@pytest.mark.parametrize("loss", [Approximate(1, 1e-6), ZeroConcentrated(1), GaussianDP(1)])
def test_pinskers_bound_is_for_pure_losses(loss: Any) -> None:
    with pytest.raises(NoProvedPath):
        pinsker_bound(loss)


# What an attacker can believe.


@LIGHT
@given(st.fractions(min_value=0, max_value=1, max_denominator=99), factors)
def test_randomized_response_moves_a_belief_to_both_ends(prior: Fraction, loss: OddsRatio) -> None:
    truth = loss.factor / (1 + loss.factor)
    low, high = posterior_range(prior, loss)
    likely = {"x": truth, "x'": 1 - truth}
    unlikely = {"x": 1 - truth, "x'": truth}
    beliefs = Beliefs({"x": prior, "x'": 1 - prior})
    assert float(beliefs.after(likely)["x"]) == pytest.approx(float(high))
    assert float(beliefs.after(unlikely)["x"]) == pytest.approx(float(low))


@LIGHT
@given(st.fractions(min_value=F(1, 99), max_value=99, max_denominator=99), factors)
def test_odds_move_by_the_factor(odds: Fraction, loss: OddsRatio) -> None:
    low, high = posterior_odds(odds, loss)
    assert (low, high) == (odds / loss.factor, odds * loss.factor)
    as_probability = posterior_range(odds / (1 + odds), loss)
    assert as_probability == (low / (1 + low), high / (1 + high))


@pytest.mark.parametrize("reading", [lambda loss: posterior_range("1/2", loss), lambda loss: posterior_odds(1, loss)])
def test_with_delta_a_belief_can_become_certain(reading: Any) -> None:
    with pytest.raises(NoProvedPath, match="may prove"):
        reading(Approximate(1, 1e-9))
    assert reading(Approximate(1, 0)) == reading(Pure(1))


Rows = tuple[int, ...]


def _responses(data: Rows, factor: Fraction, outcome: Rows) -> Fraction:
    """P(outcome) when every row answers by randomized response with this factor."""
    truth = factor / (1 + factor)
    return math.prod((truth if a == x else 1 - truth for x, a in zip(data, outcome, strict=True)), start=F(1))


def _without(data: Rows, person: int) -> Rows:
    return (*data[:person], 0, *data[person + 1 :])


def with_and_without(prior: dict[Rows, Fraction], person: int, factor: Fraction, outcome: Rows) -> Ball:
    """How far beliefs about all the data are apart when the person's record was used and when it was not."""
    used = Beliefs(prior).after({x: _responses(x, factor, outcome) for x in prior})
    unused = Beliefs(prior).after({x: _responses(_without(x, person), factor, outcome) for x in prior})
    return used.distance(unused)


@LIGHT
@given(laws(8), factors, st.integers(0, 2), st.tuples(*[st.integers(0, 1)] * 3))
def test_beliefs_are_within_two_epsilon_with_or_without_me(
    weights: list[Fraction], loss: OddsRatio, person: int, outcome: Rows
) -> None:
    """For every prior, also with rows that depend on each other, and every outcome."""
    worlds = list(itertools.product([0, 1], repeat=3))
    distance = with_and_without(dict(zip(worlds, weights, strict=True)), person, loss.factor, outcome)
    limit = with_or_without_me(loss)
    assert isinstance(limit, OddsRatio)
    with working_precision():
        assert not distance > ball(limit.factor).log() + Ball(2) ** -100


@LIGHT
@given(factors)
def test_two_epsilon_is_nearly_reached(loss: OddsRatio) -> None:
    """Randomized response on whether two bits differ, and an attacker who is almost sure that they do not."""
    assume(loss.factor > 1)
    truth, rare = loss.factor / (1 + loss.factor), F(1, 10**12)
    prior = {(1, 0): rare, (1, 1): 1 - rare}
    says_differ = {x: truth if x[0] != x[1] else 1 - truth for x in itertools.product([0, 1], repeat=2)}
    used = Beliefs(prior).after(says_differ)
    unused = Beliefs(prior).after({x: says_differ[_without(x, 0)] for x in prior})
    assert math.exp(float(used.distance(unused))) == pytest.approx(float(loss.factor**2), rel=1e-6)


def test_correlated_rows_teach_about_me_without_my_record() -> None:
    """Twins: the attacker learns my bit from my twin's answer, and would have learned it without mine."""
    prior = {(0, 0): F(1, 2), (1, 1): F(1, 2)}
    outcome = (1, 1)
    unused = Beliefs(prior).after({x: _responses(_without(x, 0), F(3), outcome) for x in prior})
    assert float(unused.that(lambda x: x[0] == 1)) == pytest.approx(0.75)


def test_two_epsilon_for_every_way_of_saying_a_pure_loss() -> None:
    assert with_or_without_me(Pure("0.5")) == Pure(1)
    assert with_or_without_me(Approximate("0.5", 0)) == Pure(1)
    assert with_or_without_me(OddsRatio(3)) == OddsRatio(9)
    for loss in (Approximate(1, 1e-6), ZeroConcentrated(1), GaussianDP(1)):
        with pytest.raises(NoProvedPath):
            with_or_without_me(loss)


def test_beliefs_update_one_outcome_after_another() -> None:
    likelihood = {"yes": F(3, 4), "no": F(1, 4)}
    twice = Beliefs({"yes": "1/2", "no": "1/2"}).after(likelihood).after(likelihood)
    assert float(twice["yes"]) == pytest.approx(0.9)
    assert sorted(twice) == ["no", "yes"]


def test_beliefs_that_exclude_different_worlds_are_infinitely_far_apart() -> None:
    sure = Beliefs({"a": 1, "b": 0})
    unsure = Beliefs({"a": "1/2", "b": "1/2"})
    assert sure.distance(unsure) == unsure.distance(sure) == Ball.pos_inf()
    assert float(sure.distance(sure)) == 0


@pytest.mark.parametrize("prior", [{}, {"a": "1/2"}, {"a": 1, "b": "1/2"}, {"a": -1, "b": 2}, {"a": math.nan}])
def test_refuses_priors_that_are_not_laws(prior: Any) -> None:
    with pytest.raises(InvalidInput):
        Beliefs(prior)


def test_refuses_outcomes_that_cannot_happen_and_worlds_that_are_missing() -> None:
    beliefs = Beliefs({"a": "1/2", "b": "1/2"})
    with pytest.raises(InvalidInput, match="possible in some world"):
        beliefs.after({"a": F(0), "b": F(0)})
    with pytest.raises(InvalidInput, match="every world"):
        beliefs.after({"a": F(1)})
    with pytest.raises(InvalidInput, match="same worlds"):
        beliefs.distance(Beliefs({"a": 1}))  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [0, "1/2", -1, math.nan, math.inf, None, True])
def test_refuses_factors_below_one(bad: Any) -> None:
    with pytest.raises(InvalidInput):
        OddsRatio(bad)


@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan, "x", None])
def test_refuses_what_is_no_probability(bad: Any) -> None:
    for reading in (
        lambda: possible_probabilities(bad, Pure(1)),
        lambda: posterior_range(bad, Pure(1)),
        lambda: ErrorRegion(Pure(1)).least_false_negative(bad),
        lambda: ErrorRegion(Pure(1)).allows(0.5, bad),
    ):
        with pytest.raises(InvalidInput):
            reading()


def test_a_range_needs_a_loss_that_bounds_every_event() -> None:
    with pytest.raises(NoProvedPath, match="approximate"):
        possible_probabilities("0.5", ZeroConcentrated(1))


@LIGHT
@given(small_sizes)
def test_readings_of_a_pure_loss_are_rounded_to_the_safe_side(epsilon: Fraction) -> None:
    with working_precision(400):
        factor = ball(epsilon).exp()
        assert possible_probabilities("1/10", Pure(epsilon))[0] <= upper(1 / (10 * factor))
        assert ErrorRegion(Pure(epsilon)).least_error_sum() <= upper(2 / (1 + factor))
        assert posterior_range("1/2", Pure(epsilon))[1] >= lower(factor / (1 + factor))
