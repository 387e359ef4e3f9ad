"""Spark's Python library prints what went wrong, which can hold a value of a row; for our statements it does not."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

__all__ = ["quiet"]

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
