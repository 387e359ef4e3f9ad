"""Many processes ask at once for more than there is: exactly what there is gets released, and the rest is refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.units import Allowance
from discreet.curator.ledger.verify import verify
from discreet.privacy.loss import Pure
from tests.curator import asker

__all__ = ["asking", "released", "spend_together"]


def asking(folder: Path, name: str, count: int, price: str) -> subprocess.Popen[str]:
    """A process that charges the ledger in ``folder`` and prints what it may release."""
    command = [sys.executable, asker.__file__, str(folder), name, str(count), price]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def released(output: str) -> dict[str, str]:
    """Request → answer, as a process printed them; a line that a kill cut off says nothing."""
    whole = output.split("\n")[:-1]
    lines = [line.split("|") for line in whole if line.startswith("released|")]
    return {request: answer for _, request, answer in lines}


def spend_together(
    folder: Path,
    requests: int,
    processes: int,
    afforded: int,
    tick: Callable[[], None],
    start: Callable[[Path], Ledger] = Ledger.create,
) -> str:
    """All processes at once with a budget for ``afforded`` requests; says what was found."""
    ledger = start(folder)
    ledger.open_account("visits", Allowance.of(Pure(1)))
    askers = [asking(folder, f"asker{k}", requests // processes, f"1/{afforded}") for k in range(processes)]
    outputs = []
    for process in askers:
        outputs.append(process.communicate(timeout=600)[0])
        tick()
    found = [request for output in outputs for request in released(output)]
    refused = sum(int(line.split("|")[1]) for output in outputs for line in output.splitlines() if "refused|" in line)
    assert len(found) == len(set(found)) == afforded, f"{len(found)} were released"
    assert refused == requests - afforded, f"{refused} were refused"
    assert ledger.accounts()["visits"].left == Pure(0)
    assert verify(folder).problems == []
    return f"{len(found):,} released, {refused:,} refused, chain sound"
