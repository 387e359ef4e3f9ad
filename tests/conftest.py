"""What all tests of a process share.

One browser: two of them would not share its event loop. And a quiet collector: so many tests are collected that looking
through them for garbage, again and again, would take a sixth of the time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

gc.disable()


def pytest_collection_finish() -> None:
    """Tests stay to the end, so they are looked through once; from now on garbage is looked for as always."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    """At the end, what was frozen is garbage too; libraries in C complain of what is left."""
    gc.unfreeze()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from tests.survey.browser import launched  # most tests need none

    with launched() as found:
        yield found
