"""What every law must pass. To add one: subclass `LawContract` and list some laws, small and large.

class TestMyLaw(LawContract):
    laws: ClassVar[dict[str, Law]] = {"narrow": MyLaw("1/2"), "wide": MyLaw(10**6)}
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

from discreet.errors import InvalidInput, InvalidType, InvalidValue
from discreet.exact.ball import Ball, ball, upper, working_precision
from discreet.noise import host
from discreet.noise.law import Law
from discreet.noise.source import ReplayableSource
from tests.noise.goodness import FALSE_ALARM, fit

PROBABILITIES = [
    Fraction(1, 10**6),
    Fraction(1, 100),
    Fraction(1, 3),
    Fraction(1, 2),
    Fraction(9, 10),
    Fraction(99999, 100000),
]
EXTREMES = np.array([-(2**63), -(2**62), 2**62, 2**63 - 1])


def landmarks(law: Law) -> list[int]:
    """Values where the law does something, their neighbours, and values just outside the support."""
    found = {law.quantile(p) + shift for p in PROBABILITIES for shift in (-1, 0, 1)} | {-1, 0, 1}
    found |= {end + shift for end in law.support if end is not None for shift in (-1, 0, 1)}
    return sorted(found)


def window(law: Law) -> np.ndarray | None:
    """All values but a share of 2e-12, if a test can afford to visit them."""
    low, high = law.quantile(1e-12), law.quantile("0.999999999999")
    return np.arange(low, high + 1) if high - low < 50_000 else None


def agree(balls: Iterable[Ball], floats: np.ndarray) -> bool:
    """Whether floats lie within 1e-9 of the balls' middles, relative to their size and down to 1e-40."""
    exact = np.array([float(b.mid()) for b in balls])
    return bool(np.allclose(floats, exact, rtol=1e-9, atol=1e-40))


