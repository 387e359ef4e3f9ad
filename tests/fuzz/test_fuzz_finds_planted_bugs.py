"""The fuzzer finds every bug that is planted, and finds nothing of its kind where it is not."""

from __future__ import annotations

import pytest

from tests.fuzz.places import DuckDBPlaces
from tests.fuzz.planted import PLANTED, Planted, is_found


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.name)
def test_a_planted_bug_is_found(planted: Planted) -> None:
    assert is_found(planted, DuckDBPlaces(), planted.seed)
