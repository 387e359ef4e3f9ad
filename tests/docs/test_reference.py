"""The reference is written from the code and cannot lag behind it."""

from __future__ import annotations

import pytest
from tools.reference import REFERENCE, pages

PAGES = pages()


@pytest.mark.parametrize("name", sorted(PAGES))
def test_reference_page_is_up_to_date(name: str) -> None:
    assert (REFERENCE / name).read_text() == PAGES[name], "run `make docs` and commit the result"
