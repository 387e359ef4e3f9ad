"""The first k rows of a person count, in the order of periods: the SQL against plain Python, and what it may cost."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.query.run.first_rows import count_first, count_reached, weigh_first

WEIGHT = 2**16
Rows = list[tuple[int, int]]
"""Of whom, and in which period."""
HISTORIES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=40)


def weigh(rows: Rows, period: int, most: int, weight: int = WEIGHT) -> dict[int, int]:
    """By the SQL: what a row of each person weighs in a period."""
    text = f"WITH {_first(rows, period)}, {weigh_first('_rows', most, weight)} SELECT DISTINCT _unit, w FROM _weighted"
    return dict(duckdb.execute(text).fetchall())


def reached(rows: Rows, period: int, most: int) -> int:
    """By the SQL: how many people reached the limit in a period."""
    return int(duckdb.execute(f"WITH {_first(rows, period)} {count_reached(most)}").fetchone()[0])


def _first(rows: Rows, period: int) -> str:
    now = _values([who for who, when in rows if when == period])
    earlier = _values([who for who, when in rows if when < period]) if period else None
    return f"_rows AS ({now}), {count_first('_rows', earlier)}"


def _values(units: list[int]) -> str:
    return f"SELECT unnest({units}::BIGINT[]) AS _unit"


def weight_of(counts: Sequence[int], period: int, most: int, weight: int = WEIGHT) -> int:
    """By plain Python, from a person's own numbers of rows per period."""
    before, after = sum(counts[:period]), sum(counts[: period + 1])
    if after <= most:
        return weight
    return (most - before) * weight // counts[period] if before < most else 0


def _counts(rows: Rows, who: int) -> list[int]:
    return [sum(one == (who, period) for one in rows) for period in range(5)]


@settings(max_examples=60, deadline=None)
@given(HISTORIES, st.integers(1, 8))
def test_the_sql_weighs_as_the_rule_says(rows: Rows, most: int) -> None:
    for period in range(5):
        people = {who for who, when in rows if when == period}
        assert weigh(rows, period, most) == {who: weight_of(_counts(rows, who), period, most) for who in people}


@settings(max_examples=40, deadline=None)
@given(HISTORIES, HISTORIES, st.integers(1, 8), st.integers(0, 4))
def test_weights_look_at_own_rows_up_to_their_period_and_at_no_order(
    rows: Rows, others: Rows, most: int, period: int
) -> None:
    before = weigh(rows, period, most)
    later = [(who, period + 1 + when) for who, when in others]
    strangers = [(who + 100, when) for who, when in others]
    changed = weigh(sorted([*rows, *later, *strangers], key=hash), period, most)
    assert {who: w for who, w in changed.items() if who < 100} == before


@settings(max_examples=40, deadline=None)
@given(HISTORIES, st.integers(1, 8))
def test_all_rows_of_a_person_together_weigh_what_was_paid_for(rows: Rows, most: int) -> None:
    for who in range(4):
        counts = _counts(rows, who)
        total = sum(counts[period] * weigh(rows, period, most).get(who, 0) for period in range(5))
        assert total <= most * WEIGHT
        assert total == WEIGHT * sum(counts) or sum(counts) > most


@settings(max_examples=40, deadline=None)
@given(HISTORIES, st.integers(1, 8))
def test_a_person_reaches_the_limit_once(rows: Rows, most: int) -> None:
    times = [reached(rows, period, most) for period in range(5)]
    assert sum(times) == sum(sum(_counts(rows, who)) >= most for who in range(4))


def _all_moves(periods: int, most: int, weight: int) -> Iterator[list[list[int]]]:
    """How one person moves the sums of two cells in each period, with up to one row more than counts: every history."""
    cells = list(itertools.product(range(most + 2), repeat=2))
    for history in itertools.product(cells, repeat=periods):
        counts = [sum(each) for each in history]
        yield [
            [rows * weight_of(counts, period, most, weight) if counts[period] else 0 for rows in each]
            for period, each in enumerate(history)
        ]


@pytest.mark.parametrize("most", [1, 2, 3])
def test_every_small_history_moves_all_sums_by_no_more_than_the_noise_is_for(most: int) -> None:
    weight = 4
    found = list(_all_moves(3, most, weight))
    assert max(sum(map(sum, moves)) for moves in found) == most * weight
    assert max(sum(one * one for cell in moves for one in cell) for moves in found) == (most * weight) ** 2


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("in_cell", [1, 2])
def test_fewer_rows_in_a_cell_bound_the_squares_of_all_periods_together(most: int, in_cell: int) -> None:
    weight = 4
    lowered = [[min(one, in_cell * weight) for cell in moves for one in cell] for moves in _all_moves(3, most, weight)]
    assert max(sum(one * one for one in each) for each in lowered) <= in_cell * most * weight**2


@pytest.mark.parametrize("most", [1, 2, 3])
def test_rows_that_follow_what_was_released_cost_no_more(most: int) -> None:
    """The best adversary chooses the person's next rows after every release. Exact, for every sequence of outcomes.

    The log of the ratio of two discrete Laplace probabilities is (|y| - |y - m|) / scale, at most |m| / scale and equal
    to it where y is at least m. So the worst of all outcomes are reached by letting y be at either side.
    """
    weight, epsilon = 4, Fraction(1)
    scale = most * weight / epsilon

    def worst(counts: tuple[int, ...]) -> Fraction:
        if len(counts) == 4:
            return Fraction(0)
        found = []
        for rows in range(5):
            now = (*counts, rows)
            moved = rows * weight_of(now, len(counts), most, weight) if rows else 0
            for outcome in (0, moved, moved + 1):
                loss = Fraction(abs(outcome) - abs(outcome - moved)) / scale
                found.append(loss + worst(now))
        return max(found)

    assert worst(()) == epsilon


def test_weights_of_n_so_far_would_cost_more_than_was_paid_for() -> None:
    """The planted mistake: min(1, k / n) with n the rows so far. A visit a week weighs 11 rows in a year and not 3."""
    so_far = sum(Fraction(min(3, week), week) for week in range(1, 53))
    first = sum(Fraction(weight_of([1] * 52, week, 3), WEIGHT) for week in range(52))
    assert round(float(so_far), 1) == 11.1
    assert first == 3
