"""The reference is written from the code and cannot lag behind it."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    from tools.reference import pages  # which imports every module, and most processes of a run need none of it

    return pages()


def test_reference_pages_are_up_to_date(pages: dict[str, str]) -> None:
    from tools.reference import REFERENCE

    stored = {name: (REFERENCE / name).read_text() for name in pages}
    assert [name for name in pages if stored[name] != pages[name]] == [], "run `make docs` and commit the result"


def test_nothing_of_the_machine_is_in_a_page(pages: dict[str, str]) -> None:
    from tools.reference import REFERENCE

    words = (str(REFERENCE.parents[1]), "environ({", " at 0x")
    assert [(name, word) for name, text in pages.items() for word in words if word in text] == []