class LawContract:
    """Subclass, list laws, done."""

    laws: ClassVar[dict[str, Law]] = {}
    draws: ClassVar[int] = 200_000
    """How many draws the goodness-of-fit test takes; lower it where a draw is slow."""

    # Probabilities.

    def test_probabilities_sum_to_one(self, law: Law) -> None:
        values = window(law)
        if values is None:
            values = law.quantile(0.5) + np.arange(50_000)
        total = law.cdf(values[:1] - 1)[0] + law.pmf(values).sum() + law.tail(values[-1:] + 1)[0]
        assert total == pytest.approx(1, abs=1e-9)

    def test_floats_agree_with_balls(self, law: Law) -> None:
        k = landmarks(law)
        with working_precision():
            assert agree(map(law.mass, k), law.pmf(np.array(k)))
            assert agree(map(law.below, k), law.cdf(np.array(k)))
            assert agree(map(law.above, k), law.tail(np.array(k)))

    def test_balls_agree_with_each_other(self, law: Law) -> None:
        with working_precision():
            for k in landmarks(law):
                assert law.mass(k).overlaps(law.below(k) - law.below(k - 1))
                assert law.mass(k).overlaps(law.above(k) - law.above(k + 1))
                assert (law.below(k) + law.above(k + 1)).contains(1)

    def test_balls_are_small_and_shrink_with_the_precision(self, law: Law) -> None:
        for bits in (100, 400):
            with working_precision(bits):
                for k in landmarks(law)[::4]:
                    assert upper(law.below(k).rad()) < Fraction(1, 2 ** min(bits - 20, 200))

    def test_nothing_lies_outside_the_support(self, law: Law) -> None:
        low, high = law.support
        with working_precision():
            assert low is None or (law.below(low - 1) == 0 and law.mass(low - 1) == 0)
            assert high is None or (law.above(high + 1) == 0 and law.mass(high + 1) == 0)

    def test_the_cdf_climbs_from_zero_to_one(self, law: Law) -> None:
        k = np.concatenate([EXTREMES[:2], landmarks(law), EXTREMES[2:]])
        climbing, falling = law.cdf(k), law.tail(k)
        assert (np.diff(climbing) >= 0).all()
        assert (np.diff(falling) <= 0).all()
        assert climbing[0] == 0 == law.pmf(k)[0]
        assert climbing[-1] == pytest.approx(1)
        assert falling[0] == pytest.approx(1)
        assert ((climbing >= 0) & (climbing <= 1) & (falling >= 0) & (falling <= 1)).all()

    def test_quantiles_are_the_least_values_that_reach(self, law: Law) -> None:
        for p in PROBABILITIES:
            k = law.quantile(p)
            with working_precision(400):
                assert not law.below(k) < ball(p)
                assert law.below(k - 1) < ball(p)

    def test_quantiles_accept_every_way_to_write_a_probability(self, law: Law) -> None:
        tenth = law.quantile(Fraction(1, 10))
        assert isinstance(tenth, int)
        assert {law.quantile(p) for p in (0.1, "0.1", "1/10", np.float32(0.1), np.array(0.1))} == {tenth}
        for many in ([0.1, 0.9], ["1/10", "0.9"], [Fraction(1, 10), Fraction(9, 10)], np.array([0.1, 0.9], np.float32)):
            assert law.quantile(many).tolist() == [tenth, law.quantile(0.9)]
        assert law.quantile(np.array([[0.1]])).shape == (1, 1)
        assert law.quantile([]).dtype == np.int64

    def test_quantiles_end_next_to_zero_and_one(self, law: Law) -> None:
        assert law.quantile(1e-300) <= law.quantile(1e-30) <= law.quantile(1 - Fraction(1, 10**30))

    def test_refuses_quantiles_of_what_is_no_probability(self, law: Law) -> None:
        for bad in (0, 1, -0.5, "2", float("nan"), True, None, [0.5, 1.0], ["x"]):
            with pytest.raises(InvalidInput):
                law.quantile(bad)

    def test_moments_are_those_of_the_probabilities(self, law: Law) -> None:
        values = window(law)
        if values is not None:
            p = law.pmf(values)
            assert law.mean == pytest.approx(float(values @ p), rel=1e-6, abs=1e-9)
            assert law.variance == pytest.approx(float((values - law.mean) ** 2 @ p), rel=1e-6, abs=1e-9)

    def test_refuses_probabilities_of_what_is_no_integer(self, law: Law) -> None:
        for bad in ([0.5], [True], ["1"], 1.0, None):
            for ask in (law.pmf, law.cdf, law.tail):
                with pytest.raises(InvalidType):
                    ask(bad)

    def test_probabilities_keep_the_shape_they_are_asked_in(self, law: Law) -> None:
        for shape in ((), (0,), (2, 3)):
            k = np.zeros(shape, dtype=np.int32)
            assert law.pmf(k).shape == law.cdf(k).shape == law.tail(k).shape == shape

    # Draws.

    def test_draws_follow_the_law(self, law: Law) -> None:
        """False alarm: `FALSE_ALARM`, by the bound in goodness.py."""
        assert fit(law, law.sample(self.draws)) > FALSE_ALARM

    def test_draws_stay_in_the_support(self, law: Law) -> None:
        low, high = law.support
        draws = law.sample(500)
        assert low is None or draws.min() >= low
        assert high is None or draws.max() <= high

    def test_draws_are_as_many_64_bit_integers_as_asked(self, law: Law) -> None:
        for count in (0, 1, np.int64(7), np.uint8(7)):
            draws = law.sample(count)
            assert draws.shape == (int(count),)
            assert draws.dtype == np.int64
            assert draws.flags.writeable

    def test_refuses_fewer_than_no_draws(self, law: Law) -> None:
        for count in (-1, np.int64(-1)):
            with pytest.raises(InvalidValue, match="count must be at least 0"):
                law.sample(count)

    def test_refuses_a_count_that_is_no_integer(self, law: Law) -> None:
        for count in (1.0, "3", True, None):
            with pytest.raises(InvalidType, match="count must be an integer"):
                law.sample(count)

    def test_the_same_words_give_the_same_draws(self, law: Law) -> None:
        first, again = (law.sample(50, ReplayableSource("same")) for _ in range(2))
        assert first.tolist() == again.tolist()

    def test_fresh_words_give_fresh_draws(self, law: Law) -> None:
        """False alarm: (Σ p²)^64, the chance that 64 pairs of draws agree; asked only where that is below 1e-9."""
        values = window(law)
        if values is not None and float((law.pmf(values) ** 2).sum()) ** 64 < FALSE_ALARM:
            assert law.sample(64).tolist() != law.sample(64).tolist()

    def test_integers_alone_give_the_same_draws_as_floats(self, law: Law, monkeypatch: pytest.MonkeyPatch) -> None:
        assert host.trusted()
        fast = law.sample(300, ReplayableSource("both"))
        monkeypatch.setattr(host, "trusted", lambda: False)
        assert law.sample(300, ReplayableSource("both")).tolist() == fast.tolist()
