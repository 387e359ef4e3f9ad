from __future__ import annotations

from typing import ClassVar

import pytest

from discreet.errors import InvalidType, InvalidValue
from discreet.noise.law import Law
from discreet.noise.source import ScriptedSource
from discreet.noise.uniform import UniformInteger
from tests.noise.contract import LawContract

TOP = 2**64 - 1
UNEVEN = [3, 5, 6, 7, 1000, 2**61 + 1, 2**62 - 1, 2**65 // 9]


class TestUniformInteger(LawContract):
    laws: ClassVar[dict[str, Law]] = {
        "one": UniformInteger(1),
        "die": UniformInteger(6),
        "byte": UniformInteger(256),
        "hundred": UniformInteger(100),
        "largest": UniformInteger(2**62),
        "uneven": UniformInteger(2**65 // 9),
    }


def unfair_words_pass(law: UniformInteger) -> list[int]:
    """Words at and next to the fair limit whose draw is not what rejection demands."""
    fair = 2**64 - 2**64 % law.n  # words below it come in whole rounds of n
    wrong = []
    for word in sorted({fair - 2, fair - 1, min(fair, TOP), min(fair + 1, TOP), TOP}):
        expected = word % law.n if word < fair else 1
        if law.sample(1, ScriptedSource([word, 1])).tolist() != [expected]:
            wrong.append(word)
    return wrong


@pytest.mark.parametrize("n", UNEVEN)
def test_words_past_the_fair_limit_are_drawn_again(n):
    assert unfair_words_pass(UniformInteger(n)) == []


@pytest.mark.parametrize("n", UNEVEN)
def test_each_value_belongs_to_equally_many_words(n):
    fair = 2**64 - 2**64 % n
    assert fair % n == 0
    assert 2**64 - fair < n


def test_powers_of_two_reject_nothing():
    assert UniformInteger(2**62).sample(1, ScriptedSource([TOP])).tolist() == [2**62 - 1]


def test_only_the_unfair_words_of_many_are_replaced():
    assert UniformInteger(3).sample(4, ScriptedSource([1, TOP, 5, TOP, TOP, 7, 8])).tolist() == [1, 2, 2, 1]


@pytest.mark.parametrize("n", [0, -1, 2**62 + 1])
def test_refuses_a_range_it_cannot_hold(n):
    with pytest.raises(InvalidValue):
        UniformInteger(n)


@pytest.mark.parametrize("n", [2.0, "6", True])
def test_refuses_a_range_that_is_no_integer(n):
    with pytest.raises(InvalidType):
        UniformInteger(n)
