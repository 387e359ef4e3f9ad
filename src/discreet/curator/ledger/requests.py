"""What a request id stands for: one question, and the attempt at it that is charged or was answered.

A request id is tied to the plan that it met first, as a plan is for one version of the data. New data makes another
plan of the same question. The id goes on standing for what was charged: for the answer that is stored, for the failure,
or for the charge that still waits for its answer. Where nothing was charged for it, or that was returned, it is tied
to the plan of today by a further record; the last one counts. Another question under the same id is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from discreet.curator.ledger.ledger import Entry, Ledger, Receipt
from discreet.curator.ledger.unanswered import versions_in
from discreet.curator.ledger.units import LedgerPrice, prices_in

__all__ = ["BoundRequest", "attempt", "attempts", "bind", "bind_request", "find_question"]


@dataclass(frozen=True)
class BoundRequest:
    """A question that an id stands for."""

    plan: str
    """What the ledger calls its plan."""
    number: int
    """Which attempt at it."""
    receipt: Receipt | None
    """What is known of that attempt; None where nothing was charged, or where it was returned."""
    versions: Mapping[str, str]
    """Per table, the version that it was planned for."""
    question: str | None
    """The same for the same texts at the same price; None in records of before it was told."""
    prices: Mapping[str, LedgerPrice]
    """Per account, what was charged."""
    tied: int
    """How often the id was tied to a plan."""


def find_question(
    texts: Sequence[str], price: tuple[str | None, str | None, str | None], confidence: float, as_of: str | None = None
) -> str:
    """A fingerprint of what was asked for, whatever the policies and rows are: texts; ε, an error, or a part; a day."""
    epsilon, within, part = price
    error = None if within is None else [within, confidence]
    told = [
        list(texts),
        epsilon,
        error,
        *([] if part is None else [part]),
        *([] if as_of is None else [{"as_of": as_of}]),
    ]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def attempt(plan: str, number: int) -> str:
    """What the ledger calls an attempt at a plan; the first has no number, as before there were others."""
    return f"plan:{plan}:{number}" if number else f"plan:{plan}"


def attempts(plan: str, start: int = 0) -> Iterator[str]:
    """All attempts at a plan."""
    return (attempt(plan, number) for number in count(start))


def _parts(attempted: str) -> tuple[str, int]:
    plan, _, number = attempted.removeprefix("plan:").partition(":")
    return plan, int(number or 0)


def bind_request(ledger: Ledger, request: str) -> BoundRequest | None:
    """What an id stands for now; None for a new one."""
    first, start = f"request:{request}", _further(request)
    found = ledger.last_within(first, start, f"{start[:-1]};")  # the character after the colon
    if found is None:
        return None
    last, tie = found
    number = 0 if last == first else int(last.removeprefix(start))
    plan, place, receipt = _followed(ledger, tie.body["note"]["plan"])
    charge = None if receipt is None else ledger.entry(receipt.charge)
    versions = versions_in((tie if charge is None else charge).body["note"])
    prices = {} if charge is None else prices_in(charge.body)
    return BoundRequest(plan, place, receipt, versions, tie.body["note"].get("question"), prices, number + 1)


def _followed(ledger: Ledger, attempted: str) -> tuple[str, int, Receipt | None]:
    """The attempt that is in the place of one by now: a return is followed by the next, a new plan by its attempt."""
    plan, number = _parts(attempted)
    while True:
        receipt = ledger.known(attempt(plan, number))
        if receipt is None or receipt.end not in ("return", "replan"):
            return plan, number, receipt
        plan, number = _next(ledger, plan, number, receipt)


def _next(ledger: Ledger, plan: str, number: int, receipt: Receipt) -> tuple[str, int]:
    end: Entry | None = ledger.entry(receipt.position or 0)
    if receipt.end == "replan" and end is not None:
        return _parts(end.body["request"])
    return plan, number + 1


def bind(
    ledger: Ledger, request: str, tied: int, plan: str, number: int, versions: Mapping[str, str], question: str
) -> None:
    """Tie an id that was tied so often to an attempt; refused where somebody tied it to another plan meanwhile."""
    note = {"plan": attempt(plan, number).removeprefix("plan:"), "versions": dict(versions), "question": question}
    name = f"{_further(request)}{tied}" if tied else f"request:{request}"
    ledger.charge(name, plan.encode(), {}, note)


def _further(request: str) -> str:
    """How all names of further ties of an id begin; its length keeps it apart from every other id."""
    return f"bound:{len(request)}:{request}:"
