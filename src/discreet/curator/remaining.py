"""What is left of a budget in questions: how many more like the last one."""

from __future__ import annotations

from collections.abc import Iterable

from discreet.curator.allowance import Price
from discreet.curator.ledger import Account, Ledger

__all__ = ["last_prices", "questions_left"]

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
                found |= {name: Price(*units) for name, units in entry.body["prices"].items() if any(units)}
        if start == 1 or wanted <= found.keys():
            return {name: price for name, price in found.items() if name in wanted}
        look *= 16


def questions_left(account: Account, price: Price | None) -> int | None:
    """How many more questions at this price the account can pay; None while nothing was charged."""
    if price is None:
        return None
    left = [(account.left, price.loss), (account.allowance.delta_cap - account.delta_spent, price.delta)]
    return min(have // each for have, each in left if each > 0)
