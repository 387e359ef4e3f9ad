"""One browser and one served survey for all tests of a run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.survey.browser import Watched
from tests.survey.serving import Made, Serving, made


@pytest.fixture
def watched(browser: Browser) -> Iterator[Watched]:
    context = browser.new_context()
    yield Watched(context.new_page())
    context.close()


@pytest.fixture(scope="session")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return made(tmp_path_factory.mktemp("surveys") / "health", invitations=400)


@pytest.fixture(scope="session")
def serving(survey: Made) -> Iterator[Serving]:
    with Serving(survey.folder) as found:
        yield found


@pytest.fixture
def token(survey: Made) -> str:
    """An invitation that no other test uses."""
    return survey.tokens.pop()
