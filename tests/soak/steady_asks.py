"""One process answers small questions for minutes, from several threads: at a steady rate, and in the same memory.

Every question is another one, so nothing is served from memory or from the ledger; all are charged, and the total is
exact. Memory is what the process holds, looked at once in a while; what it held after the first fifth is where it must
stay, but for a tenth.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

from discreet.catalog.budget import Budget
from discreet.curator.curator import Curator
from discreet.curator.ledger.verify import verify
from discreet.demo.hospital import visits, visits_policy

__all__ = ["ask_steadily"]

PRICE = Fraction(1, 20_000)
THREADS = 4
_TEMPLATES = (
    "SELECT COUNT(*) AS n FROM visits WHERE cost > {k}",
    "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM visits WHERE cost < {k} GROUP BY ward",
    "SELECT SUM(cost) AS cost FROM visits WHERE age > 20 AND cost <> {k}",
)


def resident() -> int:
    """Bytes of memory that this process holds now."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


def ask_steadily(folder: Path, seconds: float, a_minute: int, tick: Callable[[], None]) -> str:
    """Ask for so long; says the rate and the memory, and fails where the rate or the memory does not hold."""
    curator = Curator(folder)
    curator.protect(visits(1000, 300), visits_policy({"ana": Budget(3)}))
    numbers, began, held = itertools.count(), time.monotonic(), []
    end, look = began + seconds, began + seconds / 20

    def work() -> None:
        while time.monotonic() < end:
            k = next(numbers)
            sql = _TEMPLATES[k % len(_TEMPLATES)].format(k=f"{k}.5")
            curator.ask(sql, PRICE, analyst="ana", request=f"steady-{k}")

    with ThreadPoolExecutor(THREADS) as pool:
        workers = [pool.submit(work) for _ in range(THREADS)]
        while time.monotonic() < end:
            time.sleep(max(0.0, min(look, end) - time.monotonic()))
            look += seconds / 20
            held.append(resident())
            tick()
        for worker in workers:
            worker.result()
    asked, spent = next(numbers), curator.budget()["visits"]["spent"].epsilon
    assert spent == asked * PRICE, f"{asked} questions cost {spent}"
    assert verify(folder).is_sound
    first, last = held[len(held) // 5], max(held[-3:])
    assert last <= 1.1 * first, f"memory grew from {first:,} to {last:,} bytes"
    rate = asked / (time.monotonic() - began) * 60
    assert rate >= a_minute, f"{rate:,.0f} a minute"
    return f"{asked:,} questions, {rate:,.0f} a minute; {first / 2**20:,.0f} MiB, then {last / 2**20:,.0f} MiB"
