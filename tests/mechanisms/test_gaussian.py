"""The Gaussian mechanism keeps the promise on its proof sheet."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from discreet.errors import InvalidInput, InvalidType, InvalidValue, NoProvedPath
from discreet.exact.ball import lower, upper, working_precision
from discreet.mechanisms.gaussian import Gaussian, largest_rho, least_squared_sigma, shift_delta, shift_losses
from discreet.noise.gaussian import DiscreteGaussian
from discreet.noise.source import ReplayableSource, ScriptedSource
from discreet.privacy.hypothesis_tests import Pair
from discreet.privacy.loss import Approximate, ZeroConcentrated
from discreet.privacy.sensitivity import Norm, Sensitivity
from tests.mechanisms.contract import MechanismContract


class TestCount(MechanismContract):
    def mechanism(self) -> Gaussian:
        return Gaussian(epsilon=1, delta="1/100000")

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [(0, 1), (7, 6), (3, 3)]

    def outcomes(self) -> range:
        return range(-70, 80)

    def bad_inputs(self) -> list[Any]:
        return [math.nan, math.inf, True, "3", None, [1.0, 2.0], [1, 2], [1, None], 1j]


class TestCountAboveOne(TestCount):
    def mechanism(self) -> Gaussian:
        return Gaussian(epsilon=6, delta="1e-9")


class TestSumOnAFineGrid(TestCount):
    def mechanism(self) -> Gaussian:
        return Gaussian(epsilon="0.5", delta="0.001", sensitivity="1.3", grid=0.25)

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [(0.0, 1.5), (0.124, 1.424), (3, 4)]

    def outcomes(self) -> list[float]:  # type: ignore[override]
        return [k / 4 for k in range(-300, 320)]


class TestConcentratedCount(TestCount):
    def mechanism(self) -> Gaussian:
        return Gaussian(rho="0.5")

    def bad_inputs(self) -> list[Any]:
        return [math.nan, math.inf, True, "3", None, [1.0, 2.0], [1, None], 1j]


class TestHistogramUnderReplaceOne(TestCount):
    def mechanism(self) -> Gaussian:
        return Gaussian(rho=1, sensitivity=Sensitivity.histogram("replace-one", Norm.L2), integers=True)

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [([0, 0], [1, -1]), ([4, 4], [3, 5])]

    def outcomes(self) -> list[tuple[int, int]]:  # type: ignore[override]
        return [(a, b) for a in range(-13, 18) for b in range(-13, 18)]

    def bad_inputs(self) -> list[Any]:
        return [0.5, [0.5, 1.0], "no", [None]]


class TestTwoCountsForEpsilonAndDelta(TestHistogramUnderReplaceOne):
    def mechanism(self) -> Gaussian:
        sensitivity = Sensitivity.counts(2, "replace-one", Norm.L2)
        return Gaussian(epsilon=3, delta="0.01", sensitivity=sensitivity, dimension=2, integers=True)

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [([0, 0], [1, 1]), ([0, 0], [1, -1]), ([2, 0], [1, 0])]


class TestTwoCountsWhoseMoveIsNoRational(TestHistogramUnderReplaceOne):
    """What a plan makes: the square of the move is whole, and its root is not."""

    def mechanism(self) -> Gaussian:
        return Gaussian(rho=1, squared_sensitivity=5, integers=True)

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [([0, 0], [1, 2]), ([4, 4], [2, 5])]


def test_a_squared_sensitivity_is_taken_exactly() -> None:
    for squared in (1, 2, 3, 2**64 + 1, 2**101 + 1):
        noise = Gaussian(rho=Fraction(squared, 8), squared_sensitivity=squared, integers=True)
        assert noise.law.squared == 4
        assert noise.concentrated_loss() == noise.loss
        assert 0 <= noise.sensitivity**2 - squared <= squared / 2**40
    fine = Gaussian(rho=1, squared_sensitivity=3, integers=True, grid=0.25)
    assert fine.law.squared == Fraction(3 * 16, 2)


@pytest.mark.parametrize(
    "given",
    [
        {"squared_sensitivity": 3},
        {"squared_sensitivity": 0, "integers": True},
        {"squared_sensitivity": 2.0, "integers": True},
        {"squared_sensitivity": 2**201, "integers": True},
        {"squared_sensitivity": 4, "sensitivity": 2, "integers": True},
        {"squared_sensitivity": 4, "sensitivity": Sensitivity.count("add-remove-one"), "integers": True},
    ],
)
def test_a_squared_sensitivity_is_a_whole_number_of_whole_answers_and_given_alone(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        Gaussian(rho=1, **given)


def test_noise_is_added_to_steps_as_a_release_adds_it() -> None:
    for noise in (Gaussian(rho=1, integers=True), Gaussian(1, "1e-6", dimension=3)):
        steps = np.array([2**40, -7, 0])
        released = noise.release(steps, source=ReplayableSource(3))
        added = noise.add_noise(steps, ReplayableSource(3).open())
        assert np.array_equal(released, added)
        assert steps.tolist() == [2**40, -7, 0]


def test_noise_is_added_to_no_more_steps_than_the_price_is_for() -> None:
    with pytest.raises(InvalidValue, match="for one answer"):
        Gaussian(1, "1e-6").add_noise(np.array([1, 2]), ScriptedSource([]).open())
    with pytest.raises(InvalidType, match="must be integers"):
        Gaussian(rho=1, integers=True).add_noise(np.array([0.5]), ScriptedSource([]).open())  # type: ignore[arg-type]


def continuous_sigma(epsilon: float, delta: float) -> float:
    """Balle and Wang's analytic calibration for a sensitivity of 1, written from their paper."""

    def excess(sigma: float) -> float:
        near, far = norm.cdf(0.5 / sigma - epsilon * sigma), norm.cdf(-0.5 / sigma - epsilon * sigma)
        return float(near - math.exp(epsilon) * far - delta)

    return float(brentq(excess, 1e-2, 1e5, xtol=1e-10))


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(1, "1e-6"), ("0.1", "1e-6"), ("0.01", "1e-9"), ("1e-4", "1e-5"), (2, "1e-12")]
)
def test_agrees_with_the_analytic_gaussian_once_sigma_is_large(epsilon: Any, delta: str) -> None:
    found = Gaussian(epsilon, delta).sigma
    expected = continuous_sigma(float(epsilon), float(delta))
    assert math.isclose(found, expected, rel_tol=0.01 if expected > 4 else 0.1)


