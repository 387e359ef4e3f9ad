"""One browser and one served hospital for all tests of a run, and pages that are signed in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.console.serving import Serving
from tests.service.hospital import Hospital, founded

Contexts = Callable[..., BrowserContext]
Enter = Callable[..., Page]
Fresh = Callable[[], BrowserContext]
VIEWPORT = {"width": 1280, "height": 800}


@pytest.fixture(scope="session")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Hospital:
    """A hospital whose members are owner, ana, ben and auditor; all tests share it, so spend little."""
    return founded(tmp_path_factory.mktemp("console") / "hospital")


@pytest.fixture(scope="session")
def serving(hospital: Hospital) -> Iterator[Serving]:
    """The console of that hospital."""
    with Serving(hospital) as found:
        yield found


@pytest.fixture
def own_serving(tmp_path: Path) -> Iterator[Serving]:
    """The console of a hospital of the test's own, whose budgets may be spent."""
    with Serving(founded(tmp_path / "hospital")) as found:
        yield found


@pytest.fixture
def contexts(browser: Browser) -> Iterator[Contexts]:
    """Makes browsers of an address that know nothing of each other; options are those of playwright."""
    opened: list[BrowserContext] = []

    def context(address: str, **options: Any) -> BrowserContext:
        options = {"base_url": address, "viewport": VIEWPORT} | options
        opened.append(browser.new_context(**options))
        return opened[-1]

    yield context
    for one in opened:
        one.close()


@pytest.fixture(scope="session")
def spare() -> list[BrowserContext]:
    """Browsers that tests have left: scripts are in their caches, so that pages open in half the time."""
    return []


@pytest.fixture
def fresh(browser: Browser, serving: Serving, spare: list[BrowserContext]) -> Iterator[Fresh]:
    """Gives browsers of the console that all tests share: without pages, cookies and all that a page keeps."""
    taken: list[BrowserContext] = []

    def context() -> BrowserContext:
        options: Any = {"base_url": serving.address, "viewport": VIEWPORT}
        taken.append(spare.pop() if spare else browser.new_context(**options))
        return taken[-1]

    yield context
    for one in taken:
        for page in one.pages:
            page.close()
        one.clear_cookies()
        spare.append(one)


@pytest.fixture
def enter(contexts: Contexts, fresh: Fresh, serving: Serving) -> Enter:
    """Opens a page in a browser of its own, signed in as a member: ``enter("ana", "/budget", color_scheme="dark")``."""

    def entered(member: str, path: str = "/", **options: Any) -> Page:
        page = (contexts(serving.address, **options) if options else fresh()).new_page()
        shown = {"token": serving.hospital.tokens[member], "then": path}
        page.request.post("/sign-in", form=shown, headers={"origin": serving.address}, max_redirects=0)
        page.goto(path)
        _wait_until_drawn(page)
        return page

    return entered


def sign_in(page: Page, token: str, path: str = "/") -> None:
    """Sign in on a page that is not signed in, and go to ``path``."""
    page.goto("/sign-in" if path == "/" else f"/sign-in?then={path}")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    _wait_until_drawn(page)


def _wait_until_drawn(page: Page) -> None:
    page.locator(".d-page").wait_for()
    page.wait_for_function("window.did_handshake === true")
