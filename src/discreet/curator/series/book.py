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

__all__ = [
    "STOP",
    "BegunSeries",
    "Outcome",
    "SeriesStep",
    "is_stopped",
    "list_series",
    "list_steps",
    "name_series",
    "name_step",
    "record_stop",
]


_PREFIX = "series:"
STOP = "stop"
"""What stands where a period would, for the end of a series; no period is called so."""


class Outcome(Enum):
    """What became of a period of a series."""

    RELEASED = "released"
    UNPAID = "not released: its budget was used up by other questions"
    FAILED = "not released: its question failed"
    INCOMPLETE = "not released: values are missing that were never to be missing when the series began"


@dataclass(frozen=True)
class BegunSeries:
    """A series as the ledger knows it."""

    terms: SeriesTerms
    """What was fixed when it began."""
    charge: int
    """The record of the charge."""


@dataclass(frozen=True)
class SeriesStep:
    """What became of one period of a series."""

    period: str
    """Its name."""
    receipt: Receipt
    """What was stored."""
    outcome: Outcome
    """In a word."""


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
        found.append(BegunSeries(terms, receipt.charge))
    return found


def _begin(ledger: Ledger, receipt: Receipt) -> bytes:
    """Store the terms that a charge was made for."""
    charged = ledger.entry(receipt.charge)
    text = "" if charged is None else charged.body["note"]["terms"]
    return ledger.settle(receipt.request, text.encode()).answer or b""


def is_stopped(ledger: Ledger, terms: SeriesTerms) -> bool:
    """Whether a series was ended before time."""
    return ledger.known(name_step(terms.id, STOP)) is not None


def list_steps(ledger: Ledger, series: BegunSeries) -> list[SeriesStep]:
    """What became of the periods of a series so far, in their order."""
    first = name_step(series.terms.id, "")
    known = {one.request.removeprefix(first): one for one in ledger.known_within(first, f"{first[:-1]};")}
    steps = []
    for period in series.terms.periods:
        receipt = known.get(period.name)
        if receipt is None or receipt.end is None:
            continue
        steps.append(SeriesStep(period.name, receipt, _outcome(ledger, receipt)))
    return steps


def _outcome(ledger: Ledger, receipt: Receipt) -> Outcome:
    if receipt.answer or receipt.end == "failure":
        return Outcome.RELEASED if receipt.answer else Outcome.FAILED
    charged = ledger.entry(receipt.charge)
    return Outcome.UNPAID if charged is None else Outcome[charged.body["note"]["outcome"]]


def record_stop(ledger: Ledger, terms: SeriesTerms, by: str | None) -> None:
    """Write down that a series ends now."""
    name = name_step(terms.id, STOP)
    ledger.charge(name, terms.digest, {}, {"series": terms.id, "stop": True, "analyst": by})
    ledger.settle(name, b"")
