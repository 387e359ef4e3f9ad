from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

from discreet.errors import InvalidValue
from discreet.noise.geometric import Geometric
from discreet.noise.law import Law
from discreet.noise.source import ReplayableSource, ScriptedSource
from tests.noise.contract import LawContract
from tests.noise.goodness import FALSE_ALARM, cells, counted, difference, misfit
from tests.noise.reference import Reference, Tape
from tests.noise.thresholds import LARGE_SCALES, SCALES, wrong_sizes


class TestGeometric(LawContract):
    laws: ClassVar[dict[str, Law]] = {
        "least": Geometric("1/1024"),
        "half": Geometric("1/2"),
        "one": Geometric(1),
        "hundred": Geometric("100.5"),
        "million": Geometric(10**6),
    }


@pytest.mark.parametrize("scale", SCALES + LARGE_SCALES, ids=str)
@pytest.mark.some(4)
def test_words_at_the_thresholds_are_never_wrong(scale):
    assert wrong_sizes(Geometric(scale)._exponential, scale, laplace=False) == []


def test_exhaustive_small_words_are_never_wrong():
    """All 2^12 settings of the top bits of the word, with the rest all zeros and all ones."""
    scale = Fraction(3, 2)
    words = [(top << 52) + rest for top in range(2**12) for rest in (0, 2**52 - 1)]
    found = Geometric(scale).sample(len(words), ScriptedSource([*words, 3**40, 5**20]))
    assert found.tolist() == Tape([*words, 3**40, 5**20]).geometric(scale, len(words))


@pytest.mark.parametrize("exponent", range(-1, 41, 10))
def test_floats_and_integers_alone_agree_word_by_word(exponent: int, force_balls: Callable[[], None]):
    law = Geometric(Fraction(2) ** exponent)
    fast = law.sample(2000, ReplayableSource(exponent))
    force_balls()
    assert law.sample(2000, ReplayableSource(exponent)).tolist() == fast.tolist()


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(20)], ids=str)
def test_the_integer_only_reference_has_the_same_law(scale):
    """False alarm: `FALSE_ALARM` for each of the two tests, by the bounds in goodness.py."""
    law, reference = Geometric(scale), Reference(seed=12)
    edges, shares = cells(law)
    theirs = counted(np.array([reference.geometric(scale) for _ in range(10_000)]), edges)
    assert misfit(theirs, shares) > FALSE_ALARM
    assert difference(theirs, counted(law.sample(200_000), edges)) > FALSE_ALARM


@pytest.mark.parametrize("scale", [0, -1, "1/1025", 2**43])
def test_refuses_a_scale_out_of_range(scale):
    with pytest.raises(InvalidValue, match="scale must"):
        Geometric(scale)
