"""One browser and one served hospital for all tests of a run, and pages that are signed in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.console.serving import Serving
from tests.service.hospital import Hospital, founded
from tests.survey.browser import launched

Enter = Callable[..., Page]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with launched() as found:
        yield found


@pytest.fixture(scope="session")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Hospital:
    """A hospital whose members are owner, ana, ben and auditor."""
    return founded(tmp_path_factory.mktemp("console") / "hospital")


@pytest.fixture(scope="session")
def serving(hospital: Hospital) -> Iterator[Serving]:
    """The console of that hospital."""
    with Serving(hospital) as found:
        yield found


@pytest.fixture
def contexts(browser: Browser, serving: Serving) -> Iterator[Callable[..., BrowserContext]]:
    """Makes browsers that know nothing of each other; options are those of playwright."""
    opened: list[BrowserContext] = []

    def context(**options: Any) -> BrowserContext:
        options = {"base_url": serving.address, "viewport": {"width": 1280, "height": 800}} | options
        opened.append(browser.new_context(**options))
        return opened[-1]

    yield context
    for one in opened:
        one.close()


@pytest.fixture
def enter(contexts: Callable[..., BrowserContext], hospital: Hospital) -> Enter:
    """Opens a page in a browser of its own, signed in as a member: ``enter("ana", "/budget", color_scheme="dark")``."""

    def entered(member: str, path: str = "/", **options: Any) -> Page:
        page = contexts(**options).new_page()
        sign_in(page, hospital.tokens[member], path)
        return page

    return entered


def sign_in(page: Page, token: str, path: str = "/") -> None:
    """Sign in on a page that is not signed in, and go to ``path``."""
    page.goto("/sign-in")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "sign-in" not in url)
    if not page.url.endswith(path) or path == "/":
        page.goto(path)
    page.locator("main.d-page").wait_for()
