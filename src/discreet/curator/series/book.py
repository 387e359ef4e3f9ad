"""Series in the ledger: what began, what was released of it, and what was stopped.

``series:<id>`` is the charge of a series, and its answer the terms. ``series:<id>:<period>`` costs nothing, has the
hash of the terms as its body, and its answer is what was released: one request has one answer, so that a period that
two processes measure at once is released once. ``series:<id>:stop`` is its end before time.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum

from discreet.curator.ledger.ledger import Ledger, Receipt
from discreet.curator.series.terms import SeriesTerms
from discreet.errors import StoreError

__all__ = ["BegunSeries", "Outcome", "find_series", "list_series", "list_steps", "name_step", "record_stop"]


_PREFIX = "series:"
_STOP = "stop"


class Outcome(Enum):
    """What became of a period of a series."""

    RELEASED = "released"
    UNPAID = "not released: others had used up the budget of the period"
    FAILED = "not released: its question failed"


@dataclass(frozen=True)
class BegunSeries:
    """A series as the ledger knows it."""

    terms: SeriesTerms
    """What was fixed when it began."""
    charge: int
    """The record of the charge."""
    is_stopped: bool
    """Whether it was ended before time."""


@dataclass(frozen=True)
class SeriesStep:
    """What became of one period of a series."""

    period: str
    receipt: Receipt
    outcome: Outcome


def name_series(series: str) -> str:
    """What the ledger calls the charge of a series."""
    return f"{_PREFIX}{series}"


def name_step(series: str, period: str) -> str:
    """What the ledger calls a period of a series; no other period, series or question is called so."""
    return f"{_PREFIX}{series}:{period}"


def list_series(ledger: Ledger) -> list[BegunSeries]:
    """All that began, in order; one whose process died after the charge begins now."""
    known = {one.request.removeprefix(_PREFIX): one for one in ledger.known_within(_PREFIX, "series;")}
    found = []
    for name, receipt in known.items():
        if ":" in name:
            continue
        text = receipt.answer if receipt.answer is not None else _begin(ledger, receipt)
        terms = SeriesTerms.of(json.loads(text))
        if terms.id != name:
            raise StoreError("the terms of a series must be those that it began with", name)
        found.append(BegunSeries(terms, receipt.charge, f"{name}:{_STOP}" in known))
    return found


def _begin(ledger: Ledger, receipt: Receipt) -> bytes:
    """Store the terms that a charge was made for."""
    charged = ledger.entry(receipt.charge)
    text = "" if charged is None else charged.body["note"]["terms"]
    return ledger.settle(receipt.request, text.encode()).answer or b""


def find_series(ledger: Ledger, series: str) -> BegunSeries | None:
    """The series of this id; the first characters will do where they are enough to know it."""
    found = [one for one in list_series(ledger) if one.terms.id.startswith(series)] if series else []
    return found[0] if len(found) == 1 else None


def list_steps(ledger: Ledger, series: BegunSeries) -> list[SeriesStep]:
    """What became of the periods of a series so far, in their order."""
    first = name_step(series.terms.id, "")
    known = {one.request.removeprefix(first): one for one in ledger.known_within(first, f"{first[:-1]};")}
    steps = []
    for period in series.terms.periods:
        receipt = known.get(period.name)
        if receipt is None or receipt.end is None:
            continue
        outcome = Outcome.RELEASED if receipt.answer else Outcome.FAILED if receipt.end == "failure" else _said(ledger, receipt)
        steps.append(SeriesStep(period.name, receipt, outcome))
    return steps


def _said(ledger: Ledger, receipt: Receipt) -> Outcome:
    charged = ledger.entry(receipt.charge)
    return Outcome.UNPAID if charged is None else Outcome[charged.body["note"]["outcome"]]


def record_stop(ledger: Ledger, terms: SeriesTerms, by: str | None) -> None:
    """Write down that a series ends now."""
    name = name_step(terms.id, _STOP)
    ledger.charge(name, terms.digest, {}, {"series": terms.id, "stop": True, "analyst": by})
    ledger.settle(name, b"")
