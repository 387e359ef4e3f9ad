"""A Spark session of the engine's own: the owner's tables and cluster, with settings that answers do not depend on.

An owner's session is never changed. One of our own shares its catalog, and differs in how values are read and compared;
temporary views belong to one session and are not seen from another.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from discreet.errors import InvalidValue, MissingExtra, StoreError

__all__ = ["SETTINGS", "connected", "interrupt", "local", "tagged"]

SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.parser.escapedStringLiterals": "false",
    # Files of old versions hold dates of another calendar, over which some versions raise.
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    # Rows that cannot be read must not go missing without a word.
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}
"""What the meaning of a statement hangs on."""
_OLDEST_JAVA = 17
_PORT = 15002
_SECONDS = 10


def local(session: Any | None) -> Any:
    """A session beside the owner's, or beside the one of this process, which is started where there is none."""
    if session is not None and _is_remote(session):
        return _set(session.cloneSession())
    return _set((_running() if session is None else session).newSession())


def connected(url: str) -> Any:
    """A session on a server of Spark Connect, ``sc://host:port``."""
    _check_open(url)
    try:
        from pyspark.sql.connect.session import SparkSession  # noqa: PLC0415  needs an extra
    except ImportError:
        raise _missing() from None
    return _set(SparkSession.builder.remote(url).create())


def _is_remote(session: Any) -> bool:
    return type(session).__module__.startswith("pyspark.sql.connect")


@contextmanager
def tagged(session: Any, tag: str) -> Iterator[None]:
    """Whatever this thread asks meanwhile can be interrupted by its tag."""
    # A tag of a session in this process is lost on the way: results are collected on another thread of the JVM, which
    # takes over the tags of jobs and no others.
    add, remove = _marks(session)
    add(tag)
    try:
        yield
    finally:
        remove(tag)


def _marks(session: Any) -> tuple[Callable[[str], None], Callable[[str], None]]:
    if _is_remote(session):
        return session.addTag, session.removeTag
    return session.sparkContext.addJobTag, session.sparkContext.removeJobTag


def interrupt(session: Any, tag: str) -> None:
    """End what was asked under a tag."""
    if _is_remote(session):
        session.interruptTag(tag)
    else:
        session.sparkContext.cancelJobsWithTag(tag)


def _set(session: Any) -> Any:
    for name, value in SETTINGS.items():
        session.conf.set(name, value)
    return session


def _missing() -> MissingExtra:
    return MissingExtra("this needs pyspark", "<not installed>", "pip install 'discreet[spark]'")


def _running() -> Any:
    try:
        from pyspark import SparkContext  # noqa: PLC0415  needs an extra
        from pyspark.sql import SparkSession  # noqa: PLC0415  needs an extra
    except ImportError:
        raise _missing() from None
    if SparkContext._active_spark_context is not None:
        return SparkSession.builder.getOrCreate()
    _check_java()
    builder = SparkSession.builder.appName("discreet").config("spark.ui.enabled", "false")
    session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")  # what Spark says about a failure can hold a value of a row
    return session


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    remedy = f"install Java {_OLDEST_JAVA} or newer, and put it on the PATH or name it in JAVA_HOME"
    try:
        said = subprocess.run([java or "java", "-version"], capture_output=True, text=True, check=True).stderr  # noqa: S603
    except (OSError, subprocess.CalledProcessError):
        raise StoreError("Spark needs Java", "<none found>", remedy) from None
    found = re.search(r'version "(\d+)', said)
    if found is None or int(found[1]) < _OLDEST_JAVA:
        raise StoreError("Spark needs Java", said.partition("\n")[0] or "<another>", remedy)


def _check_open(url: str) -> None:
    """Spark's own client waits for minutes before it says that nobody is there."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or _PORT
    except ValueError:
        host, port = None, 0
    if host is None or parts.scheme != "sc":
        raise InvalidValue("a server of Spark Connect is named sc://HOST:PORT", "<another form>")
    try:
        socket.create_connection((host, port), timeout=_SECONDS).close()
    except OSError:
        rule = "the server of Spark Connect must be reachable"
        raise StoreError(rule, f"{host}:{port}", "start it, or see whether the address is right") from None
