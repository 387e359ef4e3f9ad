"""Work that somebody waits for: it can be limited in time, watched, and stopped with Ctrl-C.

DuckDB runs with Python's signals held back: Ctrl-C waits until the statement is over, or comes out as a RuntimeError.
So the work runs on a thread of its own, and the thread that waits stays free to hear the signal, look at the clock and
report progress. It never waits without an end, because some libraries catch SIGINT so that no waiting thread wakes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from discreet.time_limits import INTERRUPT_LOOK

__all__ = ["run_attended"]


T = TypeVar("T")


class _Work(Generic[T]):
    """A call on a thread of its own, and what came of it."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._result: list[T] = []
        self._error: BaseException | None = None
        self._lock = threading.Lock()
        self._has_begun = self._is_off = False
        self.done = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._run, daemon=True).start()

    def stop(self, interrupt: Callable[[], None]) -> None:
        """End it, also where it was being started: nothing of it goes on, and nothing of it begins later."""
        with self._lock:
            self._is_off = True
            if not self._has_begun:
                return
        interrupt()
        self.interrupt(interrupt)

    def interrupt(self, interrupt: Callable[[], None]) -> None:
        """Make it raise, and wait until it did."""
        while not self.done.wait(INTERRUPT_LOOK):
            interrupt()  # again and again, because one that arrives before the statement has started is lost

    def _run(self) -> None:
        with self._lock:
            if self._is_off:
                return
            self._has_begun = True
        try:
            self._result.append(self._call())
        except BaseException as error:  # handed to the thread that waits
            self._error = error
        finally:
            self.done.set()

    def result(self) -> T:
        error, self._error = self._error, None
        if error is not None:
            raise error
        return self._result[0]


def run_attended(
    call: Callable[[], T],
    interrupt: Callable[[], None],
    timeout: float | None = None,
    tick: Callable[[], None] | None = None,
) -> T:
    """The result of ``call``. ``interrupt`` must make it raise; it is used after ``timeout`` seconds and on Ctrl-C."""
    if timeout is None and tick is None and threading.current_thread() is not threading.main_thread():
        return call()  # no clock, nobody to report to, and signals reach the main thread alone
    work = _Work(call)
    deadline = None if timeout is None else time.monotonic() + timeout
    try:
        work.start()
        if not _is_done(work.done, deadline, tick):
            interrupt()
            work.interrupt(interrupt)
    except (
        BaseException
    ):  # Ctrl-C arrives anywhere: also while a thread is started, which a busy machine takes long for
        work.stop(interrupt)
        raise
    return work.result()


def _is_done(done: threading.Event, deadline: float | None, tick: Callable[[], None] | None) -> bool:
    """Wait; False once the time is over."""
    while not done.wait(
        INTERRUPT_LOOK if deadline is None else min(INTERRUPT_LOOK, max(0.0, deadline - time.monotonic()))
    ):
        if tick is not None:
            tick()
        if deadline is not None and time.monotonic() >= deadline:
            return False
    return True
