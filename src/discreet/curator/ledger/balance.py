"""Balance check: does each charge fit its accounts, counting earlier charges of the same transaction?

Charges and answers of many askers, written together: what they need is read for all, and each is judged in turn.

Whoever is refused has changed nothing, and those before and after are served as if they had come alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from discreet.curator.charge import largest
from discreet.curator.ledger import chain
from discreet.curator.ledger.chain import (
    ACCOUNTS,
    HEAD,
    KNOWN,
    Account,
    Head,
    Question,
    Receipt,
    account_of_row,
    index_key,
    read_head,
    read_receipt,
)
from discreet.curator.ledger.units import DELTA_UNITS, LedgerPrice, amount, balance
from discreet.errors import BudgetExceeded, DiscreetError, InvalidValue, RequestConflict
from discreet.storage.database import Database

__all__ = ["BalanceCheck", "Charge", "GivenAnswer", "answer_all", "charge_all", "same"]


Prices = Mapping[str, LedgerPrice]
"""What each account is charged."""

_APART = "SELECT key, spent FROM portion WHERE account = ? AND part IN (?, ?)"
"""Long texts stand there as they are, where they were written before they had a key."""


class BalanceCheck:
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

    def _fits(self, name: str, price: LedgerPrice) -> bool:
        account = self._accounts[name]
        delta = account.delta_spent + price.delta
        return self._increase(account, price) <= account.left and delta <= account.allowance.delta_cap

    def take(self, prices: Prices) -> None:
        """Charge all accounts, or say which cannot pay and charge none."""
        for name, price in sorted(prices.items()):
            self._check(name, price)
        for name, price in prices.items():
            self._take(self._accounts[name], price)

    def _check(self, name: str, price: LedgerPrice) -> None:
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

    def _increase(self, account: Account, price: LedgerPrice, sign: int = 1) -> int:
        """What a price adds for the worst-off unit; with a ``sign`` of -1, what its return takes off, as a negative."""
        increase = sign * price.loss
        for part in {portion.part for portion in price.portions}:
            before = self._apart[account.name, part]
            after = Counter(before)
            for other, key, loss in price.portions:
                after[index_key(key)] += sign * loss if other == part else 0
            increase += largest(after.values(), account.places) - largest(before.values(), account.places)
        return increase

    def _take(self, account: Account, price: LedgerPrice) -> None:
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


Item = TypeVar("Item")


@dataclass(frozen=True)
class Charge:
    """One request that is to be charged."""

    request: str
    """Its id."""
    digest: bytes
    """The hash of its body."""
    prices: Mapping[str, LedgerPrice]
    """What each account pays."""
    record: dict[str, Any]
    """What is written down."""


@dataclass(frozen=True)
class GivenAnswer:
    """An answer that is to be stored."""

    request: str
    """The id of its request."""
    answer: bytes
    """Its bytes."""
    digest: str
    """Their hash."""


class _KnownRequests:
    """What is known of some requests, and the last record, while one after the other is written."""

    def __init__(self, requests: Iterable[str]) -> None:
        self.requests = list(dict.fromkeys(requests))
        self.rows: dict[str, tuple[Any, ...]] = {}
        self.last: Head = read_head([])

    def read(self, database: Database, standing: BalanceCheck | None = None) -> None:
        """Read all at once: a server is waited for one time."""
        own = [(HEAD, ()), *((KNOWN, (request,)) for request in self.requests)]
        last, *found = chain.answers(database, [*own, *(standing.questions() if standing else ())])
        self.last = read_head(last)
        self.rows = {request: rows[0] for request, rows in zip(self.requests, found, strict=False) if rows}
        if standing is not None:
            standing.hear(found[len(self.requests) :])

    def append(self, database: Database, record: dict[str, Any]) -> Head:
        """Write a record behind the last one."""
        self.last = chain.append(database, record, self.last)
        return self.last


def charge_all(database: Database, charges: Sequence[Charge]) -> list[Receipt | DiscreetError]:
    """Charge each to all its accounts or to none; a request that was charged before is not charged again."""
    standing = BalanceCheck([charge.prices for charge in charges])
    known = _KnownRequests(charge.request for charge in charges)
    known.read(database, standing)
    found = _each(charges, lambda charge: _charged(database, charge, known, standing))
    standing.write(database)
    return found


def _charged(database: Database, charge: Charge, known: _KnownRequests, standing: BalanceCheck) -> Receipt:
    row = known.rows.get(charge.request)
    if row is not None:
        return same(charge.request, charge.digest, row)
    standing.take(charge.prices)
    position, _ = known.append(database, charge.record)
    chain.remember(database, charge.request, charge.digest, position)
    known.rows[charge.request] = (charge.digest, position, None, None, None, None)
    return Receipt(charge.request, position, is_new=True)


def same(request: str, digest: bytes, row: tuple[Any, ...]) -> Receipt:
    """What is known of a request, if it was asked with the same body."""
    if row[0] != digest:
        raise RequestConflict("a request id must stand for one question", request, "use a new id")
    return read_receipt(request, row)


def answer_all(database: Database, answers: Sequence[GivenAnswer]) -> list[Receipt | DiscreetError]:
    """Store the answers to charged requests and tell what is stored: the first end of a request is the only one."""
    known = _KnownRequests(given.request for given in answers)
    known.read(database)
    return _each(answers, lambda given: _answered(database, given, known))


def _answered(database: Database, given: GivenAnswer, known: _KnownRequests) -> Receipt:
    row = known.rows.get(given.request)
    if row is None:
        raise InvalidValue("a request must be charged before it is answered", given.request)
    receipt = read_receipt(given.request, row)
    if receipt.position is not None:
        return receipt
    record = {"kind": "answer", "request": given.request, "charge": receipt.charge, "answer": given.digest}
    position, there = known.append(database, record)
    values = (position, given.answer, given.request)
    database.execute("UPDATE request SET answer = ?, bytes = ? WHERE id = ?", values)
    known.rows[given.request] = (row[0], receipt.charge, position, given.answer, there, None)
    return read_receipt(given.request, known.rows[given.request])


def _each(items: Sequence[Item], serve: Callable[[Item], Receipt]) -> list[Receipt | DiscreetError]:
    """What comes of each, one after the other; a refusal is its own alone."""
    found: list[Receipt | DiscreetError] = []
    for item in items:
        try:
            found.append(serve(item))
        except DiscreetError as refusal:
            found.append(refusal)
    return found
