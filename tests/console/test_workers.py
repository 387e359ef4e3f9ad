"""The console of several processes: pages live in one of them, and people notice nothing of which."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir

import httpx
import pytest
from playwright.sync_api import Page, expect

from discreet.console.session import COOKIE
from discreet.service.auth.members import Members
from discreet.service.storage import ServiceStore
from tests.console.asking import answer, editor, price, write
from tests.console.conftest import Contexts, sign_in
from tests.console.serving import Serving
from tests.service.hospital import founded

_CLICKS = 4
"""How often somebody asks whose connection was cut; asked again, the same question is free."""


def workers_of(serving: Serving) -> set[int]:
    parent = serving.process.pid
    found = map(int, Path(f"/proc/{parent}/task/{parent}/children").read_text().split())
    return {one for one in found if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()}


def where_pages_are(serving: Serving) -> int | None:
    """The worker that holds the lock."""
    held = [line.split() for line in Path("/proc/locks").read_text().splitlines() if "POSIX" in line]
    files = {path.stat().st_ino for path in Path(gettempdir()).glob("discreet-*/lock")}
    found = {int(one[4]) for one in held if one[1] != "->" and int(one[5].rpartition(":")[2]) in files}
    return next(iter(found & workers_of(serving)), None)


def wait_until(true: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def ask(page: Page, number: int, left: str) -> None:
    """A question that costs 0.1, and its answer; a click that dies with its connection is made again, as people do."""
    shown = answer(page).get_by_text(f"ε {left} left for visits/ana")
    for _ in range(_CLICKS):
        write(page, f"SELECT COUNT(*) AS n FROM visits WHERE age > {number}")
        price(page, "0.1")
        page.get_by_role("button", name="Ask for ε 0.1").click()
        with suppress(AssertionError):
            expect(shown).to_be_visible(timeout=30_000)
            return
    expect(shown).to_be_visible()


@pytest.mark.thorough
def test_people_go_on_when_any_process_is_killed_and_when_all_are_started_again(
    contexts: Contexts, tmp_path: Path
) -> None:
    hospital = founded(tmp_path / "hospital")
    members = Members(ServiceStore(hospital.folder))
    issued = members.issued("ana", days=1)
    with Serving(hospital, workers="2") as first:
        page = contexts(first.address).new_page()
        sign_in(page, issued.secret)
        ask(page, 20, "0.9")
        wait_until(lambda: len(workers_of(first)) == 2)
        here = where_pages_are(first)
        assert here is not None
        (other,) = workers_of(first) - {here}
        os.kill(other, signal.SIGKILL)
        ask(page, 21, "0.8")
        wait_until(lambda: len(workers_of(first) - {here, other}) == 1)
        with page.expect_navigation(timeout=120_000):  # the page is gone, and its session is not
            os.kill(here, signal.SIGKILL)
        editor(page)
        ask(page, 22, "0.7")
        assert where_pages_are(first) not in (None, here)
        # Each connection reaches either worker, and both know the session.
        (cookie,) = [one for one in page.context.cookies() if one["name"] == COOKIE]
        own = {COOKIE: cookie["value"]}
        for _ in range(8):
            assert httpx.get(f"{first.address}/budget", cookies=own, timeout=60).status_code == 200
        left = workers_of(first)
        first.process.kill()
        first.process.wait()
        wait_until(lambda: not any(Path(f"/proc/{one}").exists() for one in left))  # or they would hold the port
    with page.expect_navigation(timeout=120_000), Serving(hospital, first.port, workers="2") as second:
        expect(page.get_by_text("The connection is lost.")).to_be_hidden(timeout=120_000)
        editor(page)
        ask(page, 23, "0.6")
        members.revoke(issued.token.id)
        for _ in range(8):
            assert httpx.get(f"{second.address}/budget", cookies=own, timeout=60).status_code == 303
        page.reload()
        expect(page.get_by_text("Your session has ended.")).to_be_visible()
