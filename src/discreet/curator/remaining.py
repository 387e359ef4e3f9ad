"""What is left of a budget in questions: how many more like the last one."""

from __future__ import annotations

from collections.abc import Iterable

from discreet.curator.allowance import Price
from discreet.curator.ledger import Account, Entry, Ledger

__all__ = ["charged_by", "last_prices", "questions_left"]

_FIRST_LOOK = 64


def last_prices(ledger: Ledger, names: Iterable[str]) -> dict[str, Price]:
    """Per account, the last price that was charged to it; accounts that nobody charged are not listed.

    The ledger is read from its end, and further back only for accounts that are not found there.
    """
    wanted, head, look = set(names), ledger.head()[0], _FIRST_LOOK
    while True:
        start = max(head - look + 1, 1)
        found: dict[str, Price] = {}
        for entry in ledger.entries(start):
            if entry.body["kind"] == "charge":
                found |= {name: price for name, price in charged_by(entry).items() if price.loss or price.delta}
        if start == 1 or wanted <= found.keys():
            return {name: price for name, price in found.items() if name in wanted}
        look *= 16


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
