"""Metrics for the owner: what was asked of the service and what it said, and nothing that depends on rows.

Times are kept of explaining alone, which reads no rows. How long questions ran, how large answers were, how much
memory or processor time was used: all of that depends on rows, so none of it is here.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from discreet.privacy.loss import Pure
from discreet.service.house import House

__all__ = ["EXPLAIN", "SHARED", "Metrics", "written"]

EXPLAIN = "/api/v1/explain"
"""The one route whose times are kept."""
SHARED = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that names the folder where processes of one service add up their counts."""
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)


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
            "discreet_explain_seconds", "How long explaining took.", buckets=_SECONDS, registry=self.registry
        )

    def count(self, method: str, route: str, status: int, problem: str | None, seconds: float) -> None:
        """Count a request that has ended."""
        self._requests.labels(method, route, str(status)).inc()
        if problem is not None:
            self._refusals.labels(problem).inc()
        if route == EXPLAIN:
            self._explaining.observe(seconds)


def written(house: House, metrics: Metrics) -> bytes:
    """Everything that can be told, as Prometheus reads it: the counts of all processes, and what the books say."""
    counted = metrics.registry
    if os.environ.get(SHARED):
        counted = CollectorRegistry()
        MultiProcessCollector(counted)  # type: ignore[no-untyped-call]
    books = CollectorRegistry()
    books.register(_Books(house, metrics.started))
    return generate_latest(counted) + generate_latest(books)


class _Books(Collector):
    """What the ledger and the service's book say at the moment."""

    def __init__(self, house: House, started: float) -> None:
        self._house = house
        self._started = started

    def collect(self) -> Iterable[Metric]:
        yield GaugeMetricFamily("discreet_start_time_seconds", "When this process started.", self._started)
        states = GaugeMetricFamily("discreet_questions", "Questions that were sent, by state.", labels=["state"])
        for state, count in self._house.store.rows("SELECT state, COUNT(*) FROM request GROUP BY state"):
            states.add_metric([state], count)
        yield states
        yield from self._budgets()

    def _budgets(self) -> Iterable[Metric]:
        held = self._house.curator.ledger.accounts()
        for part in ("cap", "spent"):
            words = f"The {part} of each account, in ε or ρ."
            family = GaugeMetricFamily(f"discreet_budget_{part}", words, labels=["account", "unit"])
            for name, account in held.items():
                loss = account.allowance.loss(account.spent if part == "spent" else account.allowance.cap)
                unit, amount = ("epsilon", loss.epsilon) if isinstance(loss, Pure) else ("rho", loss.rho)
                family.add_metric([name, unit], float(amount))
            yield family
