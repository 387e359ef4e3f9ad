"""The reference is written from the code and cannot lag behind it."""

from __future__ import annotations

import pytest
from tools.reference import REFERENCE, pages


@pytest.mark.parametrize("name", sorted(pages()))
def test_reference_page_is_up_to_date(name: str) -> None:
    assert (REFERENCE / name).read_text() == pages()[name], "run `make docs` and commit the result"
