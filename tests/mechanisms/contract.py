"""What every mechanism must pass. To add one: subclass `MechanismContract` and fill in the four methods.

The definition of privacy is checked outcome by outcome in ball arithmetic, so a failure is a proof of a violation and
not bad luck. The one statistical test says its false-alarm rate. `broken` plants a bug that the same check must catch.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from scipy.stats import chi2

from discreet.errors import InvalidInput
from discreet.exact.ball import Ball, exp_up, lower, upper, working_precision
from discreet.mechanisms.measurement import Measurement
from discreet.noise.source import ReplayableSource, ScriptedSource
from discreet.privacy.hypothesis_tests import Pair
from discreet.privacy.loss import Approximate, Loss, Pure
from tests.thoroughness import many

FALSE_ALARM = 1e-7
"""Chance that the sampling test of one correct mechanism fails."""


def privacy_violation(mechanism: Measurement, first: Any, second: Any, outcomes: Sequence[Any]) -> str | None:
    """None where P(y|first) ≤ e^ε P(y|second) + δ holds over all events of ``outcomes``; else what is wrong.

    Probability outside ``outcomes`` counts as if ``second`` could not produce it, so a window that is too small fails.
    """
    with working_precision(256):
        laws = [mechanism.distribution(value) for value in (first, second)]
        p, q = ([law.mass(y) for y in outcomes] for law in laws)
    loss = mechanism.loss
    return pure_violation(loss, p, q, outcomes) if isinstance(loss, Pure) else curve_violation(loss, p, q)


def pure_violation(loss: Pure, p: Sequence[Ball], q: Sequence[Ball], outcomes: Sequence[Any]) -> str | None:
    factor = exp_up(loss.epsilon)
    for outcome, here, there in zip(outcomes, p, q, strict=True):
        if lower(here) > factor * upper(there):
            return (
                f"P({outcome!r}) is {float(here):.6g} against {float(there):.6g}, more than e^{float(loss.epsilon):g}"
            )
    return None


def curve_violation(loss: Loss, p: Sequence[Ball], q: Sequence[Ball]) -> str | None:
    """Checks δ(ε) at the loss's own ε, or along the curve for losses that are curves."""
    epsilons = [loss.epsilon] if isinstance(loss, Approximate) else [Fraction(k, 4) for k in range(33)]
    missing = 1 - sum(p, Ball(0))
    for epsilon in epsilons:
        found = lower(Pair(p, q).delta(epsilon) + missing)
        if found > loss.delta_at(epsilon):
            return f"delta at {float(epsilon):g} is {float(found):.6g}, promised {float(loss.delta_at(epsilon)):.6g}"
    return None


def chi_square_rejects(answers: Iterable[Hashable], probabilities: dict[Hashable, float], false_alarm: float) -> bool:
    """Whether counts of ``answers`` contradict the law; outcomes expected fewer than 10 times are pooled."""
    counts = Counter(answers)
    total = counts.total()
    common = {y: p for y, p in probabilities.items() if p * total >= 10}
    cells = [(counts[y], p * total) for y, p in common.items()]
    rest = (total - sum(c for c, _ in cells), total - sum(e for _, e in cells))
    if rest[1] >= 10:
        cells.append(rest)
    elif rest[0] > 10 + 10 * math.log(1 / false_alarm):
        return True
    statistic = sum((c - e) ** 2 / e for c, e in cells)
    return len(cells) > 1 and bool(chi2.sf(statistic, len(cells) - 1) < false_alarm)


class MechanismContract(ABC):
    draws = many(2_500, 20_000)
    """Releases for the comparison of sampling and stated law.

    A law of 20 outcomes that is 20 % off on average is found by 2,500 of them with probability 0.99; 7 % by 20,000.
    """

    @abstractmethod
    def mechanism(self) -> Measurement:
        """The mechanism under test, small enough to list its outcomes."""

    @abstractmethod
    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        """True values of neighbouring datasets, the worst ones first."""

    @abstractmethod
    def outcomes(self) -> Sequence[Any]:
        """Answers that hold all but a negligible part of the probability."""

    @abstractmethod
    def bad_inputs(self) -> list[Any]:
        """Values that must be refused before anything is drawn."""

    def broken(self) -> Measurement | None:
        """The mechanism with a bug that the check must catch at the worst neighbours; other files may plant it too."""
        return None

    tight = True
    """Whether the worst neighbours reach the stated pure ε to within 1e-9."""

    def test_keeps_its_promise_at_every_outcome(self) -> None:
        for first, second in self.worst_neighbours():
            assert privacy_violation(self.mechanism(), first, second, self.outcomes()) is None
            assert privacy_violation(self.mechanism(), second, first, self.outcomes()) is None

    def test_the_check_catches_the_planted_bug(self) -> None:
        planted = self.broken()
        found = [
            privacy_violation(planted, here, there, self.outcomes())
            for pair in self.worst_neighbours()
            for here, there in (pair, pair[::-1])
            if planted
        ]
        assert planted is None or any(found)

    def test_claims_no_more_than_it_needs(self) -> None:
        loss = self.mechanism().loss
        if not (self.tight and isinstance(loss, Pure)):
            return
        first, second = self.worst_neighbours()[0]
        with working_precision(256):
            laws = [self.mechanism().distribution(x) for x in (first, second)]
            masses = [[law.mass(y) for y in self.outcomes()] for law in laws]
        pair = Pair(*masses)
        reached = max(float(pair.max_divergence()), float(pair.reversed().max_divergence()))
        assert math.isclose(reached, float(loss.epsilon), rel_tol=1e-9)

    def test_law_sums_to_one(self) -> None:
        value = self.worst_neighbours()[0][0]
        with working_precision():
            law = self.mechanism().distribution(value)
            total = sum((law.mass(y) for y in self.outcomes()), Ball(0))
        assert abs(float(total) - 1) < 1e-9

    def test_releases_follow_the_stated_law(self) -> None:
        value = self.worst_neighbours()[0][0]
        law = self.mechanism().distribution(value)
        source = ReplayableSource("releases follow the stated law")
        mechanism = self.mechanism()
        answers = [self.hashable(mechanism.release(value, source=source)) for _ in range(self.draws)]
        stated = {self.hashable(y): law.pmf(y) for y in self.outcomes()}
        assert not chi_square_rejects(answers, stated, FALSE_ALARM)

    def hashable(self, answer: Any) -> Hashable:
        return tuple(answer.tolist()) if hasattr(answer, "tolist") and getattr(answer, "ndim", 0) else answer

    def test_refuses_bad_input_before_drawing(self) -> None:
        for bad in self.bad_inputs():
            with pytest.raises(InvalidInput) as refusal:
                self.mechanism().release(bad, source=ScriptedSource([]))  # an empty script fails on any draw
            assert not refusal.value.rule.startswith("the script"), f"drew before refusing {bad!r}"
            with pytest.raises(InvalidInput):
                self.mechanism().distribution(bad)

    def test_states_its_price_without_data(self) -> None:
        assert isinstance(self.mechanism().loss, Loss)
