"""The reference is written from the code and cannot lag behind it."""

from __future__ import annotations

import pytest
from tools.reference import REFERENCE, pages

PAGES = pages()


@pytest.mark.parametrize("name", sorted(PAGES))
def test_reference_page_is_up_to_date(name: str) -> None:
    assert (REFERENCE / name).read_text() == PAGES[name], "run `make docs` and commit the result"


@pytest.mark.parametrize("name", sorted(PAGES))
def test_nothing_of_the_machine_is_in_a_page(name: str) -> None:
    for word in (str(REFERENCE.parents[1]), "environ({", " at 0x"):
        assert word not in PAGES[name]