def test_fine_grids_come_close_to_continuous_noise() -> None:
    for epsilon in ("0.5", 4, 8):
        fine = Gaussian(epsilon, "1e-6", grid=2**-10)
        assert math.isclose(fine.sigma, continuous_sigma(float(epsilon), 1e-6), rel_tol=1e-3)


def test_calibration_is_tight() -> None:
    for epsilon, delta in [(1, Fraction(1, 10**6)), (4, Fraction(1, 10**5)), (Fraction(1, 10), Fraction(1, 1000))]:
        squared = least_squared_sigma(Fraction(epsilon), delta, 1)
        assert shift_delta(squared, 1, Fraction(epsilon)) <= delta
        assert shift_delta(squared * Fraction(9999, 10000), 1, Fraction(epsilon)) > delta


def test_the_curve_is_that_of_the_two_laws_side_by_side() -> None:
    law = DiscreteGaussian(variance_parameter=Fraction(7))
    with working_precision(256):
        p = [law.mass(k) for k in range(-60, 70)]
        q = [law.mass(k - 3) for k in range(-60, 70)]
    for epsilon in (Fraction(0), Fraction(1, 2), Fraction(3), Fraction(8)):
        direct = Pair(p, q).delta(epsilon)
        stated = shift_delta(Fraction(7), 3, epsilon)
        assert lower(direct) <= stated <= upper(direct) + Fraction(1, 10**30)


def test_smaller_moves_cost_less() -> None:
    for epsilon in (Fraction(0), Fraction(1, 3), Fraction(2), Fraction(5)):
        deltas = [shift_delta(Fraction(5), move, epsilon) for move in range(1, 9)]
        assert deltas == sorted(deltas)


def test_rho_sets_the_variance_exactly() -> None:
    assert Gaussian(rho="1/3", sensitivity=2).law.squared == 6
    assert Gaussian(rho="1/3", sensitivity=2).loss == ZeroConcentrated("1/3")
    assert Gaussian(rho=2, sensitivity=1, grid=0.5).law.squared == 1


