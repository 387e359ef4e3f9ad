"""A real browser for the tests of the page; where there is none they are skipped, and fail where CI is set."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NoReturn

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, Request, expect, sync_playwright

PATIENCE = 120_000
"""Milliseconds: slow machines are no failure of a page."""
expect.set_options(timeout=PATIENCE)

NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def launched() -> Iterator[Browser]:
    """Chromium of this machine."""
    path = os.environ.get("DISCREET_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        _missing(f"none of {', '.join(NAMES)} is installed; make browser installs it for root on Debian")
    with sync_playwright() as playwright:
        try:
            # Chromium's own sandbox refuses to run as root, as in most containers.
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        except Error as fault:
            _missing(f"{path} does not start: {fault.message.splitlines()[0]}")
        try:
            yield _patient(browser)
        finally:
            browser.close()


def _patient(browser: Browser) -> Browser:
    """One whose pages wait as long as the tests do, whoever opens them."""
    for name in ("new_context", "new_page"):
        setattr(browser, name, partial(_opened, getattr(browser, name)))
    return browser


def _opened(call: Callable[..., BrowserContext | Page], **options: Any) -> BrowserContext | Page:
    made = call(**options)
    made.set_default_timeout(PATIENCE)
    return made


def _missing(reason: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(f"NO BROWSER: {reason}")
    pytest.skip(f"NO BROWSER, the page of surveys was NOT tested: {reason}")


class Watched:
    """A page and everything that it sent or said."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.requests: list[Request] = []
        self.said: list[str] = []
        page.on("request", self._sent)
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda fault: self.said.append(str(fault)))

    def _sent(self, request: Request) -> None:
        self.requests.append(request)

    @property
    def bodies(self) -> list[str]:
        """What was sent in bodies."""
        return [request.post_data for request in self.requests if request.post_data is not None]

    def traffic(self) -> list[tuple[str, str, dict[str, str], str | None]]:
        """Every request, byte for byte as far as a page can influence it."""
        return [(one.method, one.url, dict(sorted(one.headers.items())), one.post_data) for one in self.requests]
