"""What is left of a budget, also in questions: how many more like the last one."""

from __future__ import annotations

from fractions import Fraction
from threading import Lock
from typing import Any

from discreet.curator.allowance import DELTA_UNITS, Price
from discreet.curator.ledger import Account, Entry, Ledger

__all__ = ["LastPrices", "balance_of", "charged_by", "questions_left"]


class LastPrices:
    """Per account, the last price that was charged to it, read from the ledger as it grows: no record is read twice."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._found: dict[str, Price] = {}
        self._next = 1
        self._lock = Lock()

    def now(self) -> dict[str, Price]:
        """The prices; accounts that nobody charged are not listed."""
        with self._lock:
            for entry in self._ledger.entries(self._next):
                if entry.body["kind"] == "charge":
                    charged = charged_by(entry).items()
                    self._found |= {name: price for name, price in charged if price.loss or price.delta}
                self._next = entry.position + 1
            return dict(self._found)


def charged_by(entry: Entry) -> dict[str, Price]:
    """Per account, what a charge can take at most: what all people are charged, and the largest portions."""
    portions = entry.body.get("portions", {})
    largest = {name: max((loss for _, _, loss in portions.get(name, [])), default=0) for name in entry.body["prices"]}
    return {name: Price(loss + largest[name], delta) for name, (loss, delta) in entry.body["prices"].items()}


def questions_left(account: Account, price: Price | None) -> int | None:
    """How many more questions at this price the account can pay; None while nothing was charged."""
    if price is None:
        return None
    left = [(account.left, price.loss), (account.allowance.delta_cap - account.delta_spent, price.delta)]
    return min(have // each for have, each in left if each > 0)


def balance_of(account: Account, price: Price | None) -> dict[str, Any]:
    """What was granted to an account, spent and left, and how many more questions at this price that is."""
    allowance = account.allowance
    return {
        "cap": allowance.loss(allowance.cap),
        "spent": allowance.loss(account.spent),
        "left": allowance.loss(account.left),
        "more": questions_left(account, price),
        **_delta_for_keys(account),
    }


def _delta_for_keys(account: Account) -> dict[str, Fraction]:
    cap, spent = account.allowance.delta_cap, account.delta_spent
    named = {"delta_cap": cap, "delta_spent": spent, "delta_left": cap - spent}
    return {name: Fraction(units, DELTA_UNITS) for name, units in named.items()} if cap else {}
