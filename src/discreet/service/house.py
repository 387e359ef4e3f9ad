"""The house: the curator and the service's own book, opened once and used by every request."""

from __future__ import annotations

import os

from discreet.curator.curator import Curator
from discreet.engines.opening import opened
from discreet.service.answering import answered
from discreet.service.desk import Desk
from discreet.service.limits import Limits
from discreet.service.members import Members
from discreet.service.requests import Requests
from discreet.service.settings import Settings
from discreet.service.store import Store

__all__ = ["House"]


def _threads_for_rows() -> int:
    """All cores but one, which is left to those who look at prices while rows are read."""
    return max(1, (os.cpu_count() or 1) - 1)


class House:
    """What operations work on. All of it may be used by many threads at once."""

    def __init__(self, settings: Settings) -> None:
        """Open the curator's folder; a ledger that cannot be believed is not opened."""
        self.settings = settings
        engine = opened(settings.folder, timeout=settings.longest_run, threads=_threads_for_rows())
        self._curator = Curator(settings.folder, engine=engine, shared_answers=settings.shared_answers, offers=False)
        self.store = Store(settings.folder)
        self.members = Members(self.store)
        self.limits = Limits(settings.requests_per_minute)
        self.requests = Requests(self.store)
        self.desk = Desk(
            self.requests,
            lambda job, hold: answered(self.curator, self.members, job, hold),
            at_once=settings.questions_at_once,
            quantum=settings.release_quantum,
        )
        self.desk.open()

    @property
    def curator(self) -> Curator:
        """The curator, who sees what other processes have changed about policies by now."""
        self._curator.refresh()
        return self._curator

    def close(self) -> None:
        """Finish what reads rows now and take no more questions; those that wait are answered after the next start."""
        self.desk.close()
