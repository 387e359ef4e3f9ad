"""The curves behind the conversions, against mechanisms whose exact curve is known."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings

from discreet.errors import OutOfReach
from discreet.exact.ball import Ball, ball, lower, upper, working_precision
from discreet.noise.gaussian import DiscreteGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.privacy import conversion as curve
from discreet.privacy.hypothesis_tests import Pair
from discreet.privacy.loss import GaussianDP, Pure, Renyi, ZeroConcentrated
from tests.privacy.strategies import positive_deltas, small_sizes

LIGHT = settings(max_examples=30, deadline=None)
EPSILONS = [Fraction(k, 8) for k in range(25)]


def _response(epsilon: Fraction) -> Pair:
    with working_precision():
        lie = 1 / (1 + ball(epsilon).exp())
        return Pair([1 - lie, lie], [lie, 1 - lie])


def _laplace(scale: Fraction, shift: int) -> Pair:
    law, window = DiscreteLaplace(scale), range(-200, 201)
    with working_precision():
        return Pair([law.mass(k) for k in window], [law.mass(k - shift) for k in window])


def _gaussian(sigma: Fraction, shift: int) -> Pair:
    law, window = DiscreteGaussian(sigma), range(-80, 81)
    with working_precision():
        return Pair([law.mass(k) for k in window], [law.mass(k - shift) for k in window])


@LIGHT
@given(small_sizes)
def test_randomized_response_touches_the_pure_curve_everywhere(epsilon: Fraction) -> None:
    pair = _response(epsilon)
    for wanted in EPSILONS:
        with working_precision():
            found = pair.delta(wanted)
            stated = curve.pure_delta(epsilon, Fraction(0), wanted)
            assert lower(found) <= stated <= upper(found) + Fraction(1, 2**90)


@LIGHT
@given(small_sizes)
def test_a_pure_mechanism_keeps_every_conversion_of_its_loss(epsilon: Fraction) -> None:
    pair = _response(epsilon)
    concentrated = Pure(epsilon) + ZeroConcentrated(0)
    gaussian = Pure(epsilon) + GaussianDP(0)
    renyi = Pure(epsilon) + Renyi({2: 0, "3.5": 0, 32: 0})  # type: ignore[dict-item]
    for order, divergence in renyi.curve:  # type: ignore[attr-defined]
        assert lower(pair.renyi(order)) <= divergence
        assert lower(pair.renyi(order)) <= order * concentrated.rho  # type: ignore[attr-defined]
    for wanted in EPSILONS:
        found = lower(pair.delta(wanted))
        assert found <= min(loss.delta_at(wanted) for loss in (concentrated, gaussian, renyi))


@pytest.mark.parametrize(("scale", "shift"), [(Fraction(1), 1), (Fraction(3), 2), (Fraction(1, 2), 1)])
def test_discrete_laplace_noise_keeps_every_conversion_of_its_loss(scale: Fraction, shift: int) -> None:
    pair, loss = _laplace(scale, shift), Pure(shift / scale)
    weaker = [loss, loss + ZeroConcentrated(0), loss + GaussianDP(0), loss + Renyi({2: 0, 8: 0})]
    for wanted in EPSILONS:
        found = lower(pair.delta(wanted))
        assert all(found <= stated.delta_at(wanted) for stated in weaker)


@pytest.mark.parametrize(("sigma", "shift"), [(Fraction(1), 1), (Fraction(4), 1), (Fraction(5, 2), 2)])
def test_discrete_gaussian_noise_keeps_its_zero_concentrated_loss(sigma: Fraction, shift: int) -> None:
    """Canonne, Kamath and Steinke (2020), proposition 5: ρ = Δ²/2σ², also on the integers."""
    pair, loss = _gaussian(sigma, shift), ZeroConcentrated(shift**2 / (2 * sigma**2))
    for order in (2, 5, 20):
        assert lower(pair.renyi(order)) <= order * loss.rho
    for wanted in EPSILONS:
        assert lower(pair.delta(wanted)) <= loss.delta_at(wanted)
    for digits in (2, 6, 10):
        delta = Fraction(1, 10**digits)
        assert lower(pair.delta(loss.epsilon_at(delta))) <= delta


@LIGHT
@given(small_sizes, positive_deltas)
def test_any_order_is_valid_and_the_chosen_one_is_as_good_as_any(rho: Fraction, delta: Fraction) -> None:
    chosen = curve.concentrated_epsilon(rho, delta)
    for above in (Fraction(1, 100), Fraction(1), Fraction(7), Fraction(300)):
        assert chosen <= curve.renyi_epsilon(1 + above, (1 + above) * rho, delta) + Fraction(1, 10**12)


@LIGHT
@given(small_sizes, positive_deltas)
def test_rounding_is_always_upward(rho: Fraction, delta: Fraction) -> None:
    alpha = 1 + Fraction(17, 5)
    with working_precision(400):
        a = ball(alpha)
        exact = ball(alpha * rho) + (1 - 1 / a).log() - (ball(delta).log() + a.log()) / (a - 1)
        log_delta = (a - 1) * ball(alpha * rho - 2) + a * (1 - 1 / a).log() - (a - 1).log()
        assert lower(exact) <= curve.renyi_epsilon(alpha, alpha * rho, delta)
        assert min(lower(log_delta.exp()), Fraction(1)) <= curve.renyi_delta(alpha, alpha * rho, Fraction(2))


def test_a_probability_is_rounded_up_without_writing_out_tiny_numbers() -> None:
    with working_precision():
        assert curve.probability_up(Ball(-(10**30))) == Fraction(1, 2**400)
        assert curve.probability_up(Ball(10**30)) == 1
        assert curve.probability_up(Ball(0)) == 1
        assert 0 < curve.probability_up(Ball(-1)) - Fraction("0.36787944117144232159") < Fraction(1, 10**19)


@pytest.mark.parametrize("bits", [48, 120])
def test_the_least_epsilon_is_found_from_above(bits: int) -> None:
    edge = Fraction(10**6, 3) + Fraction(1, 2**bits)
    found = curve.least_epsilon(lambda e: Fraction(0) if e >= edge else Fraction(1), Fraction(1, 2))
    assert edge <= found <= edge + Fraction(1, 2**48)


def test_a_curve_that_never_falls_is_out_of_reach() -> None:
    with pytest.raises(OutOfReach):
        curve.least_epsilon(lambda _: Fraction(1), Fraction(1, 2))
