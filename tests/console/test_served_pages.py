"""The console as ``discreet serve`` serves it: within its policy, from this host alone, and silent about failures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from discreet.console.layout import PAGES
from tests.console.conftest import sign_in
from tests.service.hospital import Hospital, founded
from tests.service.serving import Serving

SECRET = "words of an error"
FAILING = f"""
from discreet.console import console
real = console.framed

async def framed(room, visit, *more):
    if room.path == "/lab":
        raise RuntimeError("{SECRET}")
    await real(room, visit, *more)

console.framed = framed
from discreet.cli.main import app
app()
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Serving, Hospital]]:
    hospital = founded(tmp_path_factory.mktemp("served") / "hospital")
    with Serving("--folder", hospital.folder, program=FAILING) as found:
        yield found, hospital


@pytest.fixture
def owner(served: tuple[Serving, Hospital], browser: Browser) -> Iterator[Page]:
    context = browser.new_context(base_url=served[0].address)
    page = context.new_page()
    sign_in(page, served[1].tokens["owner"])
    yield page
    context.close()


def test_every_page_stays_within_its_policy_and_loads_from_this_host_alone(
    served: tuple[Serving, Hospital], owner: Page
) -> None:
    said: list[str] = []
    asked: list[str] = []
    owner.on("console", lambda message: said.append(message.text))
    owner.on("pageerror", lambda fault: said.append(str(fault)))
    owner.on("request", lambda request: asked.append(request.url))
    for room in (room for room in PAGES if room.path != "/lab"):
        answer = owner.goto(room.path)
        assert answer is not None
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        owner.locator(".d-page h1").wait_for()
        owner.wait_for_timeout(300)
    assert [one for one in said if "Content Security Policy" in one or "Refused" in one] == []
    ours = (served[0].address, served[0].address.replace("http", "ws"), "data:", "blob:")
    assert [url for url in asked if not url.startswith(ours)] == []


def test_pages_that_are_missing_or_fail_say_nothing_of_why(served: tuple[Serving, Hospital], owner: Page) -> None:
    missing = owner.goto("/no/such/page?secret=1")
    assert missing is not None
    assert missing.status == 404
    assert owner.locator("h1").inner_text() == "There is no such page"
    failed = owner.goto("/lab")
    assert failed is not None
    assert failed.status == 500
    assert owner.locator("h1").inner_text() == "This page failed"
    assert SECRET not in owner.content()
    owner.get_by_role("link", name="To the first page").click()
    owner.locator(".d-page h1").wait_for()
    logged = served[0].logged()
    assert SECRET not in logged
    assert "secret=1" not in logged
    assert '"error": "builtins.RuntimeError"' in logged


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("PUT", "/", 405), ("DELETE", "/budget", 405), ("GET", "/_nicegui_ws/socket.io/", 403)],
)
def test_what_a_page_refuses_is_said_in_the_shape_of_all_problems(
    served: tuple[Serving, Hospital], method: str, path: str, status: int
) -> None:
    with served[0].client("nobody") as client:
        answer = client.request(method, path)
    assert (answer.status_code, answer.json()["status"]) == (status, status)
    assert answer.headers["content-type"] == "application/problem+json"


def test_no_folder_of_nicegui_is_left_behind() -> None:
    assert not (Path.cwd() / ".nicegui").exists()
