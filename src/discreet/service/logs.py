"""Logs without data: one line of JSON for each event, made of names that the code chose and never of what was sent.

What libraries say is not written, because their words can hold a question, a token or a value of a row. Of an error
its type and its place in the code are written, and not its message.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import PurePath
from traceback import walk_tb
from types import TracebackType
from typing import Any, TextIO

__all__ = ["log_event", "log_failure", "start_logs"]


_OURS = "discreet.service"
_LOGGER = logging.getLogger(_OURS)
_FIELDS = "discreet"
_UNKNOWN = "a library said something"
_MOST_PLACES = 20
_NUMBERS = re.compile(r" (\[(%d|\d+)\]|%s)")
_KNOWN = frozenset(
    {
        "Started server process",
        "Started parent process",
        "Waiting for application startup.",
        "Application startup complete.",
        "Child process died",
        "Received SIGINT, exiting.",
        "Received SIGTERM, exiting.",
        "Terminated child process",
        "Waiting for child process",
        "Shutting down",
        "Waiting for connections to close. (CTRL+C to force quit)",
        "Waiting for background tasks to complete. (CTRL+C to force quit)",
        "Cancel running task(s), timeout graceful shutdown exceeded",
        "Waiting for application shutdown.",
        "Application shutdown complete.",
        "Finished server process",
        "Stopping parent process",
        "Exception in ASGI application",
        "Invalid HTTP request received.",
    }
)
"""Sentences of uvicorn, without their numbers of processes and tasks."""


def log_event(event: str, level: int = logging.INFO, **fields: str | int | None) -> None:
    """Log something that happened; ``fields`` are names and numbers that the code chose."""
    _LOGGER.log(level, event, extra={_FIELDS: fields})


def log_failure(fault: BaseException, request: str) -> None:
    """Log that a request failed, by the type of the error and its places in the code."""
    _LOGGER.error("failed", exc_info=fault, extra={_FIELDS: {"request": request}})


def start_logs(level: str, stream: TextIO | None = None) -> None:
    """Send every log of this process to ``stream``, standard error by default, without what it must not say."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_Lines())
    handler.addFilter(_is_worth_a_line)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    for known in list(root.manager.loggerDict.values()):
        if isinstance(known, logging.Logger):  # others are places for loggers that nobody asked for yet
            known.handlers.clear()
            known.propagate = True
    for name, wanted in ((_OURS, level.upper()), ("uvicorn", level.upper()), ("uvicorn.error", logging.NOTSET)):
        logging.getLogger(name).setLevel(wanted)
    logging.captureWarnings(True)
    logging.raiseExceptions = False  # it would print what could not be logged
    sys.excepthook = _uncaught
    sys.unraisablehook = lambda fault: _uncaught(fault.exc_type, fault.exc_value, fault.exc_traceback)
    threading.excepthook = lambda fault: _uncaught(fault.exc_type, fault.exc_value, fault.exc_traceback)


def _uncaught(kind: type[BaseException], fault: BaseException | None, trace: TracebackType | None) -> None:
    _LOGGER.critical("uncaught", exc_info=(kind, fault or kind(), trace))


class _Lines(logging.Formatter):
    """Records as lines of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        said: dict[str, Any] = {"time": when, "level": record.levelname.lower(), "event": _event(record)}
        said |= getattr(record, _FIELDS, {}) if record.name == _OURS else _origin(record)
        if isinstance(record.exc_info, tuple) and record.exc_info[0] is not None:
            said |= _failure(record.exc_info[0], record.exc_info[2])
        return json.dumps({name: value for name, value in said.items() if value is not None})


def _is_worth_a_line(record: logging.LogRecord) -> bool:
    """Whether we said it, or it is known, or a library warns; without its words, nothing else is worth reading."""
    return record.name == _OURS or record.levelno >= logging.WARNING or _event(record) != _UNKNOWN


def _event(record: logging.LogRecord) -> str:
    if record.name == _OURS:
        return str(record.msg)
    words = _NUMBERS.sub("", str(record.msg)).strip()
    return words if record.name == "uvicorn.error" and words in _KNOWN else _UNKNOWN


def _origin(record: logging.LogRecord) -> dict[str, Any]:
    return {"logger": record.name, "place": f"{record.module}:{record.lineno}", "process": record.process}


def _failure(kind: type[BaseException], trace: TracebackType | None) -> dict[str, Any]:
    return {"error": f"{kind.__module__}.{kind.__qualname__}", "places": list(_places(trace))[-_MOST_PLACES:]}


def _places(trace: TracebackType | None) -> Iterator[str]:
    for frame, line in walk_tb(trace):
        code = frame.f_code
        yield f"{PurePath(code.co_filename).name}:{line} {code.co_name}"
