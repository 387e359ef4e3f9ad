"""One run serves all who ask: whoever comes while it is under way gets what comes of it, and starts none of their own.

What came of it is told again for a while, as long as nothing has changed that it was about.

>>> SharedRun().begin(lambda: 42).result()
42
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock, Thread
from time import monotonic
from typing import Generic, TypeVar

__all__ = ["SharedRun"]


T = TypeVar("T")


class SharedRun(Generic[T]):
    """Work that takes long, runs once at a time, and comes to the same for everybody."""

    def __init__(self, seconds: float = 0.0) -> None:
        """Nothing is under way; what comes of a run is told again for ``seconds``."""
        self._lock = Lock()
        self._seconds = seconds
        self._running: Future[T] | None = None
        self._last: tuple[Future[T], object, float] | None = None
        """What came of the last run, what it was about, and when it ended."""

    def begin(self, work: Callable[[], T], about: object = None) -> Future[T]:
        """What comes of the run that is under way, or of ``work``, which begins now on a thread of its own.

        Where a run about the same ended a moment ago, it is what came of that.
        """
        with self._lock:
            if self._running is not None:
                return self._running
            if self._last is not None and self._last[1] == about and monotonic() < self._last[2] + self._seconds:
                return self._last[0]
            found: Future[T] = Future()
            found.set_running_or_notify_cancel()  # who waits no longer ends it for nobody
            self._running = found
        Thread(target=self._run, args=(found, work, about), daemon=True).start()
        return found

    def _run(self, found: Future[T], work: Callable[[], T], about: object) -> None:
        try:
            result = work()
        except BaseException as fault:
            self._end(None)
            found.set_exception(fault)
        else:
            self._end((found, about, monotonic()))
            found.set_result(result)

    def _end(self, last: tuple[Future[T], object, float] | None) -> None:
        """Before anybody hears of it, so that who asks after they heard does not get one that is too old."""
        with self._lock:
            self._running, self._last = None, last
