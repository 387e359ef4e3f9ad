"""The sensitivity sampler keeps its smaller promise, and says everywhere that it is a smaller one."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from discreet.errors import DiscreetError, InvalidInput, InvalidType, InvalidValue, NoProvedPath, OutOfReach
from discreet.exact.ball import exp_up, lower, upper, working_precision
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.random_privacy import WARNING, RandomDP
from discreet.mechanisms.sensitivity_sampler import SampledSensitivity, SamplingPlan, SensitivitySampler
from discreet.mechanisms.sparse_vector import AboveThreshold
from discreet.mechanisms.top_k import TopK
from discreet.noise.source import ScriptedSource
from discreet.privacy.loss import Approximate, Pure, ZeroConcentrated
from discreet.privacy.sensitivity import Norm, Sensitivity

TABLE = [
    ("0.5", 8, 1, 6),
    ("0.33", 20, 3, 10),
    ("0.2", 61, 4, 20),
    ("0.1", 285, 9, 49),
    ("0.05", 1305, 19, 116),
    ("0.01", 41971, 99, 765),
    ("0.001", 5_486_187, 999, 10230),
]


def uniform_rows(seed: int = 7) -> Any:
    """A public oracle that brings its own randomness."""
    rng = np.random.default_rng(seed)
    return lambda n: rng.uniform(0, 1, n)


def sampled(**settings: Any) -> SampledSensitivity:
    settings = {"gamma": "0.1", "method": "exact"} | settings
    return SensitivitySampler(np.mean, uniform_rows(), 20, **settings).sample()


@pytest.mark.parametrize(("gamma", "dkw", "exact", "conditional"), TABLE)
def test_plans_agree_with_the_table(gamma: str, dkw: int, exact: int, conditional: int) -> None:
    for method, samples in (("dkw", dkw), ("exact", exact), ("conditional", conditional)):
        plan = SamplingPlan.of(method, gamma=gamma)
        assert (plan.samples, plan.order) == (samples, samples)
        assert plan.gamma == Fraction(gamma)


@pytest.mark.parametrize(
    ("samples", "gamma"), [(10, 0.435), (50, 0.217), (100, 0.160), (500, 0.0774), (1000, 0.0565), (10_000, 0.0195)]
)
def test_gamma_from_samples_agrees_with_the_table(samples: int, gamma: float) -> None:
    plan = SamplingPlan.of("dkw", samples=samples)
    assert float(plan.gamma) == pytest.approx(gamma, rel=5e-3)
    assert plan.order == samples


def test_rho_is_the_best_one() -> None:
    for gamma in ("0.5", "0.1", "0.01"):
        plan = SamplingPlan.of("dkw", gamma=gamma)
        rho, wanted = float(plan.rho or 0), float(gamma)
        for other in (rho * 0.9, rho * 1.1):
            assert math.log(1 / other) / (wanted - other) ** 2 >= math.log(1 / rho) / (wanted - rho) ** 2
    plan = SamplingPlan.of("dkw", samples=200)
    rho = float(plan.rho or 0)
    for other in (rho * 0.9, rho * 1.1):
        assert other + math.sqrt(math.log(1 / other) / 400) >= float(plan.gamma) - 1e-12


def test_both_given_take_a_lower_order() -> None:
    assert SamplingPlan.of("dkw", gamma="0.2", samples=500).order == 439
    assert SamplingPlan.of("exact", gamma="0.2", samples=99).order == 80
    plan = SamplingPlan.of("conditional", gamma="0.2", samples=500)
    covered = 1 - float(plan.gamma - (plan.rho or 0))
    assert binom.cdf(plan.order - 1, 500, covered) >= 1 - float(plan.rho or 0)
    assert binom.cdf(plan.order - 2, 500, covered) < 1 - float(plan.rho or 0)


def test_gamma_from_samples_for_the_other_methods() -> None:
    assert SamplingPlan.of("exact", samples=19).gamma == Fraction(1, 20)
    plan = SamplingPlan.of("conditional", samples=49)
    assert plan.order == 49
    assert float(plan.gamma) < 0.1
    assert SamplingPlan.of("conditional", gamma=plan.gamma - Fraction(1, 10**6)).samples == 50


@pytest.mark.parametrize(("method", "gamma", "samples"), [("dkw", "0.05", 500), ("exact", "0.01", 50)])
def test_too_few_samples_are_refused(method: str, gamma: str, samples: int) -> None:
    with pytest.raises(OutOfReach, match="more samples"):
        SamplingPlan.of(method, gamma=gamma, samples=samples)


def test_so_few_that_no_gamma_helps() -> None:
    with pytest.raises(OutOfReach):
        SamplingPlan.of("dkw", samples=1)
    with pytest.raises(OutOfReach):
        SamplingPlan.of("conditional", gamma="0.1", samples=20)


@pytest.mark.parametrize("method", ["dkw", "exact", "conditional"])
def test_a_fresh_move_exceeds_the_estimate_no_more_often_than_gamma(method: str) -> None:
    # The k-th smallest of m uniform variables has mean k/(m+1): the expected coverage, exactly.
    for gamma in ("0.3", "0.1", "0.05"):
        plan = SamplingPlan.of(method, gamma=gamma)
        assert Fraction(plan.order, plan.samples + 1) >= 1 - plan.gamma


def test_the_estimate_is_the_order_statistic_of_the_moves() -> None:
    rows = iter(range(1, 1000))
    squares = SensitivitySampler(
        lambda part: float(part[-1]) ** 2, lambda n: [next(rows) for _ in range(n)], 1, samples=4, method="exact"
    )
    moves = [abs(a**2 - (a + 1) ** 2) for a in (1, 3, 5, 7)]
    assert float(squares.sample().value) == pytest.approx(max(moves))
    assert squares.sample().value >= max(moves)


@pytest.mark.parametrize(("norm", "expected"), [(Norm.L1, 7), (Norm.L2, 5), (Norm.LINF, 4), ("L2", 5)])
def test_vectors_are_measured_in_the_norm_asked_for(norm: Norm | str, expected: float) -> None:
    steps = iter([[0, 0], [3, 4]] * 10)
    sampler = SensitivitySampler(
        lambda part: np.asarray(part[-1]),
        lambda n: [next(steps) for _ in range(n)],
        1,
        samples=2,
        method="exact",
        norm=norm,
    )
    result = sampler.sample()
    assert float(result.value) == pytest.approx(expected)
    assert result.dimension == 2


def test_says_what_it_is_wherever_it_prints() -> None:
    result = sampled()
    mechanism = result.laplace(1)
    sampler = SensitivitySampler(np.mean, uniform_rows(), 20, gamma="0.1")
    for thing in (result, mechanism, mechanism.loss, sampler):
        assert WARNING in repr(thing)
        assert WARNING in str(thing)
    assert WARNING == "gamma-random differential privacy, not differential privacy"


def test_an_estimate_of_zero_is_refused_rather_than_released_without_noise() -> None:
    with pytest.raises(OutOfReach, match="positive"):
        SensitivitySampler(lambda rows: 1.0, uniform_rows(), 5, gamma="0.3").sample()


def test_pairs_within_the_estimate_keep_the_pure_loss_at_every_outcome() -> None:
    result = sampled()
    mechanism = result.laplace(1, grid=2**-8)
    rows = np.full(20, 0.5)
    moved = rows.copy()
    moved[0] += float(result.value) * 20 * 0.999
    step, factor = 2.0**-8, exp_up(1)
    with working_precision(256):
        laws = mechanism.distribution(rows), mechanism.distribution(moved)
        for k in range(-400, 900, 7):
            here, there = (law.mass(k * step) for law in laws)
            assert lower(here) <= factor * upper(there)
            assert lower(there) <= factor * upper(here)


def test_releases_lie_on_a_grid_chosen_before_the_data() -> None:
    mechanism = sampled().laplace(1)
    step = mechanism.noise.grid.step
    for rows in (np.full(20, 0.1), np.linspace(0, 1, 20)):
        answer = mechanism.release(rows)
        assert isinstance(answer, float)
        assert (Fraction(answer) / step).denominator == 1
    assert mechanism.error(0.95) > 0


def test_vector_targets_are_released_as_vectors() -> None:
    oracle = uniform_rows()
    sampler = SensitivitySampler(lambda r: [np.mean(r), np.max(r)], oracle, 10, gamma="0.2", method="exact")
    released = sampler.sample().laplace(2).release(oracle(10))
    assert released.shape == (2,)  # type: ignore[union-attr]
    gaussian = SensitivitySampler(
        lambda r: [np.mean(r), np.max(r)], oracle, 10, gamma="0.2", method="exact", norm=Norm.L2
    )
    assert gaussian.sample().gaussian(rho=1).loss == RandomDP(ZeroConcentrated(1, "replace-one"), "0.2")
    assert gaussian.sample().gaussian(1, "1e-6").loss == RandomDP(Approximate(1, "1e-6", "replace-one"), "0.2")


def test_noise_of_the_wrong_norm_is_refused() -> None:
    with pytest.raises(InvalidValue, match="L2"):
        sampled().gaussian(rho=1)


@pytest.mark.parametrize("rows", [np.zeros(19), np.zeros(21), [], 5, None])
def test_the_size_at_release_must_be_the_sampled_one(rows: Any) -> None:
    mechanism = sampled().laplace(1)
    with pytest.raises(InvalidInput):
        mechanism.release(rows, source=ScriptedSource([]))
    with pytest.raises(InvalidInput):
        mechanism.distribution(rows)


@pytest.mark.parametrize("answer", [math.nan, math.inf, "text", None, []])
def test_targets_must_return_finite_numbers(answer: Any) -> None:
    with pytest.raises(InvalidInput):
        SensitivitySampler(lambda rows: answer, uniform_rows(), 5, gamma="0.5").sample()


def test_targets_must_keep_their_shape() -> None:
    lengths = iter([1, 1, 2, 2, 1, 1] * 9)
    with pytest.raises(InvalidValue, match="as many"):
        SensitivitySampler(lambda rows: np.ones(next(lengths)), uniform_rows(), 5, gamma="0.5").sample()
    with pytest.raises(InvalidValue, match="as many"):
        SensitivitySampler(lambda rows: np.ones(int(rows[-1] * 1e6) + 1), uniform_rows(), 5, gamma="0.5").sample()


def test_targets_must_return_as_many_numbers_as_sampled() -> None:
    longer = SampledSensitivity(Fraction(1), Norm.L1, 1, SamplingPlan.of("exact", samples=9), 2, lambda rows: rows)
    with pytest.raises(InvalidValue, match="as sampled"):
        longer.laplace(1).release([3.0], source=ScriptedSource([]))


@pytest.mark.parametrize("oracle", [lambda n: np.zeros(n - 1), lambda n: 5, lambda n: "a" * n])
def test_oracles_must_return_as_many_rows_as_asked(oracle: Any) -> None:
    with pytest.raises(InvalidInput):
        SensitivitySampler(np.mean, oracle, 5, gamma="0.5").sample()


@pytest.mark.parametrize("gamma", [0, 1, -1, 2, math.nan, math.inf, "1e400", True])
def test_refuses_a_gamma_that_is_no_probability(gamma: Any) -> None:
    for method in ("dkw", "exact", "conditional"):
        with pytest.raises(InvalidInput):
            SensitivitySampler(np.mean, uniform_rows(), 5, gamma=gamma, method=method)


@pytest.mark.parametrize(
    "wrong", [{}, {"samples": 0}, {"samples": 1.5}, {"gamma": "0.1", "method": "hope"}, {"gamma": "0.1", "size": 0}]
)
def test_refuses_settings_that_mean_nothing(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        SensitivitySampler(np.mean, uniform_rows(), **({"size": 5} | wrong))


def test_random_losses_add_to_their_own_kind_alone() -> None:
    loss = RandomDP(Pure(1), "0.1")
    assert loss + loss == 2 * loss == RandomDP(Pure(2), "0.2")
    assert loss <= RandomDP(Pure(1), "0.2")
    assert not RandomDP(Pure(1), "0.2") <= loss
    assert (loss | RandomDP(Pure("0.5"), "0.2")) == RandomDP(Pure(1), "0.2")
    for proper in (Pure(1), Approximate(1, "1e-6"), ZeroConcentrated(1)):
        for mix in (lambda p: loss + p, lambda p: p + loss, lambda p: loss <= p, lambda p: p <= loss):
            with pytest.raises(NoProvedPath):
                mix(proper)


def test_random_losses_have_no_delta_and_no_groups() -> None:
    loss = RandomDP(Pure(1), "0.1")
    for path in (lambda: loss.delta_at(1), lambda: loss.epsilon_at("0.1"), lambda: loss.group(2)):
        with pytest.raises(NoProvedPath):
            path()
    with pytest.raises(NoProvedPath):
        loss.approximate("0.1")


@pytest.mark.parametrize("gamma", [1, -1, math.nan])
def test_random_losses_need_a_gamma(gamma: Any) -> None:
    with pytest.raises(InvalidInput):
        RandomDP(Pure(1), gamma)
    with pytest.raises(InvalidType):
        RandomDP(RandomDP(Pure(1), "0.1"), "0.1")
    with pytest.raises(DiscreetError):
        12 * RandomDP(Pure(1), "0.1")


def test_a_plan_can_be_chosen_by_hand_and_knows_its_gamma() -> None:
    plan = SamplingPlan.manual(samples=19, order=18)
    assert plan.gamma == Fraction(1, 10)
    assert SamplingPlan.manual(9, 9) == SamplingPlan.of("exact", gamma="1/10")
    sampler = SensitivitySampler(sum, lambda n: [1] * n, 3, plan=plan)
    assert sampler.plan is plan
    for wrong in ((0, 1), (5, 6), (5, 0), (2.0, 1)):
        with pytest.raises(InvalidInput):
            SamplingPlan.manual(*wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        SensitivitySampler(sum, lambda n: [1] * n, 3, plan=plan, gamma="0.1")


LETTERS = "abcdefghij"
LETTERS_LISTED = list(LETTERS)


def letter_scores(names: list[str]) -> list[int]:
    """How often each letter occurs in all names: what the second example of the survey's R package counts."""
    return ["".join(names).lower().count(letter) for letter in LETTERS]


