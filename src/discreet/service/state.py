"""The service: the curator and the service's own database, opened once and used by every request."""

from __future__ import annotations

import hashlib
import logging
import os
from contextlib import suppress
from threading import Lock, Thread

from discreet.curator.advice.histogram import Offers
from discreet.curator.answers.answer import Answer
from discreet.curator.curator import Curator
from discreet.curator.ledger.open import verify_alone
from discreet.curator.ledger.verify import Verification
from discreet.engines.engine import tell
from discreet.engines.open import open_engine
from discreet.errors import DiscreetError, LedgerError
from discreet.http.problems import name_of
from discreet.service.audit_trail import COMMAND, RefusalCounts, Trail, record_in_ledger
from discreet.service.auth.members import Members
from discreet.service.auth.rate_limit import Limits
from discreet.service.due_closes import DueCloses
from discreet.service.jobs.jobs import Job, Requests
from discreet.service.jobs.shared_run import SharedRun
from discreet.service.jobs.worker import JobWorker, ReleaseDelay, answer_job
from discreet.service.logs import log_event
from discreet.service.settings import Settings
from discreet.service.signed_heads import Heads, check_saved
from discreet.service.storage import ServiceStore
from discreet.time_limits import REPLAY_KEPT
from discreet.version import __version__

__all__ = ["ServiceState"]


def _threads_for_rows() -> int:
    """All cores but one, which is left to those who look at prices while rows are read."""
    return max(1, (os.cpu_count() or 1) - 1)


class ServiceState:
    """What operations work on. All of it may be used by many threads at once."""

    def __init__(self, settings: Settings) -> None:
        """Open the curator's folder; a ledger that cannot be believed is not opened."""
        self.settings = settings
        engine = open_engine(settings.folder, timeout=settings.longest_run, threads=_threads_for_rows())
        self._curator = Curator(
            settings.folder, engine=engine, shared_answers=settings.shared_answers, offers=Offers.NONE
        )
        self.store = ServiceStore(settings.folder)
        self.trail = Trail(self.store)
        self.tally = RefusalCounts(self.trail)
        self.trail.check(self._curator.ledger)
        check_saved(settings, self._curator.ledger)
        self.trail.write("service started", COMMAND, version=__version__, policies=self._curator.policies_digest())
        self.record_trail(always=False)
        self.members = Members(self.store)
        self.limits = Limits(settings.requests_per_minute)
        self.requests = Requests(self.store)
        self.reading_back = Lock()
        """Held by who looks for records: a rare word is looked for in all of them, and one core is enough for that."""
        self.replaying: SharedRun[Verification] = SharedRun(REPLAY_KEPT)
        self.worker = JobWorker(
            self.requests,
            self._answered,
            at_once=settings.questions_at_once,
            quantum=settings.release_quantum,
        )
        self.worker.open()
        self.heads = Heads(self)
        self.closes = DueCloses(self)
        if not self._curator.opened.is_whole:
            Thread(target=self._verify, daemon=True).start()

    def _verify(self) -> None:
        """Verify what was not looked at when the ledger was opened; where it is wrong, no question is answered."""
        try:
            found = verify_alone(self.settings.folder)
        except OSError as fault:
            log_event("the ledger was not verified", logging.ERROR, error=type(fault).__name__)
            return
        if found is not None and not found.is_sound:
            log_event("the ledger cannot be believed", logging.ERROR, problems=len(found.problems))
            tell(self._curator.engine.owner_log, LedgerError("the ledger must be sound", f"<{found.problems[0]}>"))

    def _answered(self, job: Job, hold: ReleaseDelay) -> Answer:
        try:
            return answer_job(self.curator, self.members, job, hold)
        except DiscreetError as refusal:
            self.note_refusal(job.member, refusal, job.sql)
            raise

    def note_refusal(self, member: str, refusal: DiscreetError, sql: str) -> None:
        """Write down that a question of a member was refused: by which rule, and the hash of the question's text."""
        question = hashlib.sha256(sql.encode("utf-8", "replace")).hexdigest()
        self.tally.count("question refused", member, refusal.rule, error=name_of(refusal), question=question)

    def record_trail(self, *, always: bool = True) -> None:
        """Let the ledger know how far the audit trail has come; or only where a right was taken away since."""
        record_in_ledger(self.trail, self._curator.ledger, always=always)

    @property
    def curator(self) -> Curator:
        """The curator, who sees what other processes have changed about policies by now."""
        self._curator.refresh()
        return self._curator

    def close(self) -> None:
        """Finish what reads rows now and take no more questions; those that wait are answered after the next start."""
        self.worker.close()
        self.tally.flush(everything=True)
        self.closes.stop()
        self.heads.stop()
        with suppress(DiscreetError):
            self.record_trail(always=False)
