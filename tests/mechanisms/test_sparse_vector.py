"""Above threshold keeps the promise on its proof sheet, for lists and for questions asked one at a time."""

from __future__ import annotations

import math
from collections.abc import Hashable
from itertools import product
from typing import Any

import numpy as np
import pytest

from discreet.errors import BudgetExceeded, InvalidInput
from discreet.exact.ball import Ball, working_precision
from discreet.mechanisms.sparse_vector import AboveThreshold, Run
from discreet.noise.source import ReplayableSource, ScriptedSource
from discreet.privacy.loss import Pure
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.sensitivity import Sensitivity
from tests.mechanisms.contract import FALSE_ALARM, MechanismContract, chi_square_rejects, privacy_violation
from tests.thoroughness import many
from tests.threads import at_once

BAD_ANSWERS: list[Any] = [
    [1.0, 2.0],
    [1, 2.5],
    [math.nan],
    [1, None],
    ["1"],
    [True],
    [[1, 2]],
    [[1, 2], [3]],
    5,
    None,
    {1, 2},
]


class TestOnePositive(MechanismContract):
    tight = False  # the noisy threshold is averaged over, so no pair of inputs pays both parts of ε in full
    draws = many(5_000, 10_000)

    def mechanism(self) -> AboveThreshold:
        return AboveThreshold(2, threshold=3)

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [([2, 2, 0], [3, 3, -1]), ([3, 3, 3], [4, 4, 4]), ([1, 5, 2], [0, 6, 1]), ([9], [8]), ([], [])]

    def outcomes(self) -> list[Hashable]:
        short = [(), (True,), (False,), (False, True), (True, True)]
        return [*short, *((*pair, last) for pair in product((True, False), repeat=2) for last in (True, False))]

    def bad_inputs(self) -> list[Any]:
        return BAD_ANSWERS

    def hashable(self, answer: Any) -> Hashable:
        return tuple(answer)


class TestTwoPositives(TestOnePositive):
    def mechanism(self) -> AboveThreshold:
        return AboveThreshold(3, threshold=0, cutoff=2, sensitivity=2)

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [([0, 0, -9], [2, 2, -11]), ([-5, 1, -5], [-7, 3, -7])]


class TestMonotone(TestOnePositive):
    def mechanism(self) -> AboveThreshold:
        return AboveThreshold(3, threshold=0, cutoff=2, monotone=True)

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [([0, -8, -8], [1, -8, -8]), ([0, -8, -8], [0, -7, -7]), ([1, 1, 1], [2, 2, 2])]


def all_replies(questions: int) -> list[tuple[bool, ...]]:
    return [r for n in range(questions + 1) for r in product((True, False), repeat=n)]


@pytest.mark.parametrize("monotone", [False, True])
def test_promise_holds_over_all_small_moves(monotone: bool) -> None:
    mechanism = AboveThreshold(4, threshold=1, cutoff=2, monotone=monotone)
    for moves in product((0, 1) if monotone else (-1, 0, 1), repeat=3):
        first, second = [1, -2, 0], [a + d for a, d in zip([1, -2, 0], moves, strict=True)]
        assert privacy_violation(mechanism, first, second, all_replies(3)) is None
        assert privacy_violation(mechanism, second, first, all_replies(3)) is None


def test_no_is_free() -> None:
    """Ten questions with an answer of no cost no more than the one noisy threshold."""
    mechanism = AboveThreshold(1, threshold=0)
    first, second = [0] * 10, [1] * 10
    silent = (False,) * 10
    p, q = (mechanism.distribution(x).pmf(silent) for x in (first, second))
    assert p > q
    assert math.log(p / q) <= mechanism.threshold_epsilon


def test_the_law_is_that_of_the_pseudocode() -> None:
    """Against brute force over all noise within reach of small scales."""
    mechanism = AboveThreshold(12, threshold=1)
    found: dict[tuple[bool, ...], float] = {}
    for shift, *noise in product(range(-9, 10), repeat=3):
        weight = float(mechanism.threshold_law.pmf(shift)) * math.prod(
            float(mechanism.answer_law.pmf(y)) for y in noise
        )
        first, second = (answer + y >= 1 + shift for answer, y in zip([1, 0], noise, strict=True))
        reply = (True,) if first else (False, second)
        found[reply] = found.get(reply, 0.0) + weight
    law = mechanism.distribution([1, 0])
    assert {r: law.pmf(r) for r in law.outcomes} == pytest.approx(found, rel=1e-9)


def test_the_law_is_enclosed_to_many_digits() -> None:
    law = AboveThreshold(1, threshold=5).distribution([1, 9])
    with working_precision(320):
        assert sum(law.masses, Ball(0)).contains(Ball(1))
        assert all(m.rel_accuracy_bits() > 100 for m in law.masses)


