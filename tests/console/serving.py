"""The service and the console of a hospital, in a process of their own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx

from tests.service.hospital import Hospital


class Serving:
    """A process that serves the console of a hospital, until it is ended."""

    def __init__(self, hospital: Hospital, port: int = 0) -> None:
        self.hospital = hospital
        self.port = port or _free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        command = [sys.executable, "-m", "tests.console.serving", str(hospital.folder), str(self.port)]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        self._log = (hospital.folder.parent / f"console-{self.port}.log").open("wb")
        self.process = subprocess.Popen(command, stdout=self._log, stderr=self._log, env=environment)
        self._wait()

    def _wait(self) -> None:
        ends = time.monotonic() + 60
        while time.monotonic() < ends and self.process.poll() is None:
            try:
                if httpx.get(f"{self.address}/sign-in").status_code == 200:
                    return
            except httpx.HTTPError:
                time.sleep(0.05)
        raise AssertionError(f"it did not start: {self.log()}")

    def log(self) -> str:
        """What the process said."""
        return Path(self._log.name).read_text("utf-8")

    def end(self) -> None:
        """End the process."""
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(timeout=30)
        self._log.close()

    def __enter__(self) -> Serving:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def main(folder: str, port: str) -> None:
    """Serve the hospital in ``folder`` at ``port``."""
    import uvicorn

    from discreet.console.console import add_console
    from discreet.service.app import application

    house = Hospital(Path(folder), {}).house()
    app = application(house)
    add_console(app, house)
    uvicorn.run(app, port=int(port), log_level="warning")


if __name__ == "__main__":
    main(*sys.argv[1:])
