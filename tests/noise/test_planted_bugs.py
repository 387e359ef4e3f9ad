"""Every check, shown to bite: it passes for the real sampler and fails for one with a bug that a real system had.

Statistical checks state their false-alarm rate where they are defined; here a planted bug must fail them.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.exact.grid import Integers
from discreet.noise import gaussian, host
from discreet.noise import race as choice
from discreet.noise import uniform as lazy
from discreet.noise.bernoulli import Bernoulli
from discreet.noise.gaussian import DiscreteGaussian
from discreet.noise.geometric import Geometric
from discreet.noise.inversion import ScaledExponential
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.law import Floats, Law
from discreet.noise.race import GumbelChoice
from discreet.noise.source import ScriptedSource, Stream
from discreet.noise.uniform import UniformInteger
from tests.noise.contract import LawContract
from tests.noise.forks import shared_words
from tests.noise.goodness import FALSE_ALARM, fit
from tests.noise.races import wrong_winners
from tests.noise.reference import Tape
from tests.noise.rounds import wrong_rounds
from tests.noise.test_uniform import unfair_words_pass
from tests.noise.thresholds import wrong_sizes
from tests.noise.timing import tells

UNEVEN = 2**65 // 9  # 2^64 is four and a half times this


class TooNarrow(DiscreteLaplace):
    """The scale is 5% short of what was claimed."""

    def draw(self, count: int, stream: Stream) -> Integers:
        return DiscreteLaplace(self.scale * Fraction(95, 100)).draw(count, stream)


class TwoZeros(DiscreteLaplace):
    """A signed geometric: "-0" counts as a second zero."""

    def draw(self, count: int, stream: Stream) -> Integers:
        signs = 1 - 2 * (stream.words(count) & np.uint64(1)).astype(np.int64)
        return signs * Geometric(self.scale).draw(count, stream)


class RoundedFloat(DiscreteLaplace):
    """Continuous noise, rounded: the law next to zero is another one."""

    def draw(self, count: int, stream: Stream) -> Integers:
        return np.rint(continuous(float(self.scale), count, stream)).astype(np.int64)


class OffTheLattice(DiscreteLaplace):
    """Continuous noise as it is, with the low bits that give inputs away."""

    def draw(self, count: int, stream: Stream) -> Integers:
        return continuous(float(self.scale), count, stream)  # type: ignore[return-value]


class OnlyProposals(DiscreteGaussian):
    """The rejection step was forgotten."""

    def draw(self, count: int, stream: Stream) -> Integers:
        return DiscreteLaplace(self._proposal._scale).draw(count, stream)


class PlainModulo(UniformInteger):
    """No rejection: small values come more often."""

    def draw(self, count: int, stream: Stream) -> Integers:
        return (stream.words(count) % np.uint64(self.n)).astype(np.int64)


class DroppedWords(UniformInteger):
    """Rejects, but forgets to draw again: fewer draws than asked."""

    def draw(self, count: int, stream: Stream) -> Integers:
        words = stream.words(count)
        return (words[words < np.uint64(2**64 - 2**64 % self.n)] % np.uint64(self.n)).astype(np.int64)


class StepByStep(Geometric):
    """One coin per unit: the value is the number of rounds, and the clock counts them."""

    def draw(self, count: int, stream: Stream) -> Integers:
        found = np.zeros(count, np.int64)
        coin = Bernoulli.exponential(1 / self.scale)
        for k in range(count):
            while coin.draw(1, stream)[0]:
                found[k] += 1
        return found


class NoRadius(ScaledExponential):
    """Trusts the float to the last bit."""

    def __init__(self, real: ScaledExponential) -> None:
        super().__init__(real._scale, real._offset)
        self._radius = 0.0


class NoMoreBits(ScaledExponential):
    """Settles with the bits at hand instead of reading on."""

    def _settle(self, prefix: int, stream: Stream) -> int:
        return super()._settle(prefix or 1, ScriptedSource([0] * 10))


def continuous(scale: float, count: int, stream: Stream) -> Floats:
    u = (stream.words(count).astype(np.float64) + 0.5) * 2.0**-64 - 0.5
    return -scale * np.sign(u) * np.log1p(-2 * np.abs(u) * (1 - 2.0**-53))


def is_fit(law: Law) -> bool:
    return fit(law, law.sample(LawContract.draws)) > FALSE_ALARM


@pytest.mark.parametrize("scale", [1, 100, 10**5])
@pytest.mark.parametrize("bug", [TooNarrow, TwoZeros, RoundedFloat])
def test_goodness_of_fit_catches_a_law_that_is_not_the_stated_one(bug, scale):
    assert is_fit(DiscreteLaplace(scale))
    if scale == 1 or bug is TooNarrow:  # the others fade as 1 / scale: next test
        assert not is_fit(bug(scale))


@pytest.mark.parametrize("bug", [TwoZeros, RoundedFloat])
def test_word_by_word_oracles_catch_what_fades_at_large_scales(bug):
    words = [(top << 52) + 2**51 for top in range(2**12)]
    expected = Tape(words).laplace(Fraction(10**5), 500)
    assert DiscreteLaplace(10**5).sample(500, ScriptedSource(words)).tolist() == expected
    assert bug(10**5).sample(500, ScriptedSource(words)).tolist() != expected


def test_goodness_of_fit_catches_a_forgotten_rejection():
    assert is_fit(DiscreteGaussian(10))
    assert not is_fit(OnlyProposals(10))


def test_the_contract_catches_noise_off_the_lattice():
    LawContract().test_draws_are_as_many_64_bit_integers_as_asked(DiscreteLaplace(10))
    with pytest.raises(AssertionError):
        LawContract().test_draws_are_as_many_64_bit_integers_as_asked(OffTheLattice(10))


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(100), Fraction(10**6)], ids=str)
def test_threshold_words_catch_a_missing_error_bound(scale):
    real = DiscreteLaplace(scale)._exponential
    assert wrong_sizes(real, scale) == []
    assert wrong_sizes(NoRadius(real), scale) != []


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(100), Fraction(10**6)], ids=str)
def test_threshold_words_catch_a_sampler_that_reads_no_more_bits(scale):
    real = DiscreteLaplace(scale)._exponential
    assert wrong_sizes(NoMoreBits(real._scale, real._offset), scale) != []


def test_threshold_words_catch_small_prefixes_that_are_believed():
    real, believer = (DiscreteLaplace(10**6)._exponential for _ in range(2))
    believer._least_prefix = 1
    assert wrong_sizes(real, Fraction(10**6)) == []
    assert wrong_sizes(believer, Fraction(10**6)) != []


@pytest.mark.parametrize("sigma", [Fraction(1), Fraction(100)], ids=str)
def test_threshold_coins_catch_a_missing_error_bound(sigma, monkeypatch: pytest.MonkeyPatch):
    assert wrong_rounds(DiscreteGaussian(sigma), sigma) == []
    monkeypatch.setattr(gaussian, "_RADIUS", 0.0)
    assert wrong_rounds(DiscreteGaussian(sigma), sigma) != []


def test_close_races_catch_a_missing_error_bound(monkeypatch: pytest.MonkeyPatch):
    assert wrong_winners(GumbelChoice, Fraction(1, 3)) == []
    monkeypatch.setattr(choice, "_WORD_ERROR", 0.0)
    monkeypatch.setattr(choice, "_ROUNDING", 0.0)
    assert wrong_winners(GumbelChoice, Fraction(1, 3)) != []


def test_the_edge_of_a_coin_catches_ignored_bits(monkeypatch: pytest.MonkeyPatch):
    edge, coin = 2**64 // 3, Bernoulli("1/3")
    scripts = [[edge, 0], [edge, 2**64 - 1]]
    assert [coin.sample(1, ScriptedSource(script)).tolist() for script in scripts] == [[1], [0]]
    monkeypatch.setattr(lazy, "settle", lambda uniform, threshold: False)
    assert [coin.sample(1, ScriptedSource(script)).tolist() for script in scripts] != [[1], [0]]


@pytest.mark.parametrize("n", [3, 1000, UNEVEN])
def test_words_at_the_fair_limit_catch_a_plain_modulo(n):
    assert unfair_words_pass(UniformInteger(n)) == []
    assert unfair_words_pass(PlainModulo(n)) != []
    assert unfair_words_pass(DroppedWords(n)) != []


def test_goodness_of_fit_catches_a_plain_modulo_where_the_bias_is_large():
    assert is_fit(UniformInteger(UNEVEN))
    assert not is_fit(PlainModulo(UNEVEN))


@pytest.mark.parametrize("error", [1e-6, 2.0**-46])
def test_the_host_check_catches_a_logarithm_that_is_off(error, monkeypatch: pytest.MonkeyPatch):
    assert host.trusted.__wrapped__()
    log = np.log
    monkeypatch.setattr(np, "log", lambda x: log(x) * (1 + error))
    assert not host.trusted.__wrapped__()


def test_the_clock_catches_a_sampler_that_counts():
    assert tells(StepByStep(3), draws=3_000)


def test_forks_catch_a_key_that_is_kept():
    assert shared_words("type('Kept', (), dict(open=lambda self: ReplayableSource(1).open()))()") > 10**6


def test_quantiles_and_probabilities_of_a_wrong_law_disagree():
    class WrongTail(DiscreteLaplace):
        def tail(self, values):
            return super().tail(values) * math.exp(1e-6)

    LawContract().test_floats_agree_with_balls(DiscreteLaplace(3))
    with pytest.raises(AssertionError):
        LawContract().test_floats_agree_with_balls(WrongTail(3))
