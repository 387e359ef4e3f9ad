"""Closes by the calendar: every period closes when its end, and its days of grace, have come.

One process of a service does it, as one sends the signed heads. A close that fails is tried again in the next round;
what keeps one from closing depends on the disk and the ledger, and on no row.
"""

from __future__ import annotations

import logging
from threading import Event, Thread
from typing import TYPE_CHECKING

from discreet.engines.duckdb.store import FileLock
from discreet.service.logs import log_event

if TYPE_CHECKING:
    from discreet.service.state import ServiceState

__all__ = ["CALENDAR", "CLOSED", "DueCloses"]


CLOSED = "periods closed"
"""What the trail says of a close."""
CALENDAR = "the calendar"
"""Who closed a period that nobody closed before it was due."""


class DueCloses:
    """Closes what is due of a service, from one of its processes."""

    def __init__(self, service: ServiceState) -> None:
        """Of ``service``; nothing is closed before `start`."""
        self._service = service
        self._ending = Event()
        self._thread: Thread | None = None
        self._lock = FileLock(service.settings.folder / "closes.lock")
        self._is_ours = False

    def start(self) -> None:
        """Look now and then, on a thread; never, where the settings say so."""
        if self._service.settings.close_seconds:
            self._thread = Thread(target=self._run, name="closes", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Look no more; a close that is under way is finished first."""
        self._ending.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
            self._lock.release()

    def _run(self) -> None:
        while not self._ending.is_set():
            try:
                self.close()
            except Exception as fault:  # whatever it is, the next round tries again
                log_event("periods that are due could not be closed", logging.ERROR, error=type(fault).__name__)
            self._ending.wait(self._service.settings.close_seconds)

    def close(self) -> None:
        """Close what is due, unless another process of this folder looks after it."""
        self._is_ours = self._is_ours or self._lock.acquire(wait=False)
        if not self._is_ours:
            return
        for table, periods in self._service.curator.close_due().items():
            self._service.trail.write(CLOSED, CALENDAR, table=table, through=periods[-1].name)
