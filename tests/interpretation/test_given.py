"""Numbers that mean nothing are refused with a sentence."""

from __future__ import annotations

from typing import Any

import pytest

import discreet as dp
from discreet.errors import InvalidInput

MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"epsilon": 0}, "epsilon must be positive, got 0"),
    ({"epsilon": -1}, "epsilon must be positive, got -1"),
    ({"epsilon": float("nan")}, "epsilon must be finite, got nan"),
    ({"epsilon": float("inf")}, "epsilon must be finite, got inf"),
    ({"epsilon": "abc"}, "epsilon must be a decimal or a fraction, got 'abc'"),
    ({"epsilon": "1e-7"}, "epsilon must lie from 1e-6 to 1,000 to be explained, got '1e-7'"),
    ({"epsilon": 1001}, "epsilon must lie from 1e-6 to 1,000 to be explained, got 1001"),
    ({"epsilon": None}, "epsilon must be a number or a decimal string"),
    ({"delta": -0.1}, "delta must lie between 0 and 1, got -0.1"),
    ({"delta": 1}, "delta must be below 1, got 1"),
    ({"delta": 2}, "delta must lie between 0 and 1, got 2"),
    ({"delta": "x"}, "delta must be a decimal or a fraction, got 'x'"),
    ({"group": 0}, "group must be at least 1, got 0"),
    ({"group": 1.5}, "group must be an integer, got 1.5"),
    ({"group": 10_001}, "group times epsilon must be at most 10,000, got 10001"),
    ({"prior": 0}, "prior must lie strictly between 0 and 1, got 0"),
    ({"prior": 1}, "prior must lie strictly between 0 and 1, got 1"),
    ({"prior": -0.5}, "prior must lie between 0 and 1, got -0.5"),
    ({"n": 0}, "n must be at least 1, got 0"),
    ({"n": 10**16}, "n must be at most"),
    ({"n": "5"}, "n must be an integer, got '5'"),
]


@pytest.mark.parametrize(("asked", "words"), MISTAKES, ids=str)
def test_bad_numbers_are_refused(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        dp.understand(**{"epsilon": 1, **asked})
    assert str(refusal.value).startswith(words)


def test_numbers_may_be_typed_in_any_exact_way() -> None:
    assert dp.understand("1/2", "1e-6", prior="1/3") == dp.understand(0.5, 0.000001, prior="1/3")
