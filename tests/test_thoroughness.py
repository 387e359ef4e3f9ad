"""What `make test` leaves to `make test-all` is spread evenly, and never everything."""

from __future__ import annotations

import pytest

from tests import thoroughness
from tests.thoroughness import many, some


@pytest.mark.parametrize("most", [1, 2, 3, 7])
def test_some_cases_are_few_different_and_in_order(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thoroughness, "IS_THOROUGH", False)
    found = some(range(50), most)
    assert len(found) == most
    assert found == sorted(set(found))
    assert found[0] == 0
    assert most == 1 or found[-1] == 49
    assert some("ab", 2) == ["a", "b"]


def test_a_thorough_run_takes_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thoroughness, "IS_THOROUGH", True)
    assert some(range(50), 3) == list(range(50))
    assert many(3, 50) == 50
