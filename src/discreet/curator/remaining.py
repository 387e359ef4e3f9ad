"""What is left of a budget, also in questions: how many more like the last one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from threading import Lock
from typing import Any

from discreet.curator.allowance import DELTA_UNITS, Price
from discreet.curator.ledger import Account, Entry, Ledger

__all__ = ["LastPrices", "balance_of", "charged_by", "questions_left"]

PricesOf = Callable[[Entry], Mapping[str, Price]]
_CHARGE = b'"kind":"charge"'


class LastPrices:
    """Per account, the last price that was charged to it.

    It is looked for from the end of the ledger on, as far back as an account needs that was ever charged, and then read
    as the ledger grows: no record is read twice, and few are read at all.
    """

    def __init__(self, ledger: Ledger, prices_of: PricesOf | None = None) -> None:
        """Of ``ledger``; ``prices_of`` a charge are per account, by default the most that it can take from one."""
        self._ledger = ledger
        self._prices_of = charged_by if prices_of is None else prices_of
        self._found: dict[str, Price] = {}
        self._next: int | None = None
        self._lock = Lock()

    def now(self) -> dict[str, Price]:
        """The prices; accounts that nobody charged are not listed."""
        with self._lock:
            if self._next is None:
                self._look_back()
            for entry in self._ledger.entries(self._next or 1):
                self._found |= self._told(entry)
                self._next = entry.position + 1
            return dict(self._found)

    def _look_back(self) -> None:
        end = self._ledger.head()[0] + 1
        accounts = self._ledger.accounts().items()
        missing = {name for name, account in accounts if account.spent or account.delta_spent}
        for entry in self._ledger.entries_back(end, _CHARGE) if missing else ():
            self._found |= {name: price for name, price in self._told(entry).items() if name not in self._found}
            missing -= self._found.keys()
            if not missing:
                break
        self._next = end

    def _told(self, entry: Entry) -> dict[str, Price]:
        if entry.body["kind"] != "charge":
            return {}
        found = self._prices_of(entry).items()
        return {name: price for name, price in found if price.loss or price.delta or price.portions}


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
