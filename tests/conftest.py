"""One browser for all tests of a process: two of them would not share its event loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from tests.survey.browser import launched  # most tests need none

    with launched() as found:
        yield found
