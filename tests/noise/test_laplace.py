from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

from discreet.errors import InvalidInput, InvalidValue
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.law import Law
from discreet.noise.source import ReplayableSource, ScriptedSource
from tests.noise.contract import LawContract
from tests.noise.goodness import FALSE_ALARM, cells, counted, difference, misfit
from tests.noise.reference import SIGN, Reference, Tape
from tests.noise.thresholds import LARGE_SCALES, SCALES, wrong_sizes


class TestDiscreteLaplace(LawContract):
    laws: ClassVar[dict[str, Law]] = {
        "least": DiscreteLaplace("1/1024"),
        "half": DiscreteLaplace("1/2"),
        "one": DiscreteLaplace(1),
        "uneven": DiscreteLaplace("7/3"),
        "hundred": DiscreteLaplace(100),
        "thousands": DiscreteLaplace("12345.678"),
        "million": DiscreteLaplace(10**6),
    }


class TestHugeDiscreteLaplace(LawContract):
    laws: ClassVar[dict[str, Law]] = {"2^40": DiscreteLaplace(2**40), "largest": DiscreteLaplace(2**42)}
    draws = 5_000


@pytest.mark.parametrize("scale", SCALES + LARGE_SCALES, ids=str)
@pytest.mark.some(4)
def test_words_at_the_thresholds_are_never_wrong(scale):
    assert wrong_sizes(DiscreteLaplace(scale)._exponential, scale) == []


@pytest.mark.parametrize("scale", SCALES[::2] + LARGE_SCALES[::2], ids=str)
@pytest.mark.usefixtures("balls_only")
@pytest.mark.some(2)
def test_words_at_the_thresholds_are_never_wrong_on_integers_alone(scale):
    assert wrong_sizes(DiscreteLaplace(scale)._exponential, scale) == []


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3)], ids=str)
@pytest.mark.some(1)
def test_exhaustive_small_words_are_never_wrong(scale):
    """All 2^12 settings of the top bits of the word, sign included, with the rest all zeros and all ones."""
    words = [(top << 52) + rest for top in range(2**12) for rest in (0, 2**52 - 1)]
    more = [3**40] * 8
    found = DiscreteLaplace(scale).sample(len(words), ScriptedSource(words + more))
    assert found.tolist() == Tape(words + more).laplace(scale, len(words))


@pytest.mark.parametrize("scale", SCALES + LARGE_SCALES, ids=str)
@pytest.mark.some(4)
def test_random_words_become_what_the_oracle_says(scale):
    words = ReplayableSource(f"oracle {scale}").open().words(1000).tolist()
    assert DiscreteLaplace(scale).sample(900, ScriptedSource(words)).tolist() == Tape(words).laplace(scale, 900)


@pytest.mark.parametrize("exponent", range(-1, 41, 3))
@pytest.mark.some(5)
def test_floats_and_integers_alone_agree_word_by_word(exponent: int, force_balls: Callable[[], None]):
    law = DiscreteLaplace(Fraction(2) ** exponent)
    fast = law.sample(3000, ReplayableSource(exponent))
    force_balls()
    assert law.sample(3000, ReplayableSource(exponent)).tolist() == fast.tolist()


def test_threads_share_a_law():
    law = DiscreteLaplace(2**40)  # half of its draws need balls, whose precision is global
    expected = [law.sample(300, ReplayableSource(seed)).tolist() for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda seed: law.sample(300, ReplayableSource(seed)).tolist(), range(4)))
    assert found == expected


def test_zero_has_no_sign():
    zero = 2**63 - 1  # U next to 1: size 0
    assert DiscreteLaplace(1).sample(2, ScriptedSource([zero, zero + SIGN])).tolist() == [0, 0]


def test_the_top_bit_is_the_sign():
    assert DiscreteLaplace(100).sample(2, ScriptedSource([2**50, 2**50 + SIGN])).tolist() == [901, -901]


def test_an_empty_prefix_reads_more_words_without_a_warning():
    words = [0, 5, 7, 9]
    assert DiscreteLaplace(1).sample(1, ScriptedSource(words)).tolist() == Tape(words).laplace(Fraction(1), 1)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3), Fraction(50)], ids=str)
def test_the_integer_only_reference_has_the_same_law(scale):
    """False alarm: `FALSE_ALARM` for each of the two tests, by the bounds in goodness.py."""
    law, reference = DiscreteLaplace(scale), Reference(seed=11)
    edges, shares = cells(law)
    theirs = counted(np.array([reference.laplace(scale) for _ in range(10_000)]), edges)
    assert misfit(theirs, shares) > FALSE_ALARM
    assert difference(theirs, counted(law.sample(200_000), edges)) > FALSE_ALARM


def test_the_error_is_the_least_that_suffices():
    law = DiscreteLaplace(10)
    for answers in (1, 5):
        m = law.error("0.95", answers)
        inside = [float(law.cdf(k) - law.cdf(-k - 1)) ** answers for k in (m - 1, m)]
        assert inside[0] < 0.95 <= inside[1]


def test_the_error_ends_next_to_certainty():
    law = DiscreteLaplace(1)
    assert law.error(1 - Fraction(1, 10**200)) == pytest.approx(200 * np.log(10), abs=2)
    assert law.error(Fraction(1, 10**9)) == 0
    assert law.error(0.5, answers=10**9) > law.error(0.5)


@pytest.mark.parametrize("confidence", [0, 1, -1, 2, float("nan"), True])
def test_refuses_a_confidence_that_nothing_reaches(confidence):
    with pytest.raises(InvalidInput):
        DiscreteLaplace(1).error(confidence)


@pytest.mark.parametrize("scale", [0, -1, "1e-400", "1/1025", 2**42 + 1, float("inf"), "x"])
def test_refuses_a_scale_that_hides_nothing_or_outgrows_64_bits(scale):
    with pytest.raises(InvalidValue, match="scale must"):
        DiscreteLaplace(scale)


@pytest.mark.parametrize("scale", ["1/10", 1, 5, 1000, 10**9])
def test_the_mean_error_of_one_draw_is_one_over_sinh(scale):
    """E|X| = 1/sinh(1/t), a little below the t of continuous noise."""
    law = DiscreteLaplace(scale)
    assert law.mean_error() == pytest.approx(1 / math.sinh(1 / float(Fraction(scale))), rel=1e-8)
    assert law.mean_error() < float(Fraction(scale))


@pytest.mark.parametrize("answers", [1, 2, 10, 1000])
def test_the_mean_of_the_largest_error_is_below_that_of_the_texts(answers):
    """Lemma 2.8: λ(1 + 1/2 + … + 1/k) ≤ λ(ln k + 1) for continuous noise, which integers approach."""
    harmonic = math.fsum(1 / k for k in range(1, answers + 1))
    assert DiscreteLaplace(1000).mean_error(answers) == pytest.approx(1000 * harmonic, rel=1e-3)
    assert DiscreteLaplace(10**7).mean_error(answers) == pytest.approx(10**7 * harmonic, rel=1e-7)
    small = DiscreteLaplace(3)
    exact = sum(1 - (1 - 2 * float(small.tail(m))) ** answers for m in range(1, 400))
    assert small.mean_error(answers) == pytest.approx(exact, rel=1e-12)
    assert small.mean_error(answers) <= 3 * (math.log(answers) + 1)
