"""Quantiles keep the promise on their proof sheet, and handle ties, empty tables and huge ranges."""

from __future__ import annotations

import math
import time
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest

from discreet.errors import InvalidInput, InvalidValue
from discreet.mechanisms import quantile as module
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.quantile import Maximum, Median, Minimum, Quantile
from discreet.noise.source import ReplayableSource
from discreet.privacy.loss import Pure, ZeroConcentrated
from tests.mechanisms.contract import FALSE_ALARM, MechanismContract, chi_square_rejects, privacy_violation
from tests.thoroughness import many

BAD_VALUES: list[Any] = [
    [1.0, math.nan],
    [1.0, math.inf],
    [1, None],
    ["1", "2"],
    [True, False],
    [[1, 2], [3, 4]],
    [[1, 2], [3]],
    5,
    None,
    {1, 2},
]


class TestMedian(MechanismContract):
    tight = False  # e^ε is the limit of wide gaps; see the test of one below
    draws = many(2000, 4000)  # finds a law of 10 outcomes that is 20 % off on average with probability 0.99

    def mechanism(self) -> Quantile:
        return Median(1, lower=0, upper=9)

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [([2, 3, 3, 7], [2, 3, 3]), ([], [5]), ([0, 0, 9], [0, 0, 9, 9]), ([4] * 6, [4] * 5)]

    def outcomes(self) -> list[Any]:
        return list(range(10))

    def bad_inputs(self) -> list[Any]:
        return BAD_VALUES


class TestUpperTailOfReals(TestMedian):
    def mechanism(self) -> Quantile:
        return Quantile(2, 0.9, lower=-1, upper=1, grid=0.25, neighbours="replace-one")

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        table = [-0.9, -0.3, 0.1, 0.1, 0.4, 0.41, 0.7]
        return [(table, [0.9, *table[1:]]), (table, [*table[:-1], -5.0]), ([0.1], [-0.1])]

    def outcomes(self) -> list[Any]:
        return [k / 4 for k in range(-4, 5)]


class TestMinimum(TestMedian):
    def mechanism(self) -> Quantile:
        return Minimum(3, lower=0, upper=9, inward=2)

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [([2, 3, 5, 7, 8], [3, 5, 7, 8]), ([2], []), ([2, 2, 2], [2, 2])]


class TestMaximum(TestMinimum):
    def mechanism(self) -> Quantile:
        return Maximum(3, lower=0, upper=9, neighbours="replace-one")

    def worst_neighbours(self) -> list[tuple[Any, Any]]:
        return [([2, 3, 5, 7, 8], [2, 3, 5, 7, 0]), ([2], [9])]


@pytest.mark.parametrize("q", [0, "1/3", 0.5, 0.75, 1])
@pytest.mark.parametrize("inward", [0, 1])
@pytest.mark.some(4)
def test_promise_holds_over_all_small_tables(q: Any, inward: int) -> None:
    joining = Quantile(2, q, 0, 3, inward=inward)
    replacing = Quantile(2, q, 0, 3, neighbours="replace-one", inward=inward)
    for size in range(4):
        for table in combinations_with_replacement(range(4), size):
            others = [[*table, x] for x in range(4)]
            for other in others:
                assert privacy_violation(joining, table, other, range(4)) is None
                assert privacy_violation(joining, other, table, range(4)) is None
            for other in others[1:]:
                assert privacy_violation(replacing, others[0], other, range(4)) is None
                assert privacy_violation(replacing, other, others[0], range(4)) is None


def test_the_price_is_reached_as_a_gap_widens() -> None:
    """A point left of the data moves away from the target by Δ, and a wide gap in the middle moves closer by Δ."""
    reached = []
    for end in (20, 200, 2000):
        mechanism = Median(1, 0, end)
        few, more = [1] * 4 + [end] * 3, [1] * 4 + [end] * 4
        laws = [mechanism.distribution(table).pmf(0) for table in (few, more)]
        reached.append(math.log(laws[0] / laws[1]))
    assert reached == sorted(reached)
    assert 0.999 < reached[-1] <= 1


