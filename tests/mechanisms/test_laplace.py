"""The Laplace mechanism keeps the promise on its proof sheet."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.errors import InvalidInput, InvalidType, InvalidValue
from discreet.mechanisms.laplace import Laplace
from discreet.privacy.loss import Pure
from discreet.privacy.sensitivity import Norm, Sensitivity
from tests.mechanisms.contract import MechanismContract, privacy_violation


class TestCount(MechanismContract):
    def mechanism(self) -> Laplace:
        return Laplace(epsilon=1)

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [(0, 1), (7, 6)]

    def outcomes(self) -> range:
        return range(-60, 70)

    def bad_inputs(self) -> list[Any]:
        return [math.nan, math.inf, True, "3", None, [1.0, 2.0], [1, None], 1j]


class TestSumOnAFineGrid(TestCount):
    def mechanism(self) -> Laplace:
        return Laplace(epsilon="0.5", sensitivity="1.3", grid=0.25)

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [(0.0, 1.5), (0.124, 1.424), (3, 4)]

    def outcomes(self) -> list[float]:  # type: ignore[override]
        return [k / 4 for k in range(-400, 420)]


class TestTwoCountsTogether(TestCount):
    def mechanism(self) -> Laplace:
        return Laplace(epsilon=1, sensitivity=Sensitivity.counts(2, "replace-one"))

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [([0, 0], [1, 1]), ([0, 0], [2, 0])]

    def outcomes(self) -> list[tuple[int, int]]:  # type: ignore[override]
        return [(a, b) for a in range(-45, 46) for b in range(-45, 46)]

    def bad_inputs(self) -> list[Any]:
        return [[1.5, 2.5], [[1, 2], [3, None]], "no"]


def test_answers_lie_on_the_grid_whatever_the_input() -> None:
    quarter = Laplace(epsilon=1, grid=0.25)
    answers = np.asarray([quarter.release(x) for x in (0.1, 1 / 3) for _ in range(500)])
    assert (answers * 4 == np.floor(answers * 4)).all()


def test_a_hundred_thousand_releases_at_two_inputs_share_one_grid() -> None:
    fine = Laplace(epsilon=1, grid=2**-10, dimension=100_000)
    for value in (0.1, 1e5 / 3):
        answers = np.asarray(fine.release(np.full(100_000, value)))
        assert (answers * 1024 == np.rint(answers * 1024)).all()


def test_whole_numbers_in_whole_numbers_out() -> None:
    answer = Laplace(epsilon=1).release(42)
    assert type(answer) is int
    answers = Laplace(epsilon=1).release(np.arange(6, dtype=np.int32).reshape(2, 3))
    assert isinstance(answers, np.ndarray)
    assert answers.dtype == np.int64
    assert answers.shape == (2, 3)


def test_loss_is_exactly_what_was_asked() -> None:
    assert Laplace(epsilon=0.1).loss == Pure("1/10")
    assert Laplace(epsilon=0.1, sensitivity="7/3", grid=0.5).loss == Pure("1/10")


def test_rounding_several_reals_is_paid_for() -> None:
    one = Laplace(epsilon=1, sensitivity=1, grid=1)
    many = Laplace(epsilon=1, sensitivity=1, grid=1, dimension=8)
    assert one.scale == 1
    assert many.scale == 8
    moved = np.asarray([0.49] * 8), np.asarray([0.5 + 0.115] * 8)  # eight moves of 0.125 in total 1, eight steps
    assert np.abs(many.grid.steps_of(moved[0]) - many.grid.steps_of(moved[1])).sum() == 8


def test_coarse_grids_round_integers_too() -> None:
    with pytest.raises(InvalidValue, match="dimension"):
        Laplace(epsilon=1, grid=4).release(np.asarray([1, 2]))


def test_error_is_an_exact_quantile_below_the_union_bound() -> None:
    laplace = Laplace(epsilon=1)
    assert laplace.error(confidence=0.95) == 3
    for answers in (1, 10, 10_000):
        assert laplace.error(0.95, answers) <= math.ceil(laplace.union_bound(answers, 0.95))


def test_huge_integers_saturate_instead_of_overflowing() -> None:
    assert abs(Laplace(epsilon=1).release(10**30) - 2**62) < 1000
    assert abs(Laplace(epsilon=1).release(-(10**30)) + 2**62) < 1000


@pytest.mark.parametrize("huge", [2**62, 2**63, 2**64, 2**70])
def test_huge_integers_in_a_list_saturate_like_single_ones(huge: int) -> None:
    answers = Laplace(epsilon=1).release([huge, -huge, 1])
    assert np.abs(np.asarray(answers) - np.asarray([2**62, -(2**62), 1])).max() < 1000


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "1e400", 5e-324, True, None, "one"])
def test_refuses_prices_that_mean_nothing(epsilon: Any) -> None:
    with pytest.raises(InvalidInput):
        Laplace(epsilon=epsilon)


@pytest.mark.parametrize(
    "wrong", [{"sensitivity": 0}, {"sensitivity": -2}, {"grid": 3}, {"grid": 0}, {"dimension": 0}, {"dimension": 1.5}]
)
def test_refuses_settings_that_hide_nothing(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        Laplace(epsilon=1, **wrong)


def test_refuses_a_sensitivity_in_another_norm() -> None:
    with pytest.raises(InvalidValue, match="in_norm"):
        Laplace(epsilon=1, sensitivity=Sensitivity.counts(4, "replace-one", Norm.L2))


def test_refuses_text_arrays() -> None:
    with pytest.raises(InvalidType):
        Laplace(epsilon=1).release(np.asarray(["1", "2"]))


def test_loss_distribution_is_that_of_the_law() -> None:
    laplace = Laplace(epsilon="1/2", sensitivity=3)
    stated = laplace.loss_distribution()
    law = laplace.law
    direct: dict[float, float] = {}
    for z in range(-400, 400):
        loss = (abs(z - 3) - abs(z)) * float(1 / law.scale)
        direct[round(loss, 9)] = direct.get(round(loss, 9), 0.0) + float(law.pmf(z))
    found = {round(float(x), 9): float(m) for x, m in zip(stated.losses, stated.masses, strict=True)}
    assert found.keys() == direct.keys()
    assert all(math.isclose(found[x], direct[x], rel_tol=1e-9) for x in direct)


def test_grid_step_can_be_any_power_of_two() -> None:
    assert Laplace(epsilon=1, grid=Fraction(1, 1024)).grid.step == Fraction(1, 1024)


def test_integers_beside_a_float_move_no_further_than_they_did() -> None:
    together = Laplace(epsilon=1, dimension=2)
    outcomes = [(2**54 + k, 0) for k in range(-3, 8)]
    assert privacy_violation(together, [2**54 + 2, 0.25], [2**54 + 3, 0.25], outcomes) is None


@pytest.mark.parametrize("epsilon", ["1/10", 1, 2, 5])
@pytest.mark.parametrize("confidence", ["0.5", "0.8633", "0.95", "0.999"])
def test_the_union_bound_holds_once_it_is_on_the_grid(epsilon: Any, confidence: str) -> None:
    laplace = Laplace(epsilon)
    for answers in (1, 2, 100):
        limit = math.ceil(laplace.union_bound(answers, confidence))
        assert answers * 2 * float(laplace.law.tail(limit + 1)) <= 1 - float(confidence)


def test_several_real_answers_are_composed_as_the_worst_mechanism_of_their_price() -> None:
    both = Laplace(epsilon=1, sensitivity=2, dimension=2).loss_distribution()
    assert both == Laplace(epsilon=1).loss_distribution(answers=2) != Laplace(1, 2).loss_distribution()


def test_the_law_knows_its_answers_as_numpy_returns_them() -> None:
    law = Laplace(epsilon=1, grid=2**-40).distribution(2**30)
    assert law.cdf(np.int64(2**30)) == law.cdf(2**30) == law.cdf(2.0**30)
    for no_number in (math.nan, math.inf, "x", None):
        with pytest.raises(InvalidValue):
            law.mass(no_number)  # type: ignore[arg-type]
