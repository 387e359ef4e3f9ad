"""Fifty analysts, one server: ``python -m bench.service [seconds] [part that asks] [flags of discreet serve]``.

Five minutes, and one request in twenty asks, unless said otherwise: each analyst looks at a price every second or so,
and asks a question every twenty seconds. ``discreet serve`` runs on the demo hospital as it comes; the budget pays for
fewer questions than they ask. Half-way the server is killed and started again on the same folder, and whoever was cut
off sends the same request id again. Afterwards all totals are held against the ledger, and every answer is asked for
once more. Client processes share the machine with the server, and the machine may be shared with others: what they took
from it is told, for who waits for a core waits for an answer.
"""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from tests.service.crowd import Crowd
from tests.service.serve_command import ServeCommand
from tests.service.under_load import Outcome, analysts, founded, load, problems_of

from bench.figure import Figure
from bench.page import write_part
from bench.peers import versions
from discreet.catalog.table import Budget
from discreet.demo.hospital import visits, visits_policy

ANALYSTS = 50
ASKS = 0.05
AFFORDED = 0.7
"""The part of the questions that the budget pays for."""
CLIENTS = 2
"""Processes that the analysts run in."""
BUDGET = 3
_LATEST = 0.1
CONSOLE = Console(width=None if sys.stdout.isatty() else 120, highlight=False)


def percentile(values: list[float], part: float) -> float:
    """The least value that this part of the values does not exceed."""
    return sorted(values)[max(0, math.ceil(part * len(values)) - 1)] if values else math.nan


def price_for(seconds: float, asks: float) -> str:
    """The ε of one question, so that the budget runs dry before the time is over."""
    questions = ANALYSTS * asks * seconds * AFFORDED
    return f"{BUDGET / questions:.6f}"


def taken() -> tuple[int, int]:
    """Of all cores: the time that other machines on the same host took, and all time, in ticks since the start."""
    times = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return times[7], sum(times)


def report(outcome: Outcome) -> list[str]:
    """What was measured, line by line."""
    seen = outcome.seen
    lines = [f"{seen.requests:,} requests in {outcome.seconds:.0f} s: {seen.requests / outcome.seconds:.1f} a second"]
    for name, times in (("explain", seen.explains), ("ask, until the answer", seen.asks)):
        shown = ", ".join(f"p{part * 100:g} {percentile(times, part) * 1e3:,.1f} ms" for part in (0.5, 0.9, 0.99, 1))
        lines.append(f"{name}, {len(times):,} times: {shown}")
    paid = len({one.charge for one in seen.answers})
    return [
        *lines,
        f"statuses: {dict(sorted(seen.statuses.items()))}, {seen.cut_off} cut off by the crash",
        f"answers: {len(seen.answers):,}, of which {paid:,} were paid for",
        f"server: {outcome.cpu:.1f} s of CPU time, {outcome.cpu / outcome.seconds:.0%} of a core",
        f"until it answers: {', '.join(f'{start:.2f} s' for start in outcome.starts)}",
    ]


def _explained(outcome: Outcome) -> Figure:
    """The wait for a price that 99 of 100 do not exceed."""
    late = percentile(outcome.seen.explains, 0.99)
    measure = f"99 of 100 prices, {ANALYSTS} analysts, {outcome.seconds:.0f} s, a crash half-way"
    return Figure(measure, f"{late * 1e3:,.1f} ms", "", "", f"≤ {_LATEST * 1e3:g} ms", late <= _LATEST)


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 300.0
    asks = float(sys.argv[2]) if len(sys.argv) > 2 else ASKS
    flags = tuple(sys.argv[3:])
    names = analysts(ANALYSTS)
    caps = {name: Budget("0.1") if k % 5 == 0 else None for k, name in enumerate(names)}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "hospital"
        tokens = founded(folder, visits(), visits_policy(caps), names)
        crowd = Crowd(price_for(seconds, asks), seconds=seconds, asks=asks)
        with ServeCommand(folder, Path(temporary) / "log", flags) as server:
            before = taken()
            outcome = load(server, crowd, tokens, kill_when=lambda passed: passed > seconds / 2, processes=CLIENTS)
            stolen, whole = (now - then for now, then in zip(taken(), before, strict=True))
        lines = [*report(outcome), f"taken by other machines: {stolen / whole:.1%} of all cores"]
        problems = problems_of(outcome, folder, Budget(BUDGET))
    lines += problems or ["every total is exact, and every answer is the same when asked for again"]
    CONSOLE.print("\n".join(lines))
    text = f"{ANALYSTS} analysts at one server, which is killed half-way and started again.\n\n"
    told = text + "\n".join(f"- {line}" for line in lines)
    write_part("bench-service", told, versions([None]), [_explained(outcome)], part="under load")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
