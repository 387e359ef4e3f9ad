"""Laws of answers: what they list, what comes of them, and what is refused before it fills the memory."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction
from typing import Any

import pytest

import discreet as dp
from discreet.errors import InvalidInput, InvalidValue
from discreet.exact.ball import lower, upper
from discreet.local import LocalHashing, SubsetSelection
from discreet.mechanisms.distribution import FiniteLaw

FAIR = FiniteLaw.of({0: "1/2", 1: "1/2"})


def test_a_law_through_a_map_adds_up_what_the_map_makes_equal() -> None:
    law = FiniteLaw.of({-2: "1/8", -1: "1/4", 1: "1/8", 3: "1/2"}).through(abs)
    assert {outcome: law.pmf(outcome) for outcome in law.outcomes} == {2: 0.125, 1: 0.375, 3: 0.5}


def test_a_law_through_a_mechanism_is_that_of_its_answers() -> None:
    told = FiniteLaw.of({0: "1/4", 1: "3/4"}).through(dp.RandomizedResponse.truth("3/4").distribution)
    assert told.pmf(1) == 0.75 * 0.75 + 0.25 * 0.25


def test_processing_never_raises_a_loss() -> None:
    choice = dp.Exponential(1)
    laws = [choice.distribution(scores) for scores in ([3, 1, 0], [2, 2, 1])]
    before = choice.between([3, 1, 0], [2, 2, 1])
    merged = [law.through(lambda place: place > 0) for law in laws]
    after = dp.Pair([law.mass(True) for law in merged], [law.mass(True) for law in merged[::-1]])
    assert lower(after.max_divergence()) <= upper(before.epsilon())


def test_mutual_information_of_randomized_response_is_that_of_a_symmetric_channel() -> None:
    response = dp.RandomizedResponse.truth("3/4")
    noise = -0.75 * math.log(0.75) - 0.25 * math.log(0.25)
    assert float(FAIR.information(response.distribution)) == pytest.approx(math.log(2) - noise, rel=1e-12)
    assert float(FAIR.information(lambda bit: bit)) == pytest.approx(math.log(2), rel=1e-12)
    assert float(FAIR.information(lambda bit: "same")) == 0
    assert float(FiniteLaw.of({0: 1, 1: 0}).information(response.distribution)) == 0


@pytest.mark.parametrize("epsilon", ["1/10", 1, 4])
def test_an_answer_tells_at_most_epsilon_nats(epsilon: Any) -> None:
    choice = dp.Exponential(epsilon, sensitivity=1)
    told = FiniteLaw.of({(3, 0): "1/3", (2, 1): "2/3"}).information(choice.distribution)
    assert 0 < float(told) <= float(Fraction(epsilon))


@pytest.mark.parametrize("shares", [{}, {1: "1/2"}, {1: 2, 2: -1}])
def test_probabilities_that_do_not_sum_to_one_are_refused(shares: Any) -> None:
    with pytest.raises(InvalidInput):
        FiniteLaw.of(shares)


def test_what_is_not_listed_has_no_mass() -> None:
    assert FAIR.pmf(7) == FAIR.pmf([0]) == 0
    assert FiniteLaw.of({(True,): 1}).pmf([True]) == 0


@pytest.mark.parametrize(
    "listing",
    [
        lambda: SubsetSelection(1, range(30_000)).law(0),
        lambda: dp.PermuteAndFlip(1).distribution(list(range(100_000))),
        lambda: dp.TopK(1, 50_000).distribution(list(range(100_000))),
        lambda: dp.TopK(1, 99_999).distribution(list(range(100_000))),
        lambda: dp.NoisyMax(1).distribution([0, 10**15]),
        lambda: dp.AboveThreshold(1, 100).distribution([1] * 100_000),
        lambda: dp.AboveThreshold(100, 100).distribution([1] * 5_000),
        lambda: dp.Laplace("0.001").between([0] * 10_000, [1] * 10_000),
        lambda: dp.Gaussian(sigma=10**7).between(0, 1),
        lambda: dp.RandomizedResponse(1).between([0] * 100, [1] * 100),
    ],
)
def test_a_law_that_is_too_long_is_refused_before_it_is_listed(listing: Any) -> None:
    with pytest.raises(InvalidValue, match=r"at most \d+"):
        listing()


@pytest.mark.parametrize("asked", ["between('a', 'b')", "law('a')"])
def test_all_hash_functions_of_a_large_prime_are_refused_before_they_are_listed(asked: str) -> None:
    """In a process of its own with 4 GB of addresses, so that a listing of 10^18 functions fails here alone."""
    program = f"""
import resource
resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))
from discreet.errors import InvalidValue
from discreet.local import LocalHashing
try:
    LocalHashing(1, list("abcd")).{asked}
except InvalidValue as refusal:
    print(refusal)
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert "at most 131072 reports" in found.stdout
    assert LocalHashing(1, list("abcd"), prime=5).law("a").outcomes


def test_long_laws_are_compared_in_time_that_grows_with_their_length() -> None:
    """Looking each outcome up in a list would take 10^9 steps here."""
    pair = dp.CategoricalResponse(1, range(30_000)).between(0, 1)
    assert float(pair.epsilon()) == pytest.approx(1)
