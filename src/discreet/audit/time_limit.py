"""A limit on the time that an audit takes, also where a single call never returns."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from discreet.errors import InvalidValue

__all__ = ["Deadline", "TimeUp"]

_LONGEST = 366 * 24 * 60 * 60
_AGAIN = 0.1
"""Seconds from one interruption to the next."""


class TimeUp(BaseException):
    """The time is up, in the middle of a call. No Exception, so that an audited function does not catch it."""


class Deadline:
    """A point in time; without a number of seconds it never comes."""

    def __init__(self, seconds: float | None) -> None:
        """Start the clock."""
        given: Any = seconds
        if given is not None and not (isinstance(given, (int, float)) and 0 < given <= _LONGEST):
            raise InvalidValue("seconds must be a positive number, at most a year", given, "leave it out for no limit")
        self.seconds = seconds
        self._end = None if seconds is None else time.monotonic() + seconds

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return self._end is not None and time.monotonic() >= self._end

    @contextmanager
    def interrupting(self) -> Iterator[None]:
        """Raise `TimeUp` inside the block at the deadline, where the host can do that: in the main thread, on Unix.

        It is raised again and again until the block ends, for a function that catches even this.
        """
        is_able = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
        if self._end is None or not is_able:
            yield
            return
        before = signal.signal(signal.SIGALRM, _raise)
        signal.setitimer(signal.ITIMER_REAL, max(self._end - time.monotonic(), 1e-3), _AGAIN)
        try:
            yield
        finally:
            _stop(before)


def _stop(before: Any) -> None:
    """End the alarms; one that comes in between must not leave them on."""
    while True:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        except TimeUp:
            continue
        return


def _raise(number: int, frame: FrameType | None) -> None:
    raise TimeUp
