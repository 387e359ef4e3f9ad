"""From nothing to the first page: ``python -m bench.cold_start [rounds]``.

``discreet serve`` is started on the demo hospital as it comes, console included. One clock runs from the start of the
process to the first page over HTTP; the other to the first paint in Chromium, which is open already and waits for the
server as a person who reloads does. Nothing is asserted: a busy machine is slower.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import httpx
from playwright.sync_api import Browser, Error
from rich.console import Console
from tests.service.serve_command import ServeCommand
from tests.service.under_load import founded
from tests.survey.browser import launched

from bench.figure import Figure, seconds
from bench.page import write_part
from bench.peers import versions
from discreet.demo.hospital import visits, visits_policy

ROUNDS = 5
PATIENCE = 120.0
_LONGEST = 3.0
PAINTED = "performance.getEntriesByName('first-contentful-paint').length > 0"
CONSOLE = Console(width=None if sys.stdout.isatty() else 120, highlight=False)


def first_page(server: ServeCommand) -> float:
    """Seconds from the start of the process to a page over HTTP."""
    began = time.perf_counter()
    server.spawn()
    while time.perf_counter() < began + PATIENCE:
        try:
            if httpx.get(server.address, follow_redirects=True, timeout=PATIENCE).is_success:
                return time.perf_counter() - began
        except httpx.TransportError:
            time.sleep(0.01)
    raise AssertionError("there is no page")


def first_paint(server: ServeCommand, browser: Browser) -> float:
    """Seconds from the start of the process to the first paint of its page."""
    page = browser.new_context().new_page()
    began = time.perf_counter()
    server.spawn()
    while time.perf_counter() < began + PATIENCE:
        try:
            page.goto(server.address, wait_until="commit")
            break
        except Error:
            time.sleep(0.01)
    page.wait_for_function(PAINTED, polling=10)
    passed = time.perf_counter() - began
    page.context.close()
    return passed


def shown(times: list[float]) -> str:
    return f"best {min(times):.2f} s, median {sorted(times)[len(times) // 2]:.2f} s, worst {max(times):.2f} s"


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    pages, paints, cpu = [], [], []
    with tempfile.TemporaryDirectory() as temporary, launched() as browser:
        folder = Path(temporary) / "hospital"
        founded(folder, visits(), visits_policy({"ana": None}), ["ana"])
        for _ in range(rounds):
            with ServeCommand(folder, Path(temporary) / "log") as server:
                pages.append(first_page(server))
                cpu.append(server.cpu_so_far())
            with ServeCommand(folder, Path(temporary) / "log") as server:
                paints.append(first_paint(server, browser))
    lines = [
        f"first page over HTTP: {shown(pages)}",
        f"first paint in Chromium: {shown(paints)}",
        f"CPU time of the server until the first page over HTTP: {shown(cpu)}",
    ]
    CONSOLE.print("\n".join(lines))
    text = f"From the start of the process to the first page, {rounds} times.\n\n"
    middle = sorted(pages)[len(pages) // 2]
    wanted = Figure(
        "from the start to the first page", seconds(middle), "", "", f"≤ {_LONGEST:g} s", middle <= _LONGEST
    )
    told = text + "\n".join(f"- {line}" for line in lines)
    write_part("bench-service", told, versions([None]), [wanted], part="cold start")


if __name__ == "__main__":
    main()
