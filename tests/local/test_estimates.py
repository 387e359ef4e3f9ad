from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from discreet.errors import InvalidInput
from discreet.local.domains import bit_counts, has_clear_ends, packed_bits
from discreet.local.estimates import nearest_shares
from discreet.local.randomized_response import BinaryResponse, GeneralizedResponse
from discreet.mechanisms.k_randomized_response import CategoricalResponse
from discreet.noise.source import ReplayableSource

COLOURS = ("red", "green", "blue")
ORACLE = GeneralizedResponse(1, COLOURS)
REPORTS = ORACLE.privatize(["red"] * 60 + ["green"] * 30 + ["blue"] * 10, source=ReplayableSource(8))
ESTIMATES = ORACLE.estimate(REPORTS)

shares = st.lists(st.floats(-2, 2), min_size=1, max_size=6).map(np.array)


def test_estimates_are_those_of_the_mechanism() -> None:
    """The same numbers by the two doors to the same mathematics."""
    reported = [COLOURS[k] for k in ORACLE.outcomes(REPORTS)]
    mechanism = CategoricalResponse(1, COLOURS)
    assert ESTIMATES.shares == pytest.approx(list(mechanism.estimate_frequencies(reported).values()))
    assert ESTIMATES.counts == pytest.approx(list(mechanism.estimate_counts(reported).values()))
    for together in (False, True):
        theirs = list(mechanism.intervals(reported, 0.9, together=together).values())
        assert ESTIMATES.intervals(0.9, together=together).tolist() == [list(ends) for ends in theirs]


def test_all_intervals_hold_together_as_often_as_they_say() -> None:
    """Exactly: every upload of three people with its probability."""
    oracle = GeneralizedResponse(2, COLOURS)
    values, covered = ["red", "red", "blue"], 0.0
    truth = np.array([2, 0, 1]) / 3
    laws = [oracle.law(value) for value in values]
    for outcomes in itertools.product(range(3), repeat=3):
        ends = oracle.estimate(oracle.reports_of(outcomes)).intervals("0.8", together=True)
        if ((ends[:, 0] <= truth + 1e-12) & (truth - 1e-12 <= ends[:, 1])).all():
            covered += np.prod([law.pmf(outcome) for law, outcome in zip(laws, outcomes, strict=True)])
    assert covered >= 0.8


def test_deviations_are_those_of_the_estimated_shares() -> None:
    for share, deviation in zip(ESTIMATES.shares, ESTIMATES.deviations, strict=True):
        assert deviation == pytest.approx(ORACLE.estimator.standard_deviation(100, float(np.clip(share, 0, 1))))


def test_one_share_is_asked_by_name() -> None:
    assert ESTIMATES.share("green") == ESTIMATES.shares[1]
    with pytest.raises(InvalidInput):
        ESTIMATES.share("pink")


@given(shares)
def test_projected_shares_could_be_true(found) -> None:
    projected = nearest_shares(found)
    assert projected.sum() == pytest.approx(1)
    assert (projected >= 0).all()
    np.testing.assert_allclose(nearest_shares(projected), projected, atol=1e-12)


@given(shares, st.lists(st.floats(0, 1), min_size=6, max_size=6))
def test_projection_never_moves_away_from_the_truth(found, truth) -> None:
    true = np.array(truth[: len(found)]) + 1e-3
    true /= true.sum()
    assert np.sum((nearest_shares(found) - true) ** 2) <= np.sum((found - true) ** 2) + 1e-12


def test_projection_is_the_nearest_point() -> None:
    found = np.array([0.9, 0.5, -0.3, 0.1])
    best = minimize(
        lambda x: np.sum((x - found) ** 2),
        np.full(4, 0.25),
        bounds=[(0, 1)] * 4,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
        tol=1e-12,
    )
    assert nearest_shares(found) == pytest.approx(best.x, abs=1e-5)


def test_the_table_shows_the_largest_first() -> None:
    lines = str(ESTIMATES).splitlines()
    assert lines[1].startswith("red")
    assert lines[-1] == "100 reports; each interval holds with confidence 0.95"
    assert "… 2 more" in ESTIMATES.table(0.9, together=True, most=1)
    assert "all intervals hold together with confidence 0.9" in ESTIMATES.table(0.9, together=True)
    assert max(map(len, lines)) <= 80


def test_arrow_has_a_row_for_each_category() -> None:
    table = ESTIMATES.to_arrow(0.9)
    assert table.column_names == ["category", "share", "deviation", "low", "high", "count"]
    assert table["category"].to_pylist() == list(COLOURS)
    assert table["low"].to_pylist() == ESTIMATES.intervals(0.9)[:, 0].tolist()
    mixed = GeneralizedResponse(1, ["a", 1])
    assert mixed.estimate(mixed.privatize(["a", 1])).to_arrow()["category"].to_pylist() == ["a", "1"]


def test_sample_sizes_are_large_enough_and_no_larger() -> None:
    estimator = ORACLE.estimator
    n = estimator.sample_size(standard_deviation="0.01")
    worst = [max(estimator.standard_deviation(size, share) for share in (0, 1)) for size in (n, n - 1)]
    assert worst[0] <= 0.01 < worst[1]
    n = estimator.sample_size(error="0.05", confidence="0.99")
    assert estimator.error(n, "0.99") <= 0.05 < estimator.error(n - 1, "0.99")
    for bad in ({}, {"error": 1, "standard_deviation": 1}, {"error": 0}, {"standard_deviation": -1}):
        with pytest.raises(InvalidInput):
            estimator.sample_size(**bad)


@pytest.mark.parametrize("confidence", [0, 1, -1, "x", None])
def test_refuses_a_confidence_that_is_none(confidence: object) -> None:
    with pytest.raises(InvalidInput):
        ESTIMATES.intervals(confidence)


def test_an_honest_crowd_is_counted_without_error() -> None:
    """At ε = 10⁶ nobody lies in practice, and the rates are 1 and 0 as floats."""
    oracle = BinaryResponse(10**6)
    estimates = oracle.estimate(oracle.privatize([True, True, False]))
    assert estimates.shares.tolist() == [1 / 3, 2 / 3]
    assert estimates.intervals().tolist() == [[1 / 3, 1 / 3], [2 / 3, 2 / 3]]


@given(st.integers(1, 20), st.integers(0, 9), st.randoms(use_true_random=False))
def test_bits_are_counted_as_they_were_packed(bits, rows, chance) -> None:
    matrix = np.array([[chance.random() < 0.5 for _ in range(bits)] for _ in range(rows)], np.bool_).reshape(rows, bits)
    packed = packed_bits(matrix)
    assert bit_counts(packed, bits).tolist() == matrix.sum(axis=0).tolist()
    assert has_clear_ends(packed, bits)
    for row in range(rows if bits % 8 else 0):
        spoiled = packed.copy()
        spoiled[row, -1] |= 0x80
        assert not has_clear_ends(spoiled, bits)
