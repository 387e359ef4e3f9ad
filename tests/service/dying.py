"""Processes that ask a question and are killed at a step of it: ``python -m tests.service.dying FOLDER STEP …``."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from discreet.service import asking
from discreet.service.wish import Wish
from tests.service.hospital import Hospital
from tests.service.served import die_at
from tests.service.visiting import ANA


def main(*arguments: str) -> None:
    for folder, step in zip(arguments[::2], arguments[1::2], strict=True):
        child = os.fork()  # nothing here has started a thread yet, and imports are paid for once
        if child == 0:
            house = Hospital(Path(folder), {}).house()
            die_at(house, step)
            asking.ask(house, ANA, Wish("SELECT COUNT(*) AS n FROM visits", "0.1"), "one")
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL, step


if __name__ == "__main__":
    main(*sys.argv[1:])
