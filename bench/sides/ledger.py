"""Durable charges per second from 16 processes on one ledger, beside what the disk alone could do.

Every process waits for the others, then charges until the time is up. A charge is durable when it returns. An answer is
a charge, its settlement and the witness's line, so it takes three writes that are forced to disk.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from stopwatch import report

from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.units import Allowance, LedgerPrice
from discreet.curator.ledger.verify import verify
from discreet.privacy.loss import Pure

PROCESSES = 16
SECONDS = 4.0
BLOCK, BLOCKS = 4096, 1024
ANSWER = bytes(2000)
NOTE = {"sql": "SELECT ward, COUNT(*) FROM visits GROUP BY ward", "analyst": "ann"}


def charge_until(folder: str, name: str, what: str, end: float) -> None:
    """One asker; it prints how often it was served and its longest wait."""
    ledger = Ledger(Path(folder))
    print("ready", flush=True)
    sys.stdin.readline()
    end, done, longest = time.monotonic() + end, 0, 0.0
    while (start := time.monotonic()) < end:
        request = f"{name}-{done}"
        ledger.charge(request, request.encode(), {"visits": LedgerPrice(1)}, NOTE)
        if what == "answers":
            ledger.settle(request, ANSWER)
        done += 1
        longest = max(longest, time.monotonic() - start)
    print(done, longest)


def together(folder: Path, what: str) -> dict[str, float]:
    """All askers at once."""
    ledger = Ledger.create(folder)
    ledger.open_account("visits", Allowance.of(Pure(1)))
    commands = [[sys.executable, __file__, str(folder), f"asker{k}", what, str(SECONDS)] for k in range(PROCESSES)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    askers = [subprocess.Popen(command, **pipes) for command in commands]
    for asker in askers:
        assert asker.stdout.readline() == "ready\n"
    start = time.monotonic()
    for asker in askers:
        asker.stdin.write("go\n")
        asker.stdin.flush()
    said = [asker.communicate()[0].split() for asker in askers]
    taken = time.monotonic() - start
    assert verify(folder).is_sound
    done = sum(int(served) for served, _ in said)
    return {"rate": done / taken, "longest": max(float(wait) for _, wait in said)}


def forced_writes(folder: Path) -> float:
    """Plain writes per second, each forced to disk, in place as in a write-ahead log: one writer without a ledger."""
    file = os.open(folder / "plain", os.O_CREAT | os.O_WRONLY, 0o600)
    os.write(file, bytes(BLOCK * BLOCKS))
    os.fsync(file)
    start, done = time.monotonic(), 0
    while time.monotonic() < start + SECONDS / 2:
        os.pwrite(file, bytes(BLOCK), done % BLOCKS * BLOCK)
        os.fdatasync(file)
        done += 1
    taken = time.monotonic() - start
    os.close(file)
    return done / taken


def main() -> None:
    results = {}
    for name in ("charges", "answers"):
        with tempfile.TemporaryDirectory(dir=Path(__file__).parents[2]) as folder:
            results[name] = together(Path(folder), name) | {"disk": forced_writes(Path(folder))}
    report(results)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        charge_until(*sys.argv[1:4], float(sys.argv[4]))
    else:
        main()
