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
_WIRE = ("py4j.clientserver", "py4j.java_gateway")
"""What goes over the wire, where somebody asked for every word."""
_thread = threading.local()


def _is_not_ours(record: logging.LogRecord) -> bool:
    return not getattr(_thread, "is_ours", False)


@cache
def _kept_apart() -> None:
    """Put back the class of loggers whenever Spark changes it.

    Loggers of Spark print by themselves. Asking for one makes every later logger of the program such a one, too, and
    those of a service would print what they must not.
    """
    from pyspark.logger import PySparkLogger  # noqa: PLC0415  needs an extra

    asked = PySparkLogger.getLogger
    if issubclass(logging.getLoggerClass(), PySparkLogger):
        logging.setLoggerClass(logging.Logger)

    def asked_and_put_back(name: str | None = None) -> Any:
        usual = logging.getLoggerClass()
        try:
            return asked(name)
        finally:
            logging.setLoggerClass(usual)

    PySparkLogger.getLogger = staticmethod(asked_and_put_back)  # type: ignore[method-assign]


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing that Spark says about a statement of this thread is printed."""
    from pyspark.logger import PySparkLogger  # noqa: PLC0415  needs an extra

    _kept_apart()
    for name in _LOGGERS:
        PySparkLogger.getLogger(name).addFilter(_is_not_ours)  # the same filter twice is one
    for name in _WIRE:
        logging.getLogger(name).addFilter(_is_not_ours)
    _thread.is_ours = True
    try:
        yield
    finally:
        _thread.is_ours = False
