"""Health and metrics, which say nothing that depends on rows.

Health says yes or no, and nothing about why: no where a database cannot be read or written, and where a verification
found the ledger wrong. Metrics count what was asked of the service and what it said. Times are kept of explaining
alone, which reads no rows: how long questions ran, how large answers were, how much memory or processor time was used,
all of that depends on rows.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from discreet.curator.ledger.checkpoint import check_trusted
from discreet.errors import DiscreetError
from discreet.privacy.loss import Pure
from discreet.service.state import ServiceState
from discreet.storage.database import Database
from discreet.time_limits import HEALTH_KEPT

__all__ = ["EXPLAIN", "FORGET", "SHARED", "Health", "Metrics", "write_metrics"]


_CHARGE_BYTES = 2**16
"""Bytes that must fit the disk before questions are taken."""


class Health:
    """Whether a service can read and write its databases. Anybody may ask, so it looks once a second at most."""

    def __init__(self, service: ServiceState, clock: Callable[[], float] = time.monotonic) -> None:
        """Of ``service``."""
        self._service = service
        self._clock = clock
        self._lock = Lock()
        self._looked: float | None = None
        self._found = False

    def is_ready(self) -> bool:
        """Whether the databases can be read and written."""
        with self._lock:
            now = self._clock()
            if self._looked is None or now - self._looked >= HEALTH_KEPT:
                self._found, self._looked = self._look(), now
            return self._found

    def _look(self) -> bool:
        try:
            self._service.curator.ledger.head()
            check_trusted(self._service.curator.folder)
            self._service.store.write(_change_nothing)
            _write_some(self._service.curator.folder)
        except (DiscreetError, OSError):
            return False
        file = self._service.curator.folder / "ledger.db"
        return not file.exists() or os.access(file, os.W_OK)  # there is none where the ledger is on a server


def _write_some(folder: Path) -> None:
    """What fails on a full disk, where changing nothing does not: as much as a charge and an answer take, durably."""
    with TemporaryFile(dir=folder) as file:
        file.write(bytes(_CHARGE_BYTES))
        file.flush()
        os.fsync(file.fileno())


def _change_nothing(database: Database) -> None:
    """What asks for the right to write."""
    database.execute("UPDATE member SET name = name WHERE 1 = 0")


EXPLAIN = "/api/v1/explain"
"""The one route whose times are kept."""
FORGET = ("DELETE", "/api/v1/tables/{name}/units")
"""The one route whose requests are not counted: that somebody is to be forgotten would show that they were there."""
SHARED = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that names the folder where processes of one service add up their counts."""
_SCRAPE_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)


class Metrics:
    """What one process has counted."""

    def __init__(self) -> None:
        """From zero, and the time of the start."""
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.started = time.time()
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "discreet_requests", "Requests that were answered.", ["method", "route", "status"], registry=self.registry
        )
        self._refusals = Counter(
            "discreet_refusals", "Requests that were refused, by the kind of problem.", ["kind"], registry=self.registry
        )
        self._explaining = Histogram(
            "discreet_explain_seconds", "How long explaining took.", buckets=_SCRAPE_SECONDS, registry=self.registry
        )

    def count(self, method: str, route: str, status: int, problem: str | None, seconds: float) -> None:
        """Count a request that has ended; one that is there because of a single person is not."""
        if (method, route) == FORGET:
            return
        self._requests.labels(method, route, str(status)).inc()
        if problem is not None:
            self._refusals.labels(problem).inc()
        if route == EXPLAIN:
            self._explaining.observe(seconds)


def write_metrics(service: ServiceState, metrics: Metrics) -> bytes:
    """Everything that can be told, as Prometheus reads it: the counts of all processes, and what the databases say."""
    counted = metrics.registry
    if os.environ.get(SHARED):
        counted = CollectorRegistry()
        MultiProcessCollector(counted)  # type: ignore[no-untyped-call]
    storages = CollectorRegistry()
    storages.register(_DatabaseCollector(service, metrics.started))
    return generate_latest(counted) + generate_latest(storages)


class _DatabaseCollector(Collector):
    """What the ledger and the service's database say at the moment."""

    def __init__(self, service: ServiceState, started: float) -> None:
        self._service = service
        self._started = started

    def collect(self) -> Iterable[Metric]:
        yield GaugeMetricFamily("discreet_start_time_seconds", "When this process started.", self._started)
        states = GaugeMetricFamily("discreet_questions", "Questions that were sent, by state.", labels=["state"])
        for state, count in self._service.store.rows("SELECT state, COUNT(*) FROM request GROUP BY state"):
            states.add_metric([state], count)
        yield states
        yield from self._budgets()

    def _budgets(self) -> Iterable[Metric]:
        held = self._service.curator.ledger.accounts()
        for part in ("cap", "spent"):
            words = f"The {part} of each account, in ε or ρ."
            family = GaugeMetricFamily(f"discreet_budget_{part}", words, labels=["account", "unit"])
            for name, account in held.items():
                if part == "cap" and account.allowance.is_counted:
                    continue
                loss = account.was_spent if part == "spent" else account.granted
                unit, amount = ("epsilon", loss.epsilon) if isinstance(loss, Pure) else ("rho", loss.rho)
                family.add_metric([name, unit], float(amount))
            yield family
