"""Stopping processes so that they have stopped: a signal that was sent is not yet one that every thread has heard.

A server of many threads answered one more request after SIGSTOP on a busy machine, and a test took that for a fault.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

__all__ = ["stop_processes"]

_SECONDS = 30
_STANDS = frozenset("TtZX")
"""States of a thread that runs no more: stopped, traced, or dead."""


def stop_processes(processes: Iterable[int]) -> None:
    """Send SIGSTOP, and return when none of their threads runs any more."""
    sent = list(processes)
    for process in sent:
        os.kill(process, signal.SIGSTOP)
    end = time.monotonic() + _SECONDS
    while not all(map(_stands, sent)):
        assert time.monotonic() < end, "processes did not stop"
        time.sleep(0.001)


def _stands(process: int) -> bool:
    states = []
    for place in Path(f"/proc/{process}/task").glob("*"):
        with suppress(OSError):  # a thread may end meanwhile
            states.append((place / "stat").read_text().rpartition(")")[2].split()[0])
    return _STANDS.issuperset(states)