def test_the_price_is_split_for_the_least_variance() -> None:
    mechanism = AboveThreshold(1, threshold=0, cutoff=4)
    rest = 1 - mechanism.threshold_epsilon
    assert float(rest / mechanism.threshold_epsilon) == pytest.approx(8 ** (2 / 3), rel=1e-3)
    assert mechanism.threshold_law.scale == 1 / mechanism.threshold_epsilon
    assert mechanism.answer_law.scale == 8 / rest
    counts = AboveThreshold(1, threshold=0, cutoff=4, monotone=True)
    assert counts.answer_law.scale == 4 / (1 - counts.threshold_epsilon)
    assert counts.loss == Pure(1, "add-remove-one")


def test_asking_one_at_a_time_follows_the_same_law() -> None:
    mechanism = AboveThreshold(2, threshold=3, cutoff=2)
    answers = [2, 4, 3]
    source = ReplayableSource("one at a time")

    def interview() -> tuple[bool, ...]:
        run, replies = mechanism.start(source=source), []
        for answer in answers:
            replies.append(run.ask(answer))
            if not run.left:
                break
        return tuple(replies)

    law = mechanism.distribution(answers)
    found = [interview() for _ in range(4000)]
    assert not chi_square_rejects(found, {r: law.pmf(r) for r in law.outcomes}, FALSE_ALARM)


def test_a_run_ends_after_the_last_positive() -> None:
    run = AboveThreshold(1, threshold=0, cutoff=2).start()
    assert [run.ask(10**6), run.ask(-(10**6)), run.ask(10**6)] == [True, False, True]
    assert run.left == 0
    with pytest.raises(BudgetExceeded, match="start another run"):
        run.ask(-(10**6))


def test_a_list_ends_after_the_last_positive() -> None:
    mechanism = AboveThreshold(1, threshold=0, cutoff=2)
    far = 10**6
    assert mechanism.release([far, -far, far, far, -far]) == [True, False, True]
    assert mechanism.release([-far] * 5) == [False] * 5
    assert mechanism.release([]) == []


def test_bad_questions_are_refused_before_drawing_and_change_nothing() -> None:
    words = ReplayableSource("threshold").open().words(1)
    run = AboveThreshold(1, threshold=0).start(source=ScriptedSource([int(words[0])]))
    for bad in (1.5, math.nan, None, "3", True, [1]):
        with pytest.raises(InvalidInput):
            run.ask(bad)  # type: ignore[arg-type]
    assert run.left == 1


def test_a_run_does_not_show_its_threshold() -> None:
    assert repr(AboveThreshold(1, threshold=7).start()) == (
        "Run(AboveThreshold(epsilon=1, threshold=7, cutoff=1, sensitivity=1, monotone=False), 1 positives left)"
    )


def test_error_holds_for_all_questions_together() -> None:
    mechanism = AboveThreshold(4, threshold=0)
    error = mechanism.error(0.9, questions=3)
    law = mechanism.distribution([-error - 1, -error - 1, error + 1])
    assert law.pmf((False, False, True)) >= 0.9
    assert mechanism.error(0.9, 100) > mechanism.error(0.9, 1)


def test_very_many_questions() -> None:
    answers = np.zeros(many(10**5, 10**6), np.int64)
    answers[-1] = 10**6
    replies = AboveThreshold(1, threshold=10**5).release(answers)
    assert len(replies) == len(answers)
    assert replies[-1]
    assert sum(replies) == 1


def test_huge_answers_saturate() -> None:
    mechanism = AboveThreshold(1, threshold=0)
    assert mechanism.release([-(10**30), 10**30]) == [False, True]
    assert mechanism.release(np.asarray([2**64 - 1], np.uint64)) == [True]


def test_sensitivity_keeps_its_relation() -> None:
    mechanism = AboveThreshold(1, 0, sensitivity=Sensitivity.count("add-remove-one"), monotone=True)
    assert mechanism.neighbours is Neighbours.ADD_REMOVE_ONE


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "1e400", 5e-324, True, None, "one"])
def test_refuses_prices_that_mean_nothing(epsilon: Any) -> None:
    with pytest.raises(InvalidInput):
        AboveThreshold(epsilon, 0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"threshold": 1.5},
        {"threshold": None},
        {"threshold": 2**63},
        {"cutoff": 0},
        {"cutoff": 1.5},
        {"sensitivity": 0},
        {"sensitivity": 1.5},
        {"monotone": 1},
    ],
)
def test_refuses_settings_without_meaning(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        AboveThreshold(**({"epsilon": 1, "threshold": 0} | wrong))


def test_long_laws_are_refused() -> None:
    with pytest.raises(InvalidInput, match="at most"):
        AboveThreshold(1, threshold=0, cutoff=20).distribution([0] * 40)


def test_threads_cannot_get_more_positives_than_were_paid_for() -> None:
    def is_positive(run: Run) -> bool:
        try:
            return run.ask(10**9)
        except BudgetExceeded:
            return False

    for _ in range(30):
        run = AboveThreshold(100, threshold=0, cutoff=5).start()
        assert sum(at_once(lambda run=run: is_positive(run), times=40)) == 5  # type: ignore[misc]
