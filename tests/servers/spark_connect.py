"""A real server of Spark Connect: a process of its own on this machine, which can be killed and started again.

Its executors are processes too, where it is a cluster on one machine, and can be lost one by one.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.engines.contract import ROWS
from tests.servers.spark import QUICK, prepared_java
from tests.servers.stopping import stop_processes

_SECONDS = 120
SLEEPING = "length(reflect('java.lang.Thread', 'sleep', 1000L)) > 0"
"""A condition that takes a second for each row."""
CLUSTER = "local-cluster[2,1,512]"
"""Two executors with one core each."""


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def until(is_so: Callable[[], bool]) -> None:
    """Wait for something."""
    end = time.monotonic() + _SECONDS
    while not is_so():
        assert time.monotonic() < end, "it did not come to this"
        time.sleep(0.05)


def eight_rows(folder: Path) -> Path:
    """A folder of files with one row each, so that several tasks read them."""
    (folder / "rows").mkdir()
    for k in range(8):
        pq.write_table(ROWS.slice(k % 4, 1), folder / "rows" / f"{k}.parquet")
    return folder / "rows"


class SparkConnectServer:
    """One server on a port of its own. Its settings are an owner's, and none of them may change an answer."""

    def __init__(self) -> None:
        import pyspark

        self._home = Path(pyspark.__file__).parent
        self.folder = Path(tempfile.mkdtemp(prefix="connect"))
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """What a client names it by."""
        return f"sc://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        """What it printed."""
        return (self.folder / "log").read_text(errors="replace")

    def _settings(self) -> dict[str, str]:
        return {
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(self.port),
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.defaultJavaOptions": QUICK,
            "spark.driver.host": "127.0.0.1",
            "spark.driver.memory": "1g",
            "spark.executor.defaultJavaOptions": QUICK,
            "spark.executor.memory": "512m",
            "spark.local.dir": str(self.folder / "local"),
            "spark.sql.ansi.enabled": "false",
            "spark.sql.caseSensitive": "true",
            "spark.sql.catalogImplementation": "in-memory",
            "spark.sql.session.timeZone": "America/New_York",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.warehouse.dir": str(self.folder / "warehouse"),
            "spark.task.maxFailures": "2",
            "spark.ui.enabled": "false",
        }

    def start(self, master: str = "local[2]") -> None:
        """Start it, anew where it runs, and wait until it listens."""
        self.kill()
        words = [word for name, value in self._settings().items() for word in ("--conf", f"{name}={value}")]
        command = [str(self._home / "bin" / "spark-submit"), "--master", master, *words]
        command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
        own = {"SPARK_HOME": str(self._home), "SPARK_WORKER_DIR": str(self.folder / "work")}
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command, env={**os.environ, **own}, cwd=self.folder, stdout=log, stderr=log, start_new_session=True
            )
        until(self._listens)

    def _listens(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, self.log[-2000:]
        with socket.socket() as probe:
            probe.settimeout(2)
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def tasks(self) -> int:
        """How many tasks were ever begun."""
        return self.log.count("Starting task")

    def executors(self) -> list[int]:
        """The processes that run them."""
        return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if self._runs_tasks(pid)]

    def _runs_tasks(self, pid: int) -> bool:
        try:
            return self._is_own(pid) and b"CoarseGrainedExecutorBackend" in Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return False

    def _is_own(self, pid: int) -> bool:
        assert self._process is not None
        try:
            return os.getpgid(pid) == self._process.pid
        except OSError:
            return False

    def freeze(self) -> None:
        """Let it answer nobody, though it listens."""
        stop_processes(pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if self._is_own(pid))

    def thaw(self) -> None:
        """Let it go on."""
        self._send(signal.SIGCONT)

    def _send(self, number: int) -> None:
        assert self._process is not None
        os.killpg(self._process.pid, number)

    def kill(self) -> None:
        """At once and with all its executors, as when the power is cut."""
        if self._process is not None:
            self._send(signal.SIGKILL)
            self._process.wait(_SECONDS)
            self._process = None

    def remove(self) -> None:
        """Kill it, and leave nothing behind."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture(scope="session")
def connect_server() -> Iterator[SparkConnectServer]:
    """A running server with two executors."""
    prepared_java()
    server = SparkConnectServer()
    try:
        server.start(CLUSTER)
        yield server
    finally:
        server.remove()
