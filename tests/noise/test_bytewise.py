"""Coins from bytes have exactly the law of coins from words."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidValue
from discreet.exact.grid import Integers
from discreet.noise.bernoulli import FEW, Bernoulli, byte_coins, coins, threshold_of, threshold_of_exponential
from discreet.noise.law import Law
from discreet.noise.source import ReplayableSource, ScriptedSource, Stream
from discreet.noise.uniform import ThresholdAt
from tests.noise.contract import LawContract

octets = st.integers(0, 255)
words = st.integers(0, 2**64 - 1)


class FromBytes(Bernoulli):
    """A coin that is drawn from bytes, however few there are."""

    def draw(self, count: int, stream: Stream) -> Integers:
        return byte_coins(count, self._threshold, stream).astype(np.int64)


class TestCoinsFromBytes(LawContract):
    laws: ClassVar[dict[str, Law]] = {
        "third": FromBytes("1/3"),
        "half": FromBytes("1/2"),
        "a whole number of bytes": FromBytes("3/256"),
        "rare": FromBytes("1/100000"),
        "nearly certain": FromBytes("0.99999"),
        "transcendental": FromBytes.exponential("1/2"),
    }


def first_word(*listed: int) -> int:
    return int.from_bytes(bytes([*listed, *[0] * (8 - len(listed))]), "little")


@given(octets, words, words, st.fractions(min_value=0, max_value=1))
def test_a_coin_compares_all_bits_with_its_probability(octet, second, third, p):
    """U is the byte and the words after it; the coin must agree with U < p whenever they decide it."""
    u = Fraction((octet << 128) + (second << 64) + third, 2**136)
    if u + Fraction(1, 2**136) <= p or u >= p:
        script = ScriptedSource([first_word(octet), second, third])
        assert byte_coins(1, threshold_of(p), script).tolist() == [u < p]


@given(st.integers(0, 2**72), words)
def test_ties_after_the_byte_and_after_the_word_read_on(numerator, last):
    p = Fraction(3 * numerator + 1, 3 * 2**72)  # between two multiples of 2^-72
    edge = (3 * numerator + 1) * 2**64 // 3
    octet, second, third = numerator >> 64, numerator & (2**64 - 1), edge & (2**64 - 1)
    if octet < 256:
        for final, below in ((third - 1, True), (third + 1, False)):
            script = ScriptedSource([first_word(octet), second, final])
            assert byte_coins(1, threshold_of(p), script).tolist() == [below]


def test_a_tie_with_a_whole_threshold_needs_no_more_bits():
    script = ScriptedSource([first_word(3, 2, 4)])
    assert byte_coins(3, threshold_of(Fraction(3, 256)), script).tolist() == [False, True, False]


def test_a_tie_without_more_words_is_not_guessed():
    with pytest.raises(InvalidValue, match="script"):
        byte_coins(1, threshold_of(Fraction(1, 3)), ScriptedSource([first_word(85)]))


@pytest.mark.parametrize(("p", "always"), [(0, False), (1, True)])
def test_certain_coins_are_certain(p: int, always: bool):
    assert set(byte_coins(5000, threshold_of(Fraction(p)), ReplayableSource(1).open()).tolist()) == {always}


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, FEW - 1, FEW, FEW + 1])
def test_there_are_as_many_coins_as_asked(count: int):
    assert coins(count, threshold_of_exponential(Fraction(1)), ReplayableSource(2).open()).shape == (count,)


def counted_words(count: int, threshold: ThresholdAt) -> int:
    class Counting:
        read = 0

        def words(self, wanted: int) -> np.ndarray:
            self.read += wanted
            return np.full(wanted, (1 << 63) + 7, np.uint64)

    tape = Counting()
    coins(count, threshold, tape)
    return tape.read


def test_few_coins_get_a_word_each_and_many_get_a_byte():
    assert counted_words(FEW - 1, threshold_of(Fraction(1, 2))) == FEW - 1
    assert counted_words(8 * FEW, threshold_of(Fraction(1, 2))) == FEW
