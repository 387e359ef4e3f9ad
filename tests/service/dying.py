"""Processes that ask a question and are killed at a step of it: ``python -m tests.service.dying FOLDER STEP …``."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

from discreet.service.jobs.jobs import AskRequest
from discreet.service.operations import ask as asking
from discreet.time_limits import LEASE
from tests.service.hospital import Hospital
from tests.service.served import die_at
from tests.service.visiting import ANA


def main(*arguments: str) -> None:
    runs: Counter[str] = Counter()
    for folder, step in zip(arguments[::2], arguments[1::2], strict=True):
        child = os.fork()  # nothing here has started a thread yet, and imports are paid for once
        if child == 0:
            service = Hospital(Path(folder), {}).service()
            service.requests.clock = partial(_later, runs[folder] * LEASE)  # the one before is known to be dead
            die_at(service, step)
            asking.ask(service, ANA, AskRequest("SELECT COUNT(*) AS n FROM visits", "0.1"), "one")
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL, step
        runs[folder] += 1


def _later(seconds: float) -> float:
    return time.time() + seconds


if __name__ == "__main__":
    main(*sys.argv[1:])
