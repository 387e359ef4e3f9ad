"""``discreet serve`` as a process of its own, which can be killed and started again at the same address."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.trusted import trusted

__all__ = ["ServeCommand"]

_PATIENCE = 300.0
"""Seconds; a machine that does much else takes minutes to start a process, and that is no loss."""
_TICKS = os.sysconf("SC_CLK_TCK")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@dataclass
class ServeCommand:
    """The command that serves a folder; what it says goes to a file. A `with` ends it, if it is not dead yet."""

    folder: Path
    log: Path
    flags: tuple[str, ...] = ()
    port: int = field(default_factory=_free_port)
    first: str = ""
    """What its interpreter does before anything else, in Python."""
    _cpu: float = 0.0
    _process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def process(self) -> subprocess.Popen[bytes]:
        assert self._process is not None, "it was not started"
        return self._process

    def start(self) -> float:
        """Start it and wait until it answers; the seconds that it took."""
        began = time.perf_counter()
        self.spawn()
        while not self._answers():
            assert self.process.poll() is None, self.log.read_text()
            assert time.perf_counter() < began + _PATIENCE, "it does not answer"
            time.sleep(0.02)
        assert self.process.poll() is None, "another process answers"
        return time.perf_counter() - began

    def spawn(self) -> None:
        """Start it and do not wait."""
        flags = ("--folder", str(self.folder), "--port", str(self.port), *self.flags)
        command = [sys.executable, "-c", f"{self.first}\nfrom discreet.cli.main import app; app()", "serve", *flags]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)

    def cpu_so_far(self) -> float:
        """Seconds of CPU time that it took, processes that were ended included."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return self._cpu + (int(fields[11]) + int(fields[12])) / _TICKS

    def kill(self) -> None:
        """End it as a crash does: at once, in the middle of whatever it does."""
        self._cpu = self.cpu_so_far()
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """Tell it to end; its exit code."""
        self._cpu = self.cpu_so_far()
        self.process.terminate()
        return self.process.wait(_PATIENCE)

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.address}/health/live", timeout=5, verify=trusted()).is_success
        except httpx.TransportError:
            return False

    def __enter__(self) -> ServeCommand:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
