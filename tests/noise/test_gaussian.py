from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

from discreet.errors import InvalidInput, InvalidType, InvalidValue
from discreet.exact.ball import Ball, working_precision
from discreet.noise.gaussian import DiscreteGaussian
from discreet.noise.law import Law
from discreet.noise.source import ReplayableSource, ScriptedSource
from tests.noise.contract import LawContract
from tests.noise.goodness import FALSE_ALARM, cells, counted, difference, misfit
from tests.noise.reference import Reference, Tape, acceptance, proposal_scale
from tests.noise.rounds import LARGE_SIGMAS, SIGMAS, word_of_size, wrong_rounds
from tests.noise.thresholds import wrong_sizes


class TestDiscreteGaussian(LawContract):
    laws: ClassVar[dict[str, Law]] = {
        "least": DiscreteGaussian(Fraction(1, 2**50)),
        "quarter": DiscreteGaussian("1/4"),
        "half": DiscreteGaussian("1/2"),
        "one": DiscreteGaussian(1),
        "root of two": DiscreteGaussian(variance_parameter=2),
        "ten": DiscreteGaussian("10.3"),
        "last by terms": DiscreteGaussian(512),
        "first by integral": DiscreteGaussian("512.01"),
        "million": DiscreteGaussian(10**6),
    }


class TestHugeDiscreteGaussian(LawContract):
    laws: ClassVar[dict[str, Law]] = {"2^40": DiscreteGaussian(2**40), "largest": DiscreteGaussian(2**42)}
    draws = 5_000


@pytest.mark.parametrize("sigma", SIGMAS + LARGE_SIGMAS, ids=str)
def test_coins_at_the_thresholds_are_never_wrong(sigma):
    assert wrong_rounds(DiscreteGaussian(sigma), sigma) == []


@pytest.mark.parametrize("sigma", SIGMAS + LARGE_SIGMAS, ids=str)
@pytest.mark.some(4)
def test_proposals_at_the_thresholds_are_never_wrong(sigma):
    assert wrong_sizes(DiscreteGaussian(sigma)._proposal, proposal_scale(sigma**2)) == []


@pytest.mark.usefixtures("balls_only")
@pytest.mark.parametrize("sigma", SIGMAS[::2] + LARGE_SIGMAS, ids=str)
def test_coins_at_the_thresholds_are_never_wrong_on_integers_alone(sigma):
    assert wrong_rounds(DiscreteGaussian(sigma), sigma) == []


@pytest.mark.parametrize("sigma", [Fraction(1, 2), Fraction(2)], ids=str)
@pytest.mark.some(1)
def test_exhaustive_small_coins_are_never_wrong(sigma):
    """All 2^12 settings of the top bits of the coin, with the rest all zeros and all ones, for each size to 6σ."""
    coins = [(top << 52) + rest for top in range(2**12) for rest in (0, 2**52 - 1)]
    scale, more = proposal_scale(sigma**2), [3**40] * 4
    for size in range(int(6 * sigma) + 1):
        words = [word_of_size(scale, size)] * len(coins) + coins + more
        found = DiscreteGaussian(sigma)._accepted(len(coins), ScriptedSource(words)).tolist()
        tape, chance = Tape(more), acceptance(sigma**2, scale, size)
        assert found == [size for coin in coins if tape.is_below(chance, coin, 64)]


@pytest.mark.parametrize("sigma", SIGMAS + LARGE_SIGMAS, ids=str)
@pytest.mark.some(3)
def test_random_words_become_what_the_oracle_says(sigma):
    words = ReplayableSource(f"oracle {sigma}").open().words(900).tolist()
    found = DiscreteGaussian(sigma)._accepted(400, ScriptedSource(words)).tolist()
    assert found == Tape(words).gaussian_round(sigma**2, 400)


@pytest.mark.parametrize("exponent", range(-1, 41, 5))
@pytest.mark.some(4)
def test_floats_and_integers_alone_agree_word_by_word(exponent: int, force_balls: Callable[[], None]):
    law = DiscreteGaussian(Fraction(2) ** exponent)
    fast = law.sample(1000, ReplayableSource(exponent))
    force_balls()
    assert law.sample(1000, ReplayableSource(exponent)).tolist() == fast.tolist()


@pytest.mark.parametrize("squared", [Fraction(1, 4), Fraction(2), Fraction(100)], ids=str)
def test_the_integer_only_reference_has_the_same_law(squared):
    """False alarm: `FALSE_ALARM` for each of the two tests, by the bounds in goodness.py."""
    law, reference = DiscreteGaussian(variance_parameter=squared), Reference(seed=13)
    edges, shares = cells(law)
    theirs = counted(np.array([reference.gaussian(squared) for _ in range(6_000)]), edges)
    assert misfit(theirs, shares) > FALSE_ALARM
    assert difference(theirs, counted(law.sample(200_000), edges)) > FALSE_ALARM


@pytest.mark.parametrize("sigma", [Fraction(3, 2), Fraction(40), Fraction(511)], ids=str)
def test_sums_and_integrals_agree_to_every_digit_asked_for(sigma):
    law = DiscreteGaussian(sigma)
    for k in (1, int(sigma), int(7 * sigma)):
        with working_precision(100 if sigma > 2 else 40):
            by_terms, by_integral = law.above(k), law._smooth_sum(k) / law._total_at(100)
            assert by_terms.overlaps(by_integral)
            assert (by_terms - by_integral).abs_upper() < Ball(2) ** -(80 if sigma > 2 else 30)


def test_the_far_tail_is_accurate_where_it_is_small():
    from scipy.stats import norm

    assert DiscreteGaussian(1000).tail(30_000) == pytest.approx(norm.sf(29.9995), rel=1e-4)
    assert DiscreteGaussian(400).tail(12_000) == pytest.approx(norm.sf(29.99875), rel=1e-3)
    assert DiscreteGaussian(1).tail(100) == 0


def test_the_parameter_is_close_to_the_standard_deviation():
    assert DiscreteGaussian(2).variance == pytest.approx(4, rel=1e-12)
    assert DiscreteGaussian("1/4").variance < 1 / 16


def test_sigma_and_its_square_name_the_same_law():
    assert DiscreteGaussian(3).squared == DiscreteGaussian(variance_parameter=9).squared
    assert DiscreteGaussian(3).sample(20, ReplayableSource(1)).tolist() == (
        DiscreteGaussian(variance_parameter="9").sample(20, ReplayableSource(1)).tolist()
    )


def test_refuses_both_parameters_or_neither():
    with pytest.raises(InvalidType, match="not both"):
        DiscreteGaussian(1, variance_parameter=1)
    with pytest.raises(InvalidType, match="give sigma"):
        DiscreteGaussian()


@pytest.mark.parametrize("sigma", [0, -1, "1e-20", 2**42 + 1, 2**60, float("nan"), True, "x"])
def test_refuses_a_sigma_that_hides_nothing_or_outgrows_64_bits(sigma):
    with pytest.raises(InvalidInput, match="sigma must"):
        DiscreteGaussian(sigma)


@pytest.mark.parametrize("squared", [0, -1, 2**85])
def test_refuses_a_square_out_of_range(squared):
    with pytest.raises(InvalidValue):
        DiscreteGaussian(variance_parameter=squared)


def test_the_error_of_many_answers_is_the_least_that_suffices():
    law = DiscreteGaussian(10)
    m = law.error("0.99", answers=20)
    inside = [float(law.cdf(k) - law.cdf(-k - 1)) ** 20 for k in (m - 1, m)]
    assert inside[0] < 0.99 <= inside[1]
