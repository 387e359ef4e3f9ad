"""Local against central error: figures, growth, page and table."""

from __future__ import annotations

import itertools
import json
import math

import pytest

from discreet.errors import InvalidInput
from discreet.local.choose import compare
from discreet.local.randomized_response import BinaryResponse
from discreet.mechanisms.laplace import Laplace


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", 1, 4])
def test_the_figures_are_those_of_the_mechanisms(epsilon: float | str) -> None:
    e = float(epsilon)
    for row in compare(10_000, epsilon).rows:
        oracle = BinaryResponse(epsilon).estimator
        assert row.local == pytest.approx(math.sqrt(oracle.variance(row.n, 0.3)) * row.n)
        assert row.local == pytest.approx(math.exp(e / 2) / math.expm1(e) * math.sqrt(row.n))
        assert row.central == pytest.approx(math.sqrt(2 * math.exp(-e)) / -math.expm1(-e))
        assert row.central == pytest.approx(math.sqrt(Laplace(epsilon).law.variance))


def test_without_a_curator_the_error_grows_with_the_root_of_the_crowd() -> None:
    rows = compare(10**8, 1).rows
    assert [row.n for row in rows] == [10**power for power in range(2, 9)]
    for first, second in itertools.pairwise(rows):
        assert second.local / first.local == pytest.approx(math.sqrt(second.n / first.n))
        assert second.central == first.central


def test_both_errors_are_inverse_to_a_small_epsilon() -> None:
    first, second = (compare(1000, epsilon).rows[-1] for epsilon in ("0.01", "0.001"))
    assert second.local / first.local == pytest.approx(10, rel=0.001)
    assert second.central / first.central == pytest.approx(10, rel=0.001)


def test_mixed_reports_lie_between() -> None:
    for row in compare(10**6, "0.5", delta=1e-6).rows:
        assert row.mixed is not None
        assert row.central < row.mixed <= row.local
    assert compare(10**6, "0.5", delta=1e-6).rows[-1].mixed < 20


def test_a_large_epsilon_can_be_drawn() -> None:
    assert "with a curator" in compare(100, 100, delta=1e-6).to_html()


def test_odd_crowds_are_shown_too() -> None:
    assert [row.n for row in compare(2500, 1).rows] == [100, 1000, 2500]
    assert [row.n for row in compare(7, 1).rows] == [1, 7]
    assert [row.n for row in compare(1, 1).rows] == [1]


def test_it_is_a_table_a_page_and_figures() -> None:
    found = compare(10**6, 1, delta="1e-6")
    text = str(found)
    assert max(map(len, text.splitlines())) <= 100
    assert "960 without a curator and by 1.36 with one: 707 times" in " ".join(text.split())
    assert [line.split()[0] for line in text.splitlines() if line.endswith(("707", "7.07"))] == ["100", "1,000,000"]
    page = found.to_html()
    assert page.startswith("<!doctype html>")
    for words in ("without a curator", "mixed reports", "with a curator", "1,000,000", "707"):
        assert words in page
    figures = json.loads(found.to_json())
    assert list(figures["rows"][-1]) == ["n", "local", "mixed", "central", "ratio"]
    assert figures["rows"][-1]["ratio"] == pytest.approx(707, rel=0.01)
    assert "mixed" not in str(compare(1000, 1))
    assert json.loads(compare(1000, 1).to_json())["delta"] is None


@pytest.mark.parametrize(
    ("n", "epsilon", "delta"), [(0, 1, None), (10, 0, None), (10, 1, 0), (10, 1, 1), (1.5, 1, None), (10, 101, None)]
)
def test_bad_input_is_refused(n: int, epsilon: float, delta: float | None) -> None:
    with pytest.raises(InvalidInput):
        compare(n, epsilon, delta=delta)