def test_concentrated_loss_is_tight_for_moderate_noise() -> None:
    gaussian = Gaussian(rho="1/8")
    with working_precision(256):
        p, q = ([gaussian.law.mass(k - c) for k in range(-60, 60)] for c in (0, 1))
    for order in (2, 5, 16):
        divergence = Pair(p, q).renyi(order)
        assert float(divergence) <= order / 8 * (1 + 1e-12)
        assert math.isclose(float(divergence), order / 8, rel_tol=1e-9)


def test_states_a_concentrated_loss_for_every_price() -> None:
    assert Gaussian(sigma=2).loss == Gaussian(sigma=2).concentrated_loss() == ZeroConcentrated("1/8")
    gaussian = Gaussian(1, 1e-6)
    assert gaussian.loss == Approximate(1, "1e-6")
    assert gaussian.concentrated_loss() == ZeroConcentrated(1 / (2 * gaussian.law.squared))


def test_several_answers_pay_by_the_concentrated_path() -> None:
    rho = largest_rho(Fraction(1), Fraction(1, 10**6))
    assert ZeroConcentrated(rho).epsilon_at("1e-6") <= 1
    assert ZeroConcentrated(rho * Fraction(10001, 10000)).epsilon_at("1e-6") > 1
    several = Gaussian(1, 1e-6, dimension=5, integers=True)
    assert several.concentrated_loss().rho == rho
    assert several.release(np.zeros(5, np.int64)).shape == (5,)  # type: ignore[union-attr]


def test_rounding_several_reals_is_paid_for() -> None:
    assert Gaussian(rho=0.5).law.squared == 1
    assert Gaussian(rho=0.5, dimension=9).law.squared == 15  # the largest integer below (1 + 3)²
    assert Gaussian(rho=0.5, sensitivity="1.2").law.squared == 4


@pytest.mark.parametrize("size", [2, 3, 8, 50])
def test_no_rounded_move_exceeds_what_is_paid_for(size: int) -> None:
    gaussian = Gaussian(rho=0.5, sensitivity=2, dimension=size)
    rng = np.random.default_rng(1234)
    for _ in range(300):
        direction = rng.normal(size=size)
        move = 2 * direction / np.linalg.norm(direction) * (1 - 1e-12)
        start = rng.integers(-3, 3, size) + 0.5 - np.abs(move) * rng.random(size)
        moved = gaussian.grid.steps_of(start + move) - gaussian.grid.steps_of(start)
        assert (moved**2).sum() <= gaussian.law.squared


def test_whole_answers_are_not_rounded() -> None:
    histogram = Sensitivity.histogram("replace-one", Norm.L2)
    assert Gaussian(rho=0.5, sensitivity=histogram, integers=True).law.squared == 2
    assert Gaussian(rho=0.5, sensitivity=histogram, integers=True, grid=0.5).law.squared == 8
    for counts in range(1, 50):
        assert Gaussian(rho=0.5, sensitivity=math.sqrt(counts), integers=True).law.squared == counts
    with pytest.raises(InvalidType, match="integers"):
        Gaussian(rho=0.5, integers=True).release(1.0)
    with pytest.raises(InvalidValue, match="finer"):
        Gaussian(rho=0.5, integers=True, grid=2)


def test_one_answer_prices_refuse_vectors_with_a_remedy() -> None:
    with pytest.raises(InvalidValue, match="dimension="):
        Gaussian(1, 1e-6).release([1, 2])
    assert Gaussian(1, 1e-6).release([4]).shape == (1,)  # type: ignore[union-attr]
    assert Gaussian(1, 1e-6).release(np.empty(0, np.int64)).size == 0  # type: ignore[union-attr]


def test_a_hundred_thousand_releases_at_two_inputs_share_one_grid() -> None:
    fine = Gaussian(rho=1, grid=2**-10, dimension=100_000)
    for value in (0.1, 1e5 / 3):
        answers = np.asarray(fine.release(np.full(100_000, value)))
        assert (answers * 1024 == np.rint(answers * 1024)).all()