def sampled_letters() -> SampledSensitivity:
    rng = np.random.default_rng(3)

    def names(n: int) -> list[str]:
        return [f"Object {LETTERS[k]}" for k in rng.integers(len(LETTERS), size=n)]

    return SensitivitySampler(letter_scores, names, 10, norm="Linf", gamma="0.1", method="exact").sample()


def test_a_choice_by_sampled_scores_keeps_its_gamma() -> None:
    database = [f"Object {letter}" for letter in LETTERS]
    bound = sampled_letters()
    choice = bound.exponential(1, LETTERS_LISTED)
    assert choice.loss == RandomDP(Pure(1, "replace-one"), "0.1")
    assert "gamma-random differential privacy, not differential privacy" in repr(choice.loss)
    assert choice.release(database) in LETTERS_LISTED
    proved = Exponential(1, LETTERS_LISTED, sensitivity=Sensitivity(bound.value, "replace-one", "Linf"))
    law, same = choice.distribution(database), proved.distribution(letter_scores(database))
    assert [law.pmf(letter) for letter in LETTERS] == [same.pmf(letter) for letter in LETTERS]
    assert choice.error(0.95) == proved.error(0.95)
    with pytest.raises(InvalidValue, match="10 rows, as sampled"):
        choice.release(database[:9])


