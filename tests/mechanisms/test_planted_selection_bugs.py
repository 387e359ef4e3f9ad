"""Mistakes that people make with private choices, planted on purpose: the check used for the real ones must see each.

Every test first shows that the correct mechanism passes at the very inputs where the planted one fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import pytest

from discreet.exact.ball import ball, working_precision
from discreet.mechanisms.distribution import FiniteLaw
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.measurement import Measurement
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.quantile import Median, Minimum, Quantile
from discreet.mechanisms.sparse_vector import AboveThreshold
from discreet.mechanisms.top_k import TopK
from discreet.noise.laplace import DiscreteLaplace
from tests.mechanisms.contract import privacy_violation
from tests.mechanisms.neighbouring_scores import moved_anyhow, moved_together, replaced_one

Pairs = Iterable[tuple[Any, Any]]

NO_NOISE = Fraction(1, 1000)
"""A scale whose noise is 0 but for a chance of e^-1000."""


def is_caught(mechanism: Measurement, pairs: Pairs, outcomes: Sequence[Any]) -> bool:
    both = [pair for first, second in pairs for pair in ((first, second), (second, first))]
    return any(privacy_violation(mechanism, *pair, outcomes) for pair in both)


class WithoutTheFactorOfTwo(Exponential):
    factor = property(lambda self: self.epsilon / self.sensitivity)  # type: ignore[assignment]


def test_exponential_mechanism_without_the_factor_of_two() -> None:
    pairs = [*moved_anyhow([0, 3, 1]), ([-9, 0, 0], [-10, 1, 1])]
    assert not is_caught(Exponential(1), pairs, range(3))
    assert is_caught(WithoutTheFactorOfTwo(1), pairs, range(3))


class ProportionalToTheScore(Exponential):
    def distribution(self, value: Any) -> FiniteLaw:
        with working_precision(320):
            return FiniteLaw(tuple(range(len(value))), tuple(ball(Fraction(v, sum(value))) for v in value))


def test_probability_proportional_to_the_score_itself() -> None:
    """With no exponential, the step from 1 to 0 is as good as a name."""
    pairs = [([1, 9], [0, 9])]
    assert not is_caught(Exponential(1), pairs, range(2))
    assert is_caught(ProportionalToTheScore(1), pairs, range(2))


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip, NoisyMax])
def test_monotone_claimed_for_counts_when_one_unit_is_replaced(kind: Any) -> None:
    """A replaced unit takes from one count and gives to another: the scores do not move together."""
    counts = [8, 1, 8]
    replaced = replaced_one(counts)
    assert not is_caught(kind(1), replaced, range(3))
    assert not is_caught(kind(1, monotone=True), moved_together(counts), range(3))
    assert is_caught(kind(1, monotone=True), replaced, range(3))


def test_text_example_of_noisy_max_holds_for_units_that_join_and_fails_for_units_replaced() -> None:
    """The text adds noise of scale 1/ε to each count, reveals the largest, and calls that ε-private.

    Under add-remove-one it is. Under replace-one it is not, already for a histogram.
    """
    text = NoisyMax(1, monotone=True)
    assert text.law.scale == 1
    for counts in ([0, 0, 0], [1, 5, 5], [5, 5, 1], [3, 2, 1]):
        assert not is_caught(text, moved_together(counts), range(3))
    assert is_caught(text, replaced_one([1, 5, 5]), range(3))
    assert not is_caught(NoisyMax(1), replaced_one([1, 5, 5]), range(3))


class WithHalfTheNoise(NoisyMax):
    def __init__(self, epsilon: int, **settings: Any) -> None:
        super().__init__(epsilon, **settings)
        self._law = DiscreteLaplace(self.law.scale / 2)


@pytest.mark.parametrize("monotone", [False, True])
def test_noisy_max_with_half_the_noise(monotone: bool) -> None:
    pairs = (moved_together if monotone else moved_anyhow)([0, 4, 4])
    assert not is_caught(NoisyMax(1, monotone=monotone), pairs, range(3))
    assert is_caught(WithHalfTheNoise(1, monotone=monotone), pairs, range(3))


class PricedAsOnePick(TopK):
    factor = property(lambda self: self.epsilon / (2 * self.sensitivity))  # type: ignore[assignment]


def test_top_k_at_full_price_for_every_pick() -> None:
    pairs = [([-9, -5, 0], [-10, -6, 1])]
    outcomes = list(permutations(range(3), 2))
    assert not is_caught(TopK(1, 2), pairs, outcomes)
    assert is_caught(PricedAsOnePick(1, 2), pairs, outcomes)


def test_quantile_of_the_wrong_neighbours() -> None:
    """The median moves by half a rank when a unit joins, and by a whole one when a unit is replaced."""
    pairs = [([0] + [1] * 4 + [200] * 3, [1] * 4 + [200] * 4)]
    assert not is_caught(Median(1, 0, 200, neighbours="replace-one"), pairs, range(201))
    assert is_caught(Median(1, 0, 200, neighbours="add-remove-one"), pairs, range(201))


class PricedByTheSmallerMove(Quantile):
    sensitivity = property(lambda self: min(self.q, 1 - self.q))  # type: ignore[assignment]


def test_quantile_priced_by_the_smaller_of_its_two_moves() -> None:
    pairs = [([200] * 4, [0] + [200] * 4)]
    assert not is_caught(Quantile(1, "1/4", 0, 201), pairs, range(202))
    assert is_caught(PricedByTheSmallerMove(1, "1/4", 0, 201), pairs, range(202))


class MovedPastTheMedian(Minimum):
    """The rank aimed at jumps with the size of the table."""

    def target(self, size: int) -> Fraction:
        return Fraction(0) if size % 2 else Fraction(size)


def test_quantile_whose_target_jumps_with_the_size() -> None:
    pairs = [([2] * 4, [2] * 5)]
    assert not is_caught(Minimum(1, 0, 9), pairs, range(10))
    assert is_caught(MovedPastTheMedian(1, 0, 9), pairs, range(10))


class SparseVector(AboveThreshold):
    """A published variant: other scales for the noise."""

    def __init__(self, threshold_scale: Fraction, answer_scale: Fraction, **settings: Any) -> None:
        super().__init__(**settings)
        self._threshold_law = DiscreteLaplace(threshold_scale)
        self._answer_law = DiscreteLaplace(answer_scale)


def all_replies(questions: int) -> list[tuple[bool, ...]]:
    return [reply for n in range(questions + 1) for reply in product((True, False), repeat=n)]


def test_sparse_vector_without_noise_on_the_threshold() -> None:
    """Every "no" then leaks, and nobody pays for it."""
    settings = {"epsilon": 1, "threshold": 0}
    pairs = [([0] * 6, [1] * 6)]
    assert not is_caught(AboveThreshold(**settings), pairs, all_replies(6))  # type: ignore[arg-type]
    assert is_caught(SparseVector(NO_NOISE, Fraction(2), **settings), pairs, all_replies(6))


def test_sparse_vector_without_noise_on_the_answers() -> None:
    """Algorithm 5 of Lyu, Su and Li (Stoddard et al. 2014): one answer below another can never be above alone."""
    settings = {"epsilon": 1, "threshold": 0, "cutoff": 2}
    pairs = [([0, 1], [1, 0])]
    assert not is_caught(AboveThreshold(**settings), pairs, all_replies(2))  # type: ignore[arg-type]
    assert is_caught(SparseVector(Fraction(2), NO_NOISE, **settings), pairs, all_replies(2))


def test_sparse_vector_with_noise_that_forgets_the_number_of_positives() -> None:
    """Algorithm 4 (Lee and Clifton 2014), also with its noise doubled: every positive then costs ε/2 and more."""
    settings = {"epsilon": 2, "threshold": 0, "cutoff": 3}
    pairs = [([0] * 3 + [-9] * 3, [1] * 3 + [-10] * 3)]
    assert not is_caught(AboveThreshold(**settings), pairs, all_replies(6))  # type: ignore[arg-type]
    assert is_caught(SparseVector(Fraction(2), Fraction(2, 3), **settings), pairs, all_replies(6))
    assert is_caught(SparseVector(Fraction(1), Fraction(2), **settings), pairs, all_replies(6))


def test_sparse_vector_that_does_not_stop() -> None:
    """Algorithm 6 (Chen et al. 2015): noise for one positive, and no end after it."""
    one = {"epsilon": 2, "threshold": 0}
    pairs = [([0] * 4 + [-9] * 4, [1] * 4 + [-10] * 4)]
    assert not is_caught(AboveThreshold(**one), pairs, all_replies(8))  # type: ignore[arg-type]
    assert is_caught(SparseVector(Fraction(1), Fraction(1), **one, cutoff=8), pairs, all_replies(8))


def test_sparse_vector_at_the_monotone_scale_for_answers_that_move_apart() -> None:
    """A positive that falls while the negatives rise moves by 2Δ against the threshold."""
    settings = {"epsilon": 6, "threshold": 0}
    pairs = [([0, 0, -20], [1, 1, -21])]
    assert not is_caught(AboveThreshold(**settings), pairs, all_replies(3))  # type: ignore[arg-type]
    assert is_caught(AboveThreshold(**settings, monotone=True), pairs, all_replies(3))  # type: ignore[arg-type]