def test_loss_distribution_is_that_of_the_law() -> None:
    gaussian = Gaussian(rho="1/20", sensitivity=3)
    stated = gaussian.loss_distribution()
    for epsilon in (0.0, 0.5, 2.0):
        above = stated.losses > epsilon
        delta = float(np.sum(stated.masses[above] * -np.expm1(epsilon - stated.losses[above]))) + stated.infinite
        assert math.isclose(delta, float(shift_delta(gaussian.law.squared, 3, Fraction(epsilon))), rel_tol=1e-9)
    assert 0 < stated.infinite < 2.0**-99


def test_blocks_of_outcomes_have_exact_masses_and_the_largest_loss() -> None:
    law = DiscreteGaussian(30_000)
    stated = shift_losses(law, 1000)
    reach = math.ceil(12 * law.sigma) + 1
    width = math.ceil((2 * reach + 1) / 2**15)
    assert width > 1
    with working_precision(400):
        for block in range(0, len(stated.masses), 997):
            start = -reach + block * width
            near, far = sorted((abs(start), abs(start + width - 1)))
            mass = law.above(near) - law.above(far + 1) if start > 0 or start + width <= 0 else None
            loss = float(Fraction(1000 * (1000 - 2 * start), 2) / law.squared)
            assert loss <= stated.losses[block] <= loss + abs(loss) * 1e-14
            if mass is not None and abs(start) < 8 * law.sigma:
                assert math.isclose(stated.masses[block], float(mass), rel_tol=2.0**-44)


def test_loss_distribution_of_several_answers_is_refused() -> None:
    with pytest.raises(NoProvedPath, match="concentrated_loss"):
        Gaussian(rho=1).loss_distribution(answers=2)
    with pytest.raises(NoProvedPath):
        Gaussian(rho=1, dimension=3).loss_distribution()


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "1e400", 5e-324, True, "one"])
def test_refuses_prices_that_mean_nothing(bad: Any) -> None:
    for price in ({"epsilon": bad, "delta": 1e-6}, {"epsilon": 1, "delta": bad}, {"rho": bad}, {"sigma": bad}):
        if bad is True or not (price.get("epsilon") == 1 and bad == 1):
            with pytest.raises(InvalidInput):
                Gaussian(**price)


@pytest.mark.parametrize("wrong", [{}, {"epsilon": 1}, {"delta": 0.1}, {"epsilon": 1, "delta": 0.1, "rho": 1}])
def test_wants_exactly_one_price(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidType, match="one way"):
        Gaussian(**wrong)


@pytest.mark.parametrize("delta", [1, 1.5, "2"])
def test_refuses_a_delta_that_promises_nothing(delta: Any) -> None:
    with pytest.raises(InvalidInput):
        Gaussian(epsilon=1, delta=delta)


@pytest.mark.parametrize("wrong", [{"sensitivity": 0}, {"sensitivity": -2}, {"grid": 3}, {"dimension": 0}])
def test_refuses_settings_that_hide_nothing(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        Gaussian(rho=1, **wrong)


def test_refuses_a_sensitivity_in_another_norm() -> None:
    with pytest.raises(InvalidValue, match="in_norm"):
        Gaussian(rho=1, sensitivity=Sensitivity.counts(4, "replace-one", Norm.L1))


def test_prints_its_noise() -> None:
    assert repr(Gaussian(sigma=2, sensitivity=3)) == "Gaussian(sigma=2, sensitivity=3, grid=1)"


@pytest.mark.parametrize("nearly", [(0.1 + 0.7) * 10, "7.9999999999999", 8])
def test_whole_answers_forgive_a_float_that_is_a_hair_too_small(nearly: Any) -> None:
    """7.999… is 8 with a rounding error: noise for a move of 7 would break the promise at a move of 8."""
    exact = Gaussian(epsilon=1, delta=1e-6, sensitivity=8, integers=True)
    found = Gaussian(epsilon=1, delta=1e-6, sensitivity=nearly, integers=True)
    assert found.law.squared == exact.law.squared
    with working_precision():
        assert upper(found.between(0, 8).delta(1)) <= Fraction(1, 10**6)
    assert Gaussian(epsilon=1, delta=1e-6, sensitivity="7.99", integers=True).law.squared < exact.law.squared
