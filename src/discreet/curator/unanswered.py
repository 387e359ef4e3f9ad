"""A request that meets another plan than it was tied to: new data, or another policy, came before it was answered.

What was charged is answered: on the rows and by the plan that were charged for while these are kept, or by a plan for
the data of today that costs no more on any account. Why that is sound, and what is kept how long: ``plan.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace

from discreet.catalog.catalog import Catalog
from discreet.curator.bound_requests import Bound
from discreet.curator.fuse import Fuse
from discreet.curator.ledger import Ledger, Receipt
from discreet.curator.ledger_ends import covers
from discreet.curator.planning import Planner
from discreet.curator.prepared import Asked, Prepared, named_plan
from discreet.engines.engine import Place
from discreet.errors import DiscreetError, EngineFailure, RequestConflict

__all__ = ["Unanswered"]


class Unanswered:
    """One question that is asked under an id which stands for another plan of it."""

    def __init__(
        self, ledger: Ledger, engine: Place, asked: Asked, prepare: Callable[[Planner], Prepared], kept: ExitStack
    ) -> None:
        """Of a ledger and an engine; what is opened for it stays so until ``kept`` ends."""
        self._ledger, self._engine, self._kept = ledger, engine, kept
        self._asked, self._prepare = asked, prepare

    def as_bound(self, known: Bound, ready: Prepared, catalog: Catalog) -> Prepared:
        """What the request stands for, given what it would be planned as today."""
        versions = {**ready.public, **known.versions}  # records of before tell nothing of public tables
        is_same = named_plan(versions, ready.plans, self._asked.analyst, shared=ready.is_shared) == known.plan
        if not is_same and self._asked.question != known.question:
            raise self._conflict("a request id must stand for one question", "use a new id")
        if known.receipt is None:  # nothing was charged, or it was returned
            return ready
        if known.receipt.end is None:
            return self._as_charged(known, known.receipt, ready, catalog)
        if known.receipt.end == "failure":
            raise EngineFailure
        if is_same:
            told = {name: known.versions[name] for name in ready.versions}
            return replace(ready, plan=known.plan, versions=told, is_kept=True)
        raise self._conflict("an answer is shown again under the policy that it was given under", "use a new id")

    def _as_charged(self, known: Bound, receipt: Receipt, ready: Prepared, catalog: Catalog) -> Prepared:
        """The rows and the plan that were charged for, while they are kept; or another plan for the same charge."""
        found = [ready]
        earlier = self._engine.kept(known.versions)
        if earlier is not None:
            self._kept.callback(self._engine.store.forget_unused)
            self._kept.callback(earlier.close)
            with suppress(DiscreetError):  # policies may be others by now, and not those of these rows
                found.append(replace(self._prepare(Planner(catalog, earlier)), is_kept=True))
        same = [one for one in found if one.plan == known.plan]
        if same:
            return same[0]
        with Fuse(self._ledger, ready.planner.snapshot, self._asked.analyst, list(ready.versions)) as fuse:
            payable = [one.wanted(self._asked, None) for one in found if covers(known.prices, one.prices)]
            fuse.replan(receipt.request, payable)
        rule = "the data that the request was charged for must be kept, or the question cost no more than it did"
        raise self._conflict(rule, "ask under a new id")

    def _conflict(self, rule: str, remedy: str) -> RequestConflict:
        return RequestConflict(rule, self._asked.request, remedy)
