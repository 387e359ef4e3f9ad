"""The service as processes of its own, as ``discreet serve`` starts them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import httpx

from tests.trusted import trusted

PROGRAM = "from discreet.cli.main import app; app()"


def environment(**more: str) -> dict[str, str]:
    """That of the tests without settings of the service, and wide lines."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DISCREET_")}
    return kept | {"COLUMNS": "300"} | more


class Serving:
    """``discreet serve``, until it is ended. ``said`` is what it printed before the first request."""

    def __init__(self, *flags: object, program: str = PROGRAM, **variables: str) -> None:
        self._log = TemporaryFile("w+")  # noqa: SIM115  a pipe that nobody reads would fill, and hold the service up
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, "serve", "--port", "0", *map(str, flags)],
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env=environment(**variables),
        )
        assert self.process.stdout is not None
        self.said = self.process.stdout.readline()
        if not self.said.startswith("serving"):
            self.process.communicate()
            raise AssertionError(f"it did not start: {self.said}{self.logged()}")
        self.address = self.said.split()[-1].removesuffix("/api/v1")

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def logged(self) -> str:
        """What it logged up to now."""
        self._log.seek(0)
        return self._log.read()

    def line(self) -> str:
        """The next line that it printed."""
        assert self.process.stdout is not None
        self.said += (found := self.process.stdout.readline())
        return found

    def client(self, token: str | None = None, **more: Any) -> httpx.Client:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.address, headers=headers, timeout=120, **({"verify": trusted()} | more))

    def __enter__(self) -> Serving:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        self.process.communicate(timeout=120)
        self._log.close()

    def end(self) -> tuple[str, str, int]:
        """End it as a service manager does; what it printed, what it logged, and its exit code."""
        self.process.terminate()
        out, _ = self.process.communicate(timeout=120)
        return self.said + out, self.logged(), self.process.returncode


def started(folder: Path, *flags: object, **variables: str) -> Serving:
    """The service on a folder, for REST alone."""
    return Serving("--folder", folder, "--no-console", *flags, **variables)
