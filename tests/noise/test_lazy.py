from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidValue
from discreet.exact.ball import ball, lower, upper, working_precision
from discreet.noise.bernoulli import threshold_of
from discreet.noise.source import ScriptedSource
from discreet.noise.uniform import LazyUniform, falls_below

TOP = 2**64 - 1
words = st.integers(0, TOP)


def uniform(prefix: int, *more: int, bits: int = 64) -> LazyUniform:
    return LazyUniform(prefix, bits, ScriptedSource(more))


@given(words, words)
def test_more_bits_extend_the_prefix_on_the_right(first, second):
    u = uniform(first, second)
    u.read_more()
    assert (u.prefix, u.bits) == (first * 2**64 + second, 128)


@given(words)
def test_the_ends_enclose_every_real_with_the_prefix(word):
    with working_precision():
        u = uniform(word)
        assert lower(u.least()) == Fraction(word, 2**64)
        assert upper(u.most()) == Fraction(word + 1, 2**64)


@given(st.lists(words, min_size=1, max_size=3), st.fractions(min_value=0, max_value=1))
def test_a_coin_compares_all_bits_with_its_probability(tape, p):
    """U is the whole tape; the coin must agree with U < p whenever the tape decides it."""
    u = Fraction(sum(word << 64 * place for place, word in enumerate(reversed(tape))), 2 ** (64 * len(tape)))
    width = Fraction(1, 2 ** (64 * len(tape)))
    if u + width <= p or u >= p:
        source = ScriptedSource(tape)
        assert falls_below(source.words(1), threshold_of(p), source).tolist() == [u < p]


@given(st.integers(2**40, TOP), words, words)
def test_a_floor_agrees_with_rational_arithmetic(first, second, third):
    """g(U) = 1/U is decreasing and needs no logarithm, so every floor can be computed by hand."""
    u = uniform(first, second, third, 1, 1)
    found = u.floor_of(lambda x: 1 / x)
    assert found == Fraction(2**u.bits, u.prefix).__floor__() == Fraction(2**u.bits, u.prefix + 1).__floor__()


def test_a_floor_that_the_prefix_leaves_open_reads_more():
    third = 2**64 // 3  # 1/U crosses 3 inside this prefix
    assert uniform(third, 0).floor_of(lambda x: 1 / x) == 3
    assert uniform(third, TOP).floor_of(lambda x: 1 / x) == 2
    with pytest.raises(InvalidValue, match="script"):
        uniform(third).floor_of(lambda x: 1 / x)


def test_a_prefix_of_zeros_reads_more():
    assert uniform(0, 1, 0).floor_of(lambda x: -x.log() / ball(1)) == 88
    with pytest.raises(InvalidValue, match="script"):
        uniform(0, 0).floor_of(lambda x: 1 / x)


def test_a_sign_that_the_prefix_leaves_open_reads_more():
    third = 2**64 // 3
    assert uniform(third, 0).exceeds(lambda x: 1 / x - 3)
    assert not uniform(third, TOP).exceeds(lambda x: 1 / x - 3)
    assert uniform(third - 1).exceeds(lambda x: 1 / x - 3)
    assert not uniform(third + 1).exceeds(lambda x: 1 / x - 3)


def test_no_words_are_no_coins():
    empty = np.empty(0, np.uint64)
    assert falls_below(empty, threshold_of(Fraction(1, 3)), ScriptedSource([])).shape == (0,)
