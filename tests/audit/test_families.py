"""Every family finds something that all others miss. Each audit gives a false alarm at most once in a million times."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.audit import FAMILIES, Batched, Learning, Outcomes, audit
from discreet.audit.events import LowBits, Thresholds, lowest_bit
from discreet.audit.mechanism import Claimed
from discreet.audit.proof import Choosing, telling_events
from discreet.noise.experiment import experiment
from discreet.privacy.loss import GaussianDP, Pure

CHANCE = experiment(11)


def near_the_diagonal(value: int, size: int) -> np.ndarray:
    """Two uniform numbers; for the second input some of them are close to each other."""
    one, other = CHANCE.random(size), CHANCE.random(size)
    is_close = (CHANCE.random(size) < 0.05) & (value == 1)
    pairs = np.stack([one, np.where(is_close, (one + CHANCE.random(size) / 200) % 1, other)], axis=1)
    return on_a_grid(pairs)


def on_a_grid(values: np.ndarray) -> np.ndarray:
    """So that low-order bits tell nothing."""
    return np.round(values * 2**20) / 2**20


LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz"))


def scattered_letters(value: int, size: int) -> np.ndarray:
    """Letters in no order; the second input favours every third one."""
    weights = np.where(np.arange(26) % 3 == 0, 20.0 if value else 1.0, 1.0)
    return LETTERS[CHANCE.choice(26, size, p=weights / weights.sum())]


def parity(value: int, size: int) -> np.ndarray:
    """An even number for one input, an odd one for the other."""
    return 2 * CHANCE.integers(0, 2**40, size) + value


SIGNS = np.where(np.arange(16) % 2, 1.0, -1.0)


def many_small_shifts(value: int, size: int) -> np.ndarray:
    """Sixteen coordinates, each moved by half a deviation, half of them upwards."""
    noise = CHANCE.standard_normal((size, 16))
    return on_a_grid(noise + value * SIGNS / 2)


ALONE = {
    "threshold": (near_the_diagonal, Pure(1)),
    "likelihood ratio": (scattered_letters, Pure(1)),
    "low-order bits": (parity, Pure(1)),
    "learned classifier": (many_small_shifts, GaussianDP("1.3")),
}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
@pytest.mark.some(2)
def test_each_family_finds_what_the_others_miss(family):
    mechanism, claim = ALONE[family.name]
    others = [other for other in FAMILIES if other is not family]
    assert audit(Batched(mechanism), 0, 1, claim, draws=60_000, families=[family]).violated
    assert not audit(Batched(mechanism), 0, 1, claim, draws=60_000, families=others).violated
    assert audit(Batched(mechanism), 0, 1, claim, draws=60_000).best.event.family == family.name


def test_the_lowest_bit_of_a_float_is_found():
    values = np.array([1.0, 3.0, 0.5, 0.75, 6.0, -2.0, 1 + 2.0**-52, 5e-324, np.inf])
    assert lowest_bit(values)[:-1].tolist() == [0, 0, -1, -2, 1, 1, -52, -1074]
    assert np.isnan(lowest_bit(values)[-1])


def test_floats_that_differ_in_their_last_bits_alone_are_told_apart():
    """The noise of NumPy, added as floats: no threshold sees more than was claimed, the last bits see nearly all."""
    report = audit(Batched(lambda value, size: value + CHANCE.laplace(size=size)), 0.0, 1.0, Pure(1), draws=40_000)
    assert report.violated
    assert report.best.event.family == LowBits.name
    assert report.observed_epsilon > 4


def test_outcomes_without_numbers_have_no_thresholds():
    outcomes, counts = Outcomes(["yes", "non"]), np.array([3, 4])
    choosing = Choosing(counts, counts[::-1], Claimed(Pure(0)), 1e-6)
    assert telling_events(Thresholds(), Learning(outcomes, counts, counts), choosing) == []
