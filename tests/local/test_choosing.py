"""The best oracle is the one with the least variance, and the choice says why."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidInput, OutOfReach
from discreet.local.choose import best_randomizer
from discreet.local.randomized_response import GeneralizedResponse
from discreet.local.subset_selection import SubsetSelection
from discreet.local.unary import OptimalUnary


@pytest.mark.parametrize(("epsilon", "largest"), [(0.5, 6), (1, 10), (2, 24), (3, 62), (4, 165)])
def test_randomized_response_beats_unary_encoding_up_to_the_known_size(epsilon: float, largest: int) -> None:
    assert largest < 3 * math.exp(epsilon) + 2 <= largest + 1
    for k, wins in ((largest, True), (largest + 1, False)):
        names = {one.kind: place for place, one in enumerate(best_randomizer(epsilon, k).candidates)}
        assert (names["grr"] < names["oue"]) is wins


@given(st.fractions(min_value="1/20", max_value=6), st.integers(2, 300))
def test_nothing_is_better_than_the_best(epsilon, k) -> None:
    choice = best_randomizer(epsilon, k)
    assert choice.best.variance <= min(one.variance for one in choice.candidates) * (1 + 1e-9)
    assert choice.kind in ("grr", "subset")  # the two that are optimal for some size of a set


@given(st.fractions(min_value="1/20", max_value=6), st.integers(2, 60))
def test_no_other_size_of_a_set_is_better(epsilon, k) -> None:
    best = SubsetSelection(epsilon, range(k)).estimator.variance(1)
    others = [SubsetSelection(epsilon, range(k), chosen=size).estimator.variance(1) for size in range(1, k)]
    assert best <= min(others) * (1 + 1e-9)


def test_a_tie_goes_to_the_simpler_one() -> None:
    assert best_randomizer(3, 4).kind == "grr"


@pytest.mark.parametrize(
    ("k", "most_bytes", "kind"), [(100, 1, "hadamard"), (100, 9, "olh"), (100, 13, "subset"), (1000, 2, "hadamard")]
)
def test_short_reports_can_be_asked_for(k: int, most_bytes: int, kind: str) -> None:
    choice = best_randomizer(1, k, most_bytes=most_bytes)
    assert choice.kind == kind
    assert choice.best.bytes_each <= most_bytes
    assert len(choice.candidates) == 6


def test_refuses_reports_that_are_too_short_for_all() -> None:
    with pytest.raises(OutOfReach, match="at least 2 bytes"):
        best_randomizer(1, 1000, most_bytes=1)


def test_the_choice_builds_the_randomizer() -> None:
    built = best_randomizer(4, 3).randomizer(["a", "b", "c"])
    assert isinstance(built, GeneralizedResponse)
    assert built.epsilon == 4
    with pytest.raises(InvalidInput, match="number of categories"):
        best_randomizer(4, 3).randomizer(["a", "b"])


def test_the_reason_and_the_table_say_what_was_compared() -> None:
    choice = best_randomizer(1, 100)
    assert "Subset selection has the least variance: 3.59/n" in choice.why
    assert "3e^ε + 2 = 10.2 categories, so not here: there are 100" in choice.why
    assert "Local hashing would need 9 bytes in place of 13 and have 2.8 % more." in choice.why
    lines = choice.table().splitlines()
    assert len(lines) == 7
    assert max(map(len, lines)) <= 80
    assert lines[1].startswith("subset selection")


def test_variances_are_those_of_the_oracles() -> None:
    found = {one.kind: one for one in best_randomizer(2, 50).candidates}
    oracle = OptimalUnary(2, range(50))
    assert found["oue"].variance == oracle.estimator.variance(1)
    assert found["oue"].bytes_each == oracle.terms.bytes_each


@pytest.mark.parametrize("bad", [(0, 10), (1, 1), (1, 2.0), (-1, 5), ("x", 5), (1, 2**30)])
def test_refuses_what_is_no_question(bad: tuple[object, object]) -> None:
    with pytest.raises(InvalidInput):
        best_randomizer(*bad)
