"""The service and the console of a hospital, in a process of their own, as ``discreet serve`` starts it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.service.hospital import Hospital

_PROGRAM = "from discreet.cli.main import app; app()"


class Serving:
    """A process that serves the console of a hospital, until it is ended."""

    def __init__(self, hospital: Hospital, port: int = 0, **settings: str) -> None:
        self.hospital = hospital
        command = [sys.executable, "-c", _PROGRAM, "serve", "--folder", str(hospital.folder), "--port", str(port)]
        known = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        chosen = {f"DISCREET_{name.upper()}": value for name, value in settings.items()}
        environment = known | {"COLUMNS": "300", "DISCREET_SHUTDOWN_SECONDS": "1"} | chosen
        self._log = hospital.folder.with_name(f"{hospital.folder.name}.log").open("ab")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self._log, text=True, env=environment)
        assert self.process.stdout is not None
        first = self.process.stdout.readline()
        found = re.search(r"(http://\S+):(\d+)", first)
        if found is None:
            raise AssertionError(f"it did not start: {first}{self.log()}")
        self.address, self.port = found[0], int(found[2])

    def log(self) -> str:
        """What the process said."""
        return Path(self._log.name).read_text("utf-8")

    def end(self) -> None:
        """End the process."""
        if self.process.poll() is None:
            self.process.terminate()
        self.process.communicate(timeout=120)
        self._log.close()

    def __enter__(self) -> Serving:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
