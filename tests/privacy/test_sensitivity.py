"""Every declared sensitivity is exactly the largest move over all small neighbouring datasets."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidInput, NoProvedPath
from discreet.exact.ball import sqrt_up
from discreet.privacy.neighbours import Neighbours
from discreet.privacy.sensitivity import Norm, Sensitivity

Dataset = tuple[int, ...]
Query = Callable[[Dataset], Sequence[Fraction | int]]

REPLACE, ADD = Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE_ONE
BOTH = [REPLACE, ADD]
VALUES = range(-2, 4)
LARGEST = 3


def neighbours(relation: Neighbours, values: Sequence[int], largest: int) -> Iterator[tuple[Dataset, Dataset]]:
    """All pairs of neighbouring datasets with at most ``largest`` rows, as multisets in every order."""
    for size in range(1, largest + 1):
        for data in itertools.product(values, repeat=size):
            rest = data[1:]
            if relation is ADD:
                yield data, rest
            else:
                yield from ((data, (other, *rest)) for other in values)


def largest_move(query: Query, relation: Neighbours, norm: Norm, values: Sequence[int], largest: int = LARGEST) -> Any:
    length: dict[Norm, Callable[[list[Any]], Any]] = {
        Norm.L1: lambda moves: sum(map(abs, moves)),
        Norm.L2: lambda moves: sum(m * m for m in moves),  # squared, to stay rational
        Norm.LINF: lambda moves: max(map(abs, moves)),
    }
    return max(
        length[norm]([a - b for a, b in zip(query(x), query(y), strict=True)])
        for x, y in neighbours(relation, values, largest)
    )


def declares(sensitivity: Sensitivity, found: Any) -> bool:
    """Whether the declared value is exactly the largest move; in L2, the root of it rounded up."""
    expected = sqrt_up(Fraction(found)) if sensitivity.norm is Norm.L2 else Fraction(found)
    return sensitivity.value == expected


@pytest.mark.parametrize("relation", BOTH)
def test_a_count_moves_by_one(relation: Neighbours) -> None:
    found = largest_move(lambda data: [sum(x > 0 for x in data)], relation, Norm.L1, VALUES)
    assert declares(Sensitivity.count(relation), found)


@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("norm", Norm)
def test_k_counts_move_by_k_because_one_unit_may_have_all_properties(relation: Neighbours, norm: Norm) -> None:
    def three_counts(data: Dataset) -> list[int]:
        return [sum(x > 0 for x in data), sum(x > 1 for x in data), sum(x % 2 for x in data)]

    found = largest_move(three_counts, relation, norm, VALUES)
    assert declares(Sensitivity.counts(3, relation, norm), found)


@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("norm", Norm)
@pytest.mark.parametrize("kinds", [2, 5])
def test_a_histogram_moves_by_two_or_one_however_many_bins(relation: Neighbours, norm: Norm, kinds: int) -> None:
    def histogram(data: Dataset) -> list[int]:
        counted = Counter(data)
        return [counted[kind] for kind in range(kinds)]

    found = largest_move(histogram, relation, norm, range(kinds))
    assert declares(Sensitivity.histogram(relation, norm), found)


@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize(("low", "high"), [(-2, 3), (-3, 2), (0, 4), (2, 5), (-5, -2), (1, 1)])
def test_a_sum_moves_by_the_width_or_by_the_largest_value(relation: Neighbours, low: int, high: int) -> None:
    found = largest_move(lambda data: [sum(data)], relation, Norm.L1, range(low, high + 1))
    assert declares(Sensitivity.sum(low, high, relation), found)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_mean_of_public_size_moves_by_the_width_over_the_size(size: int) -> None:
    pairs = ((x, y) for x, y in neighbours(REPLACE, VALUES, size) if len(x) == size)
    found = max(abs(Fraction(sum(x), size) - Fraction(sum(y), size)) for x, y in pairs)
    assert declares(Sensitivity.mean(-2, 3, size, "replace-one"), found)


def test_a_mean_of_private_size_is_refused() -> None:
    with pytest.raises(InvalidInput, match="release a sum and a count"):
        Sensitivity.mean(0, 1, 10, "add-remove-one")


@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("side", ["lower", "upper"])
def test_a_median_moves_from_end_to_end(relation: Neighbours, side: str) -> None:
    def median(data: Dataset) -> list[int]:
        middle = (len(data) - 1) // 2 if side == "lower" else len(data) // 2
        return [sorted(data)[middle] if data else 0]

    found = largest_move(median, relation, Norm.L1, VALUES)
    assert declares(Sensitivity.median(-2, 3, relation), found)


@pytest.mark.parametrize("relation", BOTH)
def test_a_median_between_the_middle_two_never_moves_further(relation: Neighbours) -> None:
    def median(data: Dataset) -> Fraction:
        ranked = sorted(data)
        return Fraction(ranked[(len(data) - 1) // 2] + ranked[len(data) // 2], 2)

    pairs = [(x, y) for x, y in neighbours(relation, VALUES, 4) if x and y]
    assert max(abs(median(x) - median(y)) for x, y in pairs) <= Sensitivity.median(-2, 3, relation).value


@pytest.mark.parametrize("relation", BOTH)
@pytest.mark.parametrize("norm", Norm)
def test_a_vector_moves_by_its_parts_together(relation: Neighbours, norm: Norm) -> None:
    parts = [Sensitivity.count(relation), Sensitivity.sum(0, 4, relation)]
    found = largest_move(lambda d: [sum(x >= 1 for x in d), sum(d)], relation, norm, range(5))
    assert declares(Sensitivity.vector(parts, norm), found)


def test_a_vector_takes_parts_in_a_norm_that_is_never_smaller() -> None:
    histogram = Sensitivity.histogram(REPLACE, Norm.L2)
    both = Sensitivity.vector([histogram, Sensitivity.count(REPLACE)], Norm.L2)
    assert both.value**2 >= 3
    with pytest.raises(InvalidInput, match="bounded in L1"):
        Sensitivity.vector([histogram], Norm.L1)
    with pytest.raises(InvalidInput, match="bounded in L2"):
        Sensitivity.vector([Sensitivity.counts(3, REPLACE, Norm.LINF)], Norm.L2)


def test_a_vector_needs_parts_of_one_relation() -> None:
    with pytest.raises(InvalidInput, match="share one relation"):
        Sensitivity.vector([Sensitivity.count(REPLACE), Sensitivity.count(ADD)])
    with pytest.raises(InvalidInput, match="share one relation"):
        Sensitivity.vector([])


# The calculus.


@given(st.fractions(min_value=-9, max_value=9, max_denominator=10))
def test_scaling_an_answer_scales_its_move(factor: Fraction) -> None:
    found = largest_move(lambda d: [factor * sum(d)], ADD, Norm.L1, VALUES, 1)
    assert declares(Sensitivity.sum(-2, 3, ADD).scaled(factor), found)


def test_a_group_moves_an_answer_at_most_that_many_times_as_far() -> None:
    data = list(itertools.product(VALUES, repeat=2))
    found = max(abs(sum(x) - sum(y)) for x in data for y in data)  # both rows replaced
    assert declares(Sensitivity.sum(-2, 3, REPLACE).for_group(2), found)


def test_replacing_is_removing_and_adding() -> None:
    for added in (Sensitivity.histogram(ADD), Sensitivity.sum(-2, 3, ADD), Sensitivity.count(ADD)):
        replaced = added.under("replace-one")
        assert replaced.neighbours is REPLACE
        assert replaced.value == 2 * added.value
    assert Sensitivity.histogram(ADD).under(REPLACE) == Sensitivity.histogram(REPLACE)
    assert Sensitivity.count(ADD).under(ADD) == Sensitivity.count(ADD)


def test_a_bound_for_replacing_says_nothing_about_adding() -> None:
    """The number of rows moves by 0 when one is replaced and by 1 when one is added."""
    assert largest_move(lambda d: [len(d)], REPLACE, Norm.L1, VALUES) == 0
    assert largest_move(lambda d: [len(d)], ADD, Norm.L1, VALUES) == 1
    with pytest.raises(NoProvedPath, match="add-remove-one"):
        Sensitivity(Fraction(0), REPLACE).under("add-remove-one")


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=6), st.sampled_from(list(Norm)), st.sampled_from(list(Norm)))
def test_changing_the_norm_keeps_the_bound(moves: list[int], known: Norm, wanted: Norm) -> None:
    length = {Norm.L1: sum(map(abs, moves)), Norm.L2: math.hypot(*moves), Norm.LINF: max(map(abs, moves))}
    declared = sqrt_up(sum(m * m for m in moves)) if known is Norm.L2 else Fraction(length[known])
    moved = Sensitivity(declared, REPLACE, known).in_norm(wanted, len(moves))
    assert moved.norm is wanted
    assert float(moved.value) >= length[wanted] * (1 - 1e-12)


def test_norm_changes_are_tight_for_equal_moves_and_for_one_move() -> None:
    assert Sensitivity(Fraction(1), REPLACE, Norm.LINF).in_norm("L1", 4).value == 4
    assert Sensitivity(Fraction(1), REPLACE, Norm.LINF).in_norm("L2", 4).value == 2
    assert Sensitivity(Fraction(2), REPLACE, Norm.L2).in_norm("L1", 4).value == 4
    assert Sensitivity(Fraction(1), REPLACE, Norm.L1).in_norm("L∞", 4).value == 1


# Bad input and words.


@pytest.mark.parametrize("bad", [-1, math.nan, math.inf, "1e400", None, True, "one"])
def test_refuses_sizes_that_mean_nothing(bad: Any) -> None:
    with pytest.raises(InvalidInput):
        Sensitivity(bad, REPLACE)
    with pytest.raises(InvalidInput):
        Sensitivity.sum(0, bad, "replace-one")


@pytest.mark.parametrize("bad", [0, -1, 1.5, "3", None])
def test_refuses_numbers_of_answers_that_mean_nothing(bad: Any) -> None:
    for refused in (
        lambda: Sensitivity.counts(bad, REPLACE),
        lambda: Sensitivity.mean(0, 1, bad, REPLACE),
        lambda: Sensitivity.count(REPLACE).for_group(bad),
        lambda: Sensitivity.count(REPLACE).in_norm(Norm.L1, bad),
    ):
        with pytest.raises(InvalidInput):
            refused()


def test_refuses_bounds_in_the_wrong_order_and_unknown_names() -> None:
    with pytest.raises(InvalidInput, match="lower must not exceed upper"):
        Sensitivity.sum(3, 2, REPLACE)
    with pytest.raises(InvalidInput, match="norm must be"):
        Sensitivity.counts(3, REPLACE, "L3")
    with pytest.raises(InvalidInput, match="neighbours must be"):
        Sensitivity.count("replace-two")


def test_a_sensitivity_says_its_norm_and_its_relation() -> None:
    assert str(Sensitivity.histogram("replace-one")) == "2 in L1 under replace-one"
    assert str(Sensitivity.counts(2, ADD, Norm.L2)) == "1.4143 in L2 under add-remove-one"
    assert Sensitivity.counts(2, ADD, "L2") == Sensitivity.counts(2, ADD, Norm.L2)