@pytest.mark.parametrize("mechanism", [Exponential, PermuteAndFlip])
def test_a_selection_takes_a_sampled_sensitivity_and_never_calls_it_proved(mechanism: Any) -> None:
    bound = sampled_letters()
    choice = mechanism(1, LETTERS_LISTED, sensitivity=bound)
    assert choice.loss == RandomDP(Pure(1, "replace-one"), bound.gamma)
    assert choice.sensitivity == bound.value
    with pytest.raises(NoProvedPath):
        _ = choice.loss + Pure(1)
    with pytest.raises(InvalidValue, match="move all scores in one direction"):
        mechanism(1, sensitivity=bound, monotone=True)
    with pytest.raises(InvalidValue, match="10 numbers, as sampled"):
        mechanism(1, sensitivity=bound).release([1, 2])
    with pytest.raises(InvalidValue, match="10 numbers, as sampled"):
        mechanism(1, sensitivity=bound).release({"a": 1, "b": 2})


def test_several_picks_by_sampled_scores_are_random_privacy_too() -> None:
    bound = sampled_letters()
    assert TopK(1, 2, sensitivity=bound).loss == RandomDP(Pure(1, "replace-one"), bound.gamma)
    for mechanism in (TopK(1, 2, sensitivity=bound), Exponential(1, sensitivity=bound)):
        assert isinstance(mechanism.concentrated_loss(), RandomDP)
    for whole in (NoisyMax, lambda epsilon, sensitivity: AboveThreshold(epsilon, 3, sensitivity=sensitivity)):
        with pytest.raises(InvalidInput):
            whole(1, bound)
