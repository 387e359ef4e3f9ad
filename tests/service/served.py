"""A real server of a hospital in a process of its own; it may be slow, and die: ``python -m tests.service.served``."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

from discreet.service.app import application, guard_app
from discreet.service.state import ServiceState
from tests.service.hospital import Hospital

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0
KEEP = "before the answer is kept"
STEPS = {
    "before the charge": ("curator.ledger", "charge"),
    "before rows are read": ("curator", "_measured"),
    "before the answer is in the ledger": ("curator.ledger", "settle"),
    KEEP: ("requests", "keep"),
}
"""Where a process may die: which part of a service, and the function that it is about to call."""


def die_at(service: ServiceState, step: str) -> None:
    """Let the process kill itself with SIGKILL at a step."""

    def die(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    where: Any = service
    for name in STEPS[step][0].split("."):
        where = getattr(where, name)
    setattr(where, STEPS[step][1], die)


def main(folder: str, port: str, step: str, seconds: str) -> None:
    service = Hospital(Path(folder), {}).service()
    if step:
        die_at(service, step)
    measured = service.curator._measured

    def slowly(*arguments: Any) -> Any:
        time.sleep(float(seconds))
        return measured(*arguments)

    if float(seconds):
        service.curator._measured = slowly  # type: ignore[method-assign]
    uvicorn.run(guard_app(application(service)), host="127.0.0.1", port=int(port), log_level="error")


@contextmanager
def served(hospital: Hospital, port: int, step: str = "", seconds: float = 0) -> Iterator[subprocess.Popen[bytes]]:
    """A server that answers at a port; it is killed at the end, if it is not dead yet."""
    arguments = [sys.executable, "-m", "tests.service.served", str(hospital.folder), str(port), step, str(seconds)]
    process = subprocess.Popen(arguments, cwd=ROOT)
    try:
        wait_for(port, process)
        yield process
    finally:
        process.kill()
        process.wait()


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError("the server did not start")


def free_port() -> int:
    """A port that nobody uses at the moment."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


if __name__ == "__main__":
    main(*sys.argv[1:])
