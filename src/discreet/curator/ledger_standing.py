"""How accounts stand: whether a price fits, and what is taken by several charges before it is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from discreet.books.book import Database
from discreet.curator.allowance import DELTA_UNITS, Price
from discreet.curator.amount import amount, balance
from discreet.curator.index_key import index_key
from discreet.curator.ledger_records import ACCOUNTS, Account, Question, account_of_row
from discreet.curator.spending import largest
from discreet.errors import BudgetExceeded, InvalidValue

__all__ = ["Standing"]

Prices = Mapping[str, Price]
"""What each account is charged."""

_APART = "SELECT key, spent FROM portion WHERE account = ? AND part IN (?, ?)"
"""Long texts stand there as they are, where they were written before they had a key."""


class Standing:
    """The accounts that some charges name, as they stand while one charge after the other is taken from them."""

    def __init__(self, charged: Sequence[Prices]) -> None:
        """Of the accounts that these prices name; `questions` says what must be read, and `hear` takes it."""
        self._names = sorted({name for prices in charged for name in prices})
        parts = {(name, portion.part) for prices in charged for name in prices for portion in prices[name].portions}
        self._parts = sorted(parts)
        self._accounts: dict[str, Account] = {}
        self._apart: dict[tuple[str, str], Counter[str]] = {}
        self._taken: dict[str, tuple[int, int]] = {}
        self._portions: Counter[tuple[str, str, str]] = Counter()

    def questions(self) -> list[Question]:
        """What must be read."""
        accounts = [(f"{ACCOUNTS} WHERE name = ?", (name,)) for name in self._names]
        apart = [(_APART, (name, part, index_key(part))) for name, part in self._parts]
        return [*accounts, *apart]

    def hear(self, answers: list[list[Any]]) -> None:
        """The answers to the questions, in their order."""
        rows = [row for found in answers[: len(self._names)] for row in found]
        self._accounts = {row[0]: account_of_row(row) for row in rows}
        apart = zip(self._parts, answers[len(self._names) :], strict=True)
        self._apart = {part: _by_key(found) for part, found in apart}

    def affords(self, prices: Prices) -> bool:
        """Whether all accounts are there and can pay."""
        return all(name in self._accounts and self._fits(name, price) for name, price in prices.items())

    def _fits(self, name: str, price: Price) -> bool:
        account = self._accounts[name]
        delta = account.delta_spent + price.delta
        return self._increase(account, price) <= account.left and delta <= account.allowance.delta_cap

    def take(self, prices: Prices) -> None:
        """Charge all accounts, or say which cannot pay and charge none."""
        for name, price in sorted(prices.items()):
            self._check(name, price)
        for name, price in prices.items():
            self._take(self._accounts[name], price)

    def _check(self, name: str, price: Price) -> None:
        account = self._accounts.get(name)
        if account is None:
            raise InvalidValue("a charge must name an existing account", name)
        increase = self._increase(account, price)
        if increase > account.left:
            wanted, left = account.allowance.loss(increase), account.allowance.loss(account.left)
            rule = f"the price of {amount(wanted)} must fit what is left for {name}, {balance(left)}"
            raise BudgetExceeded(rule, None, "nothing was spent")
        if account.delta_spent + price.delta > account.allowance.delta_cap:
            left_for_keys = (account.allowance.delta_cap - account.delta_spent) / DELTA_UNITS
            rule = f"the δ for keys that nobody listed must fit what is left of it for {name}, {left_for_keys:g}"
            raise BudgetExceeded(rule, f"{price.delta / DELTA_UNITS:g}", "list the keys; nothing was spent")

    def _increase(self, account: Account, price: Price, sign: int = 1) -> int:
        """What a price adds for the worst-off unit; with a ``sign`` of -1, what its return takes off, as a negative."""
        increase = sign * price.loss
        for part in {portion.part for portion in price.portions}:
            before = self._apart[account.name, part]
            after = Counter(before)
            for other, key, loss in price.portions:
                after[index_key(key)] += sign * loss if other == part else 0
            increase += largest(after.values(), account.places) - largest(before.values(), account.places)
        return increase

    def _take(self, account: Account, price: Price) -> None:
        increase, (loss, delta) = self._increase(account, price), self._taken.get(account.name, (0, 0))
        self._taken[account.name] = loss + increase, delta + price.delta
        now = replace(account, spent=account.spent + increase, delta_spent=account.delta_spent + price.delta)
        self._accounts[account.name] = now
        for part, key, portion in price.portions:
            self._apart[account.name, part][index_key(key)] += portion
            self._portions[account.name, index_key(part), index_key(key)] += portion

    def give_back(self, database: Database, prices: Prices) -> None:
        """Take a charge off its accounts again, exactly as it was put on them; the record of it is written before."""
        for name, price in sorted(prices.items()):
            decrease = -self._increase(self._accounts[name], price, sign=-1)
            database.execute(
                "UPDATE account SET spent = spent - ?, delta_spent = delta_spent - ? WHERE name = ?",
                (decrease, price.delta, name),
            )
            for part, key, portion in price.portions:
                database.execute(
                    "UPDATE portion SET spent = spent - ? WHERE account = ? AND part = ? AND key = ?",
                    (portion, name, index_key(part), index_key(key)),
                )

    def write(self, database: Database) -> None:
        """Write what was taken."""
        for name, (loss, delta) in sorted(self._taken.items()):
            database.execute(
                "UPDATE account SET spent = spent + ?, delta_spent = delta_spent + ? WHERE name = ?",
                (loss, delta, name),
            )
        for place, portion in sorted(self._portions.items()):
            database.execute(
                "INSERT INTO portion (account, part, key, spent) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (account, part, key) DO UPDATE SET spent = portion.spent + excluded.spent",
                (*place, portion),
            )


def _by_key(rows: list[tuple[str, int]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for key, spent in rows:
        found[index_key(key)] += spent
    return found
