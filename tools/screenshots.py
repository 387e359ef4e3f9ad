"""Pictures of the console for the documentation: starts the demonstration, does something real on every page.

``python -m tools.screenshots`` writes docs/images/console/*.png: every page in light at the width of a worker, and the
page for asking in dark and on a phone.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

FOLDER = Path(__file__).parents[1] / "docs" / "images" / "console"
QUESTION = "SELECT ward, COUNT(*) AS visits, AVG(age) AS age\nFROM visits\nGROUP BY ward"
MONTHS = "SELECT date_trunc('month', day) AS month, SUM(cost) AS cost\nFROM visits\nGROUP BY month\nORDER BY month"
LONG = 300_000
HIGHEST = 2800
WORKER, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
_PROGRAM = "from discreet.cli.main import app; app()"
_NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def served() -> Iterator[tuple[str, dict[str, str]]]:
    """The address of a demonstration, and the tokens of its members."""
    command = [sys.executable, "-c", _PROGRAM, "serve", "--demo", "--port", "0"]
    environment = os.environ | {"COLUMNS": "300", "DISCREET_SHUTDOWN_SECONDS": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        lines = [process.stdout.readline().split() for _ in range(3)]
        try:
            yield address, dict(lines)
        finally:
            process.terminate()


def sign_in(page: Page, token: str) -> None:
    page.goto("/sign-in")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    page.locator(".d-page").wait_for()
    page.wait_for_function("window.did_handshake === true")


def settle(page: Page) -> None:
    """Wait until nothing moves."""
    page.wait_for_load_state("networkidle")
    page.mouse.move(0, 0)
    page.wait_for_timeout(900)


def take(page: Page, name: str, *, whole: bool = False) -> None:
    """Keep a picture, in few colours: pages have few."""
    settle(page)
    page.evaluate("window.scrollTo(0, 0)")
    if whole:  # a window as high as the page, so that what is fixed stays at its edge
        width, height = (page.viewport_size or WORKER)["width"], page.evaluate("document.documentElement.scrollHeight")
        page.set_viewport_size({"width": width, "height": min(height, HIGHEST)})
        settle(page)
    path = FOLDER / f"{name}.png"
    page.screenshot(path=path)
    _shrink(path)
    print(f"{path.relative_to(FOLDER.parents[2])}  {path.stat().st_size // 1024} kB")


def _shrink(path: Path) -> None:
    try:
        from PIL import Image  # noqa: PLC0415  comes with matplotlib; without it the files are larger
    except ImportError:
        return
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


# What is done on each page.


def ask(page: Page, sql: str, epsilon: str) -> None:
    page.get_by_role("textbox", name="Your question in SQL").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(sql)
    page.keyboard.press("Escape")
    page.get_by_label("Price ε", exact=True).fill(epsilon)
    page.get_by_role("button", name=f"Ask for ε {epsilon}", exact=True).click()
    expect(page.get_by_text(re.compile(f"^Cost ε {re.escape(epsilon)};"))).to_be_visible()


def asked(page: Page) -> None:
    ask(page, MONTHS, "0.2")
    ask(page, QUESTION, "0.3")


def refused(page: Page) -> None:
    page.get_by_role("textbox", name="Your question in SQL").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text("SELECT ward, AVG(agee) AS age\nFROM visits\nGROUP BY ward")
    expect(page.locator(".d-refused")).to_be_visible()


def nothing(_: Page) -> None:
    """The page speaks for itself."""


def verified(page: Page) -> None:
    page.get_by_role("button", name="Verify the ledger").click()


def opened(page: Page) -> None:
    page.locator(".q-expansion-item").first.click()


def published(page: Page) -> None:
    page.get_by_role("button", name="Take the made-up hospital").click()
    page.get_by_role("button", name="Find candidates").click()
    expect(page.get_by_role("heading", name=re.compile("^5. The release"))).to_be_visible(timeout=LONG)


def attacked(page: Page) -> None:
    page.get_by_role("button", name="Run the attacks").click()
    expect(page.get_by_role("button", name="The figures")).to_be_visible(timeout=LONG)


def pictures(browser: Browser, address: str, tokens: dict[str, str]) -> None:
    def page(member: str, *, size: dict[str, int] = WORKER, dark: bool = False) -> Page:
        scheme = "dark" if dark else "light"
        context = browser.new_context(base_url=address, viewport=size, color_scheme=scheme, reduced_motion="reduce")
        made = context.new_page()
        made.goto("/sign-in")
        if member:
            sign_in(made, tokens[member])
        return made

    take(page(""), "sign-in")
    analyst = page("ana")
    asked(analyst)
    take(analyst, "ask", whole=True)
    analyst.get_by_role("button", name="See the certificate").click()
    analyst.set_viewport_size(WORKER)
    take(analyst, "certificate")
    analyst.keyboard.press("Escape")
    refused(analyst)
    take(analyst, "ask-refused")
    for name, size, dark in (("ask-dark", WORKER, True), ("ask-phone", PHONE, False)):
        again = page("ana", size=size, dark=dark)
        again.get_by_role("button", name="SELECT ward").first.click()
        expect(again.get_by_role("heading", name="Answer")).to_be_visible()
        again.get_by_role("button", name="Put this question").first.click()
        take(again, name, whole=True)
    for path, name, act in ROOMS:
        owner = page("owner")
        owner.goto(path)
        act(owner)
        take(owner, name, whole=True)


ROOMS: tuple[tuple[str, str, Callable[[Page], None]], ...] = (
    ("/budget", "budget", nothing),
    ("/ledger", "ledger", verified),
    ("/tables", "tables", opened),
    ("/people", "people", nothing),
    ("/publish", "publish", published),
    ("/understand", "understand", nothing),
    ("/lab", "lab", attacked),
)


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    found = os.environ.get("DISCREET_CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)))
    with served() as (address, tokens), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        pictures(browser, address, tokens)
        browser.close()


if __name__ == "__main__":
    main()
