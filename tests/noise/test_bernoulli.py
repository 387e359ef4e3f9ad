from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

from discreet.errors import InvalidValue
from discreet.noise.bernoulli import Bernoulli, threshold_of, threshold_of_exponential
from discreet.noise.law import Law
from discreet.noise.source import ScriptedSource
from tests.noise.contract import LawContract

TOP = 2**64 - 1


class TestBernoulli(LawContract):
    laws: ClassVar[dict[str, Law]] = {
        "third": Bernoulli("1/3"),
        "fair": Bernoulli(0.5),
        "rare": Bernoulli("1e-5"),
        "never": Bernoulli(0),
        "always": Bernoulli(1),
        "exponential": Bernoulli.exponential(1),
        "surely": Bernoulli.exponential(0),
        "near": Bernoulli.exponential("1e-4"),
    }


def draw(coin: Bernoulli, *words: int) -> int:
    return int(coin.sample(1, ScriptedSource(words))[0])


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(2, 3), Fraction(1, 10**30), Fraction(355, 1130)])
def test_words_around_the_threshold_of_a_rational_fall_on_the_right_side(p):
    edge = p.numerator * 2**64 // p.denominator
    rest = p * 2**64 - edge
    second = rest.numerator * 2**64 // rest.denominator
    coin = Bernoulli(p)
    assert edge == 0 or draw(coin, edge - 1) == 1
    assert draw(coin, edge + 1) == 0
    assert draw(coin, edge, second - 1) == 1 if second else True
    assert draw(coin, edge, second + 1) == 0
    assert draw(coin, edge, second, 0) == 1
    assert draw(coin, edge, second, TOP) == 0


@pytest.mark.parametrize("x", ["1", "1/7", "3.5", "20", "1e-9"])
def test_words_around_the_threshold_of_an_exponential_fall_on_the_right_side(x):
    coin, threshold = Bernoulli.exponential(x), threshold_of_exponential(Fraction(x))
    edge, deeper = threshold(64)[0], threshold(128)[0]
    assert edge == deeper >> 64
    assert draw(coin, edge - 1) == 1
    assert draw(coin, edge + 1) == 0
    assert draw(coin, edge, deeper % 2**64 - 1) == 1
    assert draw(coin, edge, deeper % 2**64 + 1) == 0


def test_an_undecided_word_reads_exactly_one_more():
    with pytest.raises(InvalidValue, match="script"):
        draw(Bernoulli("1/3"), 2**64 // 3)


def test_a_threshold_that_ends_within_the_word_needs_no_more():
    assert [draw(Bernoulli("1/4"), word) for word in (2**62 - 1, 2**62, 2**62 + 1)] == [1, 0, 0]
    assert threshold_of(Fraction(1, 4))(64) == (2**62, True)


def test_sure_coins_never_err():
    assert draw(Bernoulli(1), TOP) == 1
    assert draw(Bernoulli(0), 0) == 0


@pytest.mark.parametrize("x", ["1e400", 10**9, "1e100"])
def test_hopeless_coins_are_drawn_without_delay(x):
    assert Bernoulli.exponential(x).sample(100).sum() == 0
    assert Bernoulli.exponential(x).mean == 0.0


def test_the_chance_of_a_miss_is_accurate_where_it_is_small():
    assert Bernoulli(1 - Fraction(1, 10**30)).pmf(0) == 1e-30
    assert Bernoulli.exponential(Fraction(1, 10**30)).pmf(0) == pytest.approx(1e-30)
    assert Bernoulli.exponential(3).mean == math.exp(-3)


def test_exhaustive_small_words_never_err():
    """All 2^12 settings of the top bits, with the rest all zeros and all ones, against rational arithmetic."""
    words = [(top << 52) + rest for top in range(2**12) for rest in (0, 2**52 - 1)]
    for p in (Fraction(1, 3), Fraction(5, 7), Fraction(1, 1000)):
        expected = [int(Fraction(word, 2**64) < p) for word in words]
        assert Bernoulli(p).sample(len(words), ScriptedSource(words)).tolist() == expected


@pytest.mark.parametrize("p", [-0.1, 1.1, "nan", float("nan")])
def test_refuses_what_is_no_probability(p):
    with pytest.raises(InvalidValue):
        Bernoulli(p)


@pytest.mark.parametrize("x", [-1, "-1e-9", float("inf")])
def test_refuses_an_exponent_above_one(x):
    with pytest.raises(InvalidValue):
        Bernoulli.exponential(x)


def test_a_million_coins_are_one_array():
    assert Bernoulli(0.5).sample(10**6).dtype == np.int64