@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove-one"])
@pytest.mark.parametrize("q", [Fraction(1, 5), Fraction(1, 2), Fraction(1)])
def test_stated_sensitivity_is_the_true_one(q: Fraction, neighbours: str) -> None:
    def distance(table: list[int], point: int) -> Fraction:
        below, not_above = sum(x < point for x in table), sum(x <= point for x in table)
        return max(below - q * len(table), q * len(table) - not_above, Fraction(0))

    moves = []
    for table in combinations_with_replacement(range(4), 5):
        start = list(table[:-1]) if neighbours == "add-remove-one" else [*table[:-1], 0]
        for x in range(4):
            moves += [abs(distance(start, p) - distance([*table[:-1], x], p)) for p in range(4)]
    assert max(moves) == Quantile(1, q, 0, 3, neighbours=neighbours).sensitivity


def test_the_law_is_an_exponential_mechanism_over_the_range() -> None:
    table, q = [1, 4, 4, 4, 9, 11, 12], Fraction(3, 10)
    by_rank = [
        -max(sum(x < v for x in table) - q * 7, q * 7 - sum(x <= v for x in table), Fraction(0)) for v in range(15)
    ]
    law = Quantile("3/2", q, 0, 14).distribution(table)
    direct = Exponential("3/2", sensitivity=1 - q).distribution(by_rank)
    assert [law.pmf(v) for v in range(15)] == pytest.approx([direct.pmf(v) for v in range(15)], rel=1e-12)


def test_a_table_of_equal_values_gives_that_value() -> None:
    """Scoring by -|#(x < v) - qn| alone would call the common value as bad as the ends of the range."""
    table = [40] * 100
    law = Median(1, lower=0, upper=120).distribution(table)
    assert law.pmf(40) > 1 - 1e-15
    naive = Exponential(1, sensitivity="1/2").distribution([-abs(sum(x < v for x in table) - 50) for v in range(121)])
    assert naive.pmf(40) < 0.01


def test_an_empty_table_gives_every_point_the_same_chance() -> None:
    for mechanism in (Median(1, 0, 9), Minimum(1, 0, 9), Maximum(1, 0, 9)):
        law = mechanism.distribution([])
        assert all(law.pmf(v) == pytest.approx(0.1, rel=1e-12) for v in range(10))
        assert mechanism.release([]) in range(10)


def test_extremes_stay_inside_the_data() -> None:
    """Aiming at rank 0 would give any point below the data the same chance as the smallest value."""
    table = list(range(400, 600))
    for mechanism, inside in ((Minimum(1, 0, 1000), range(400, 500)), (Maximum(1, 0, 1000), range(500, 600))):
        law = mechanism.distribution(table)
        assert sum(law.pmf(v) for v in inside) > 0.99
    unmoved = Minimum(1, 0, 1000, inward=0).distribution(table)
    assert sum(unmoved.pmf(v) for v in range(400)) > 0.95


def test_extremes_of_small_tables_fall_back_to_the_median() -> None:
    assert Minimum(1, 0, 1000).target(6) == 3
    assert Maximum(1, 0, 1000).target(6) == 3
    assert Minimum(1, 0, 1000).target(10**6) == math.ceil(Minimum(1, 0, 1000).error(0.95))


def test_default_move_inward_is_the_error_at_95_percent() -> None:
    """The worst table for the bound: all the range lies below the data, one point is at the target."""
    mechanism = Minimum(1, 0, 1000)
    assert mechanism.inward == math.ceil(2 * math.log(1000 * 19))
    worst = mechanism.distribution([1000] * 200)
    assert sum(worst.pmf(v) for v in range(1000)) <= 0.05


@pytest.mark.parametrize("rare", [1, 2**10])
def test_points_out_of_reach_keep_their_exact_probability(rare: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a short reach most answers come through the coin that makes up for the bound; the law is the same."""
    monkeypatch.setattr(module, "_RARE", Fraction(rare, 40))
    mechanism = Quantile("1/2", "1/3", 0, 40)
    table = [3, 3, 9, 14, 20, 20, 20, 31, 33, 37] * 3
    law = mechanism.distribution(table)
    source = ReplayableSource("out of reach")
    answers = [mechanism.release(table, source=source) for _ in range(many(2000, 4000))]
    assert not chi_square_rejects(answers, {v: law.pmf(v) for v in range(41)}, FALSE_ALARM)


def test_answers_lie_on_the_grid_and_in_the_range() -> None:
    mechanism = Median("1/10", lower=-1, upper=1, grid=2**-5)
    answers = np.asarray([mechanism.release([-7.3, 0.21, 0.22, 1e300]) for _ in range(300)])
    assert (answers * 32 == np.rint(answers * 32)).all()
    assert (np.abs(answers) <= 1).all()


def test_values_beyond_the_range_count_as_its_ends() -> None:
    mechanism = Median(1, 0, 9)
    law, same = mechanism.distribution([-(10**30), 5, 10**30]), mechanism.distribution([0, 5, 9])
    assert [law.pmf(v) for v in range(10)] == [same.pmf(v) for v in range(10)]


def test_ends_of_the_range_may_lie_off_the_grid() -> None:
    assert Median(1, lower=0.3, upper=2.9).size == 2
    assert set(Median(1, lower=0.3, upper=2.9).distribution([1]).outcomes) == {1, 2}


def test_huge_ranges() -> None:
    whole = Median(5, lower=-(2**61), upper=2**61 - 1)
    assert whole.size == 2**62
    assert whole.release([123] * 200) == 123
    assert -(2**61) <= whole.release([]) < 2**61
    fine = Median(5, lower=0, upper=1, grid=2**-61)
    assert fine.release([0.5] * 200) == 0.5


def test_ten_million_values_take_seconds() -> None:
    values = np.random.default_rng(1).integers(0, 2**40, 10**7)
    started = time.process_time()
    answer = Median(1, lower=0, upper=2**40).release(values)
    assert time.process_time() - started < 10  # about 0.5 on an idle machine
    assert abs((values < answer).sum() - 5 * 10**6) < 100  # false alarm: below 1e-29 by the bound of `error`


def test_error_is_in_ranks_and_bounds_every_table() -> None:
    mechanism = Median(1, 0, 30)
    error = mechanism.error(0.9)
    for table in ([], [3] * 9, list(range(0, 30, 2)), [0] * 20 + [30] * 20, [10] * 15 + [11]):
        law = mechanism.distribution(table)
        n = len(table)
        missed = {v: max(sum(x < v for x in table) - n / 2, n / 2 - sum(x <= v for x in table), 0) for v in range(31)}
        assert sum(law.pmf(v) for v in range(31) if missed[v] <= error) >= 0.9


def test_loss_and_concentrated_loss() -> None:
    assert Median(0.1, 0, 9, neighbours="replace-one").loss == Pure("1/10", "replace-one")
    assert Median(2, 0, 9, neighbours="replace-one").concentrated_loss() == ZeroConcentrated("1/2", "replace-one")


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "1e400", 5e-324, True, None, "one"])
def test_refuses_prices_that_mean_nothing(epsilon: Any) -> None:
    with pytest.raises(InvalidInput):
        Median(epsilon, 0, 9)


@pytest.mark.parametrize(
    "wrong",
    [
        {"q": -0.1},
        {"q": 1.1},
        {"q": math.nan},
        {"q": 1 / 3},
        {"q": None},
        {"lower": 10},
        {"lower": math.inf},
        {"lower": 0.2, "upper": 0.8},
        {"upper": 2**63},
        {"lower": -(2**62), "upper": 2**62},
        {"grid": 3},
        {"neighbours": "friends"},
        {"inward": -1},
        {"inward": 1.5},
    ],
)
def test_refuses_settings_without_meaning(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        Quantile(**({"epsilon": 1, "q": 0.5, "lower": 0, "upper": 9} | wrong))


def test_long_laws_are_refused() -> None:
    with pytest.raises(InvalidValue, match="release has no such limit"):
        Median(1, 0, 10**6).distribution([1, 2])


@pytest.mark.parametrize("newcomer", [0.5, 2**63])
def test_one_odd_number_leaves_the_other_rows_where_they_are(newcomer: float) -> None:
    median = Median(1, lower=2**60, upper=2**60 + 9)
    table = [2**60 + 3] * 8 + [-1]
    outcomes = range(2**60, 2**60 + 10)
    assert privacy_violation(median, [*table, newcomer], table, outcomes) is None
    assert privacy_violation(median, table, [*table, newcomer], outcomes) is None
