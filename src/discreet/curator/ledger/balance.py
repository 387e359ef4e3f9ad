"""Balance check: does each charge fit its accounts, counting earlier charges of the same transaction?

Charges and answers of many askers, written together: what they need is read for all, and each is judged in turn.

Whoever is refused has changed nothing, and those before and after are served as if they had come alone.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

from discreet.curator.ledger import chain
from discreet.curator.ledger.account_names import AccountKind, find_period, name_in_words, split_name
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
from discreet.curator.ledger.units import (
    DELTA_UNITS,
    BudgetMeasure,
    LedgerPrice,
    amount,
    balance,
    in_epsilon,
    largest,
    prices_as_record,
)
from discreet.errors import BudgetExceeded, DiscreetError, InvalidValue, RequestConflict
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.storage.database import Database

__all__ = [
    "BalanceCheck",
    "Charge",
    "GivenAnswer",
    "PeopleNotCharged",
    "answer_all",
    "answer_groups",
    "charge_all",
    "charge_groups",
    "same",
]


class PeopleNotCharged(InvalidValue):
    """The account of a table's people was opened while a question was planned, so that it is priced again."""


Prices = Mapping[str, LedgerPrice]
"""What each account is charged."""

_APART = "SELECT key, spent, spent_pure FROM portion_2 WHERE account = ? AND part IN (?, ?)"
"""Long texts stand there as they are, where they were written before they had a key."""


_INSERT_PORTION = (
    "INSERT INTO portion_2 (account, part, key, spent, spent_pure) VALUES (?, ?, ?, ?, ?)"
    " ON CONFLICT (account, part, key) DO UPDATE"
    " SET spent = portion_2.spent + excluded.spent, spent_pure = portion_2.spent_pure + excluded.spent_pure"
)
_MOVE = (
    "UPDATE account_2 SET spent = spent + ?, delta_spent = delta_spent + ?, spent_pure = spent_pure + ?,"
    " impure = impure + ? WHERE name = ?"
)
_MOVE_PORTION = (
    "UPDATE portion_2 SET spent = spent + ?, spent_pure = spent_pure + ? WHERE account = ? AND part = ? AND key = ?"
)


class Increase(NamedTuple):
    """What a price adds to an account: for the worst-off unit in ε or ρ and in ε beside it; δ; and impure charges."""

    loss: int = 0
    delta: int = 0
    pure: int = 0
    impure: int = 0

    def plus(self, other: Increase) -> Increase:
        """Both together."""
        return Increase(*map(sum, zip(self, other, strict=True)))

    def negated(self) -> Increase:
        """What takes it off again."""
        return Increase(*(-amount for amount in self))


Portions = tuple[Counter[str], Counter[str]]
"""By key, what was charged in ε or ρ, and in ε beside it."""


_PAGE = 256
"""Accounts that are read with one statement."""


def _named(count: int) -> str:
    return f"{ACCOUNTS} WHERE name IN ({', '.join('?' * count)})"


class _Standing(NamedTuple):
    """How accounts stand between two charges."""

    accounts: dict[str, Account]
    apart: dict[tuple[str, str], Portions]
    taken: dict[str, Increase]
    portions: dict[tuple[str, str, str], tuple[int, int]]


class BalanceCheck:
    """The accounts that some charges name, as they stand while one charge after the other is taken from them."""

    def __init__(self, charged: Sequence[Prices]) -> None:
        """Of the accounts that these prices name; `questions` says what must be read, and `hear` takes it."""
        self._names = sorted({name for prices in charged for name in prices})
        parts = {(name, portion.part) for prices in charged for name in prices for portion in prices[name].portions}
        self._parts = sorted(parts)
        self._accounts: dict[str, Account] = {}
        self._apart: dict[tuple[str, str], Portions] = {}
        self._taken: dict[str, Increase] = {}
        self._portions: dict[tuple[str, str, str], tuple[int, int]] = {}

    def questions(self) -> list[Question]:
        """What must be read."""
        accounts = [(_named(len(names)), names) for names in self._pages()]
        apart = [(_APART, (name, part, index_key(part))) for name, part in self._parts]
        return [*accounts, *apart]

    def load_answers(self, answers: list[list[Any]]) -> None:
        """The answers to the questions, in their order."""
        pages = len(self._pages())
        rows = [row for found in answers[:pages] for row in found]
        self._accounts = {row[0]: account_of_row(row) for row in rows}
        apart = zip(self._parts, answers[pages:], strict=True)
        self._apart = {part: _by_key(found) for part, found in apart}

    def _pages(self) -> list[tuple[str, ...]]:
        return [tuple(self._names[start : start + _PAGE]) for start in range(0, len(self._names), _PAGE)]

    def remember(self) -> _Standing:
        """How everything stands, for `go_back`."""
        apart = {place: (losses.copy(), pures.copy()) for place, (losses, pures) in self._apart.items()}
        return _Standing(self._accounts.copy(), apart, self._taken.copy(), self._portions.copy())

    def go_back(self, before: _Standing) -> None:
        """To how everything stood."""
        self._accounts, self._apart, self._taken, self._portions = before

    def affords(self, prices: Prices) -> bool:
        """Whether all accounts are there and can pay."""
        return all(name in self._accounts and self._fits(name, price) for name, price in prices.items())

    def _fits(self, name: str, price: LedgerPrice) -> bool:
        account = self._accounts[name]
        increase = self._increase(account, price)
        return _holds(account, increase) and account.delta_spent + increase.delta <= account.allowance.delta_cap

    def take(self, prices: Prices) -> None:
        """Charge all accounts, or say which cannot pay and charge none."""
        found = {name: self._check(name, price, prices) for name, price in sorted(prices.items())}
        for name, increase in found.items():
            self._take(name, prices[name], increase)

    def put(self, prices: Prices) -> None:
        """Charge all accounts, for who has seen to it that they can pay; the database itself still refuses."""
        for name, price in prices.items():
            self._take(name, price, self._increase(self._accounts[name], price))

    def _check(self, name: str, price: LedgerPrice, prices: Prices) -> Increase:
        """What a price adds to an account that is there and can pay."""
        account = self._accounts.get(name)
        if account is None:
            raise InvalidValue("a charge must name an existing account", name)
        if account.open_unit is not None and account.open_unit not in prices:
            rule = f"{name_in_words(name)}: whoever pays for a table pays for its people"
            raise PeopleNotCharged(rule, name_in_words(account.open_unit))
        increase = self._increase(account, price)
        if not _holds(account, increase):
            wanted = account.allowance.loss(increase.loss) if price.is_impure else _pure_or_own(account, increase)
            whom, left = self._payer(account, prices), balance(account.left)
            rule = f"the price of {amount(wanted)} must fit what is left for {whom}, {left}"
            raise BudgetExceeded(rule, None, "nothing was spent")
        if account.delta_spent + increase.delta > account.allowance.delta_cap:
            left_for_keys = (account.allowance.delta_cap - account.delta_spent) / DELTA_UNITS
            whom = self._payer(account, prices)
            rule = f"the δ for keys that nobody listed must fit what is left of it for {whom}, {left_for_keys:g}"
            raise BudgetExceeded(rule, f"{price.delta / DELTA_UNITS:g}", "list the keys; nothing was spent")
        return increase

    def _payer(self, account: Account, prices: Prices) -> str:
        """Who pays, in words: people by the tables that were asked about, for others of theirs may be hidden."""
        if account.kind is not AccountKind.UNIT:
            return name_in_words(account.name)
        names = [name for name in sorted(prices) if account.name in self._units(name)] or sorted(prices)
        tables = dict.fromkeys(split_name(name)[0] for name in names if AccountKind.of(name) is not AccountKind.UNIT)
        period = find_period(account.name)
        return f"the people of {' and '.join(tables)}" + ("" if period is None else f" in {period}")

    def _units(self, name: str) -> list[str]:
        """The people of a table, by its account: those of a period, and the same people over all periods."""
        found = [self._accounts[name].unit] if name in self._accounts else []
        while found and found[-1] in self._accounts and self._accounts[found[-1]].unit not in found:
            found.append(self._accounts[found[-1]].unit)
        return [one for one in found if one is not None]

    def _increase(self, account: Account, price: LedgerPrice, sign: int = 1) -> Increase:
        """What a price adds for the worst-off unit; with a ``sign`` of -1, what its return takes off, as a negative."""
        loss, pure = sign * price.loss, sign * (price.pure or 0)
        for part in {portion.part for portion in price.portions}:
            losses, pures = self._apart[account.name, part]
            own = [portion for portion in price.portions if portion.part == part]
            loss += _growth(losses, [(one.key, sign * one.loss) for one in own], account.places)
            pure += _growth(pures, [(one.key, sign * (one.pure or 0)) for one in own], account.places)
        is_impure = account.allowance.measure is BudgetMeasure.EITHER and price.is_impure
        return Increase(loss, sign * price.delta, pure, sign * is_impure)

    def _take(self, name: str, price: LedgerPrice, increase: Increase) -> None:
        account = self._accounts[name]
        taken = self._taken.get(name)
        self._taken[name] = increase if taken is None else taken.plus(increase)
        self._accounts[name] = account.charged(*increase)
        for part, key, loss, pure in price.portions:
            losses, pures = self._apart[name, part]
            losses[index_key(key)] += loss
            pures[index_key(key)] += pure or 0
            place = (name, index_key(part), index_key(key))
            before = self._portions.get(place, (0, 0))
            self._portions[place] = before[0] + loss, before[1] + (pure or 0)

    def give_back(self, database: Database, prices: Prices) -> None:
        """Take a charge off its accounts again, exactly as it was put on them; the record of it is written before."""
        for name, price in sorted(prices.items()):
            decrease = self._increase(self._accounts[name], price, sign=-1)
            database.execute(_MOVE, (*decrease, name))
            for part, key, loss, pure in price.portions:
                database.execute(_MOVE_PORTION, (-loss, -(pure or 0), name, index_key(part), index_key(key)))

    def write(self, database: Database) -> None:
        """Write what was taken."""
        for name, increase in sorted(self._taken.items()):
            database.execute(_MOVE, (*increase, name))
        for place, portion in sorted(self._portions.items()):
            database.execute(_INSERT_PORTION, (*place, *portion))


def _growth(before: Counter[str], more: Iterable[tuple[str, int]], places: int) -> int:
    """By how much the largest portions grow together."""
    after = Counter(before)
    for key, units in more:
        after[index_key(key)] += units
    return largest(after.values(), places) - largest(before.values(), places)


def _holds(account: Account, by: Increase) -> bool:
    """Whether what was spent, with this increase, fits."""
    spent, pure, impure = account.spent + by.loss, account.spent_pure + by.pure, account.impure + by.impure
    return account.allowance.holds(spent, pure, impure)


def _pure_or_own(account: Account, increase: Increase) -> Pure | ZeroConcentrated:
    """The price in the terms in which what is left is told."""
    if account.allowance.measure is BudgetMeasure.EITHER and account.counts_epsilon:
        return in_epsilon(increase.pure)
    return account.allowance.loss(increase.loss)


def _by_key(rows: list[tuple[str, int, int]]) -> Portions:
    losses, pures = Counter[str](), Counter[str]()
    for key, spent, pure in rows:
        losses[index_key(key)] += spent
        pures[index_key(key)] += pure
    return losses, pures


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

    @classmethod
    def of(
        cls,
        request: str,
        body: bytes,
        prices: Mapping[str, LedgerPrice],
        note: Mapping[str, Any],
        run: str | None = None,
    ) -> Charge:
        """The charge of a request with its body; ``run`` is the name under which the caller is present."""
        digest = hashlib.sha256(body).digest()
        record = {"kind": "charge", "request": request, "body": digest.hex(), "note": dict(note)}
        record |= prices_as_record(prices)
        return cls(request, digest, prices, record if run is None else record | {"run": run})


@dataclass(frozen=True)
class GivenAnswer:
    """An answer that is to be stored."""

    request: str
    """The id of its request."""
    answer: bytes
    """Its bytes."""
    digest: str
    """Their hash."""

    @classmethod
    def of(cls, request: str, answer: bytes) -> GivenAnswer:
        """The answer to a request."""
        return cls(request, answer, hashlib.sha256(answer).hexdigest())


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
            standing.load_answers(found[len(self.requests) :])

    def append(self, database: Database, record: dict[str, Any]) -> Head:
        """Write a record behind the last one."""
        self.last = chain.append(database, record, self.last)
        return self.last


def charge_all(database: Database, charges: Sequence[Charge]) -> list[Receipt | DiscreetError]:
    """Charge each to all its accounts or to none; a request that was charged before is not charged again."""
    return _alone(charge_groups(database, [(charge,) for charge in charges]))


def charge_groups(database: Database, groups: Sequence[Sequence[Charge]]) -> list[list[Receipt] | DiscreetError]:
    """Charge all requests of a group or none, and each to all its accounts."""
    charges = [charge for group in groups for charge in group]
    standing = BalanceCheck([charge.prices for charge in charges])
    known = _KnownRequests(charge.request for charge in charges)
    known.read(database, standing)
    found = _each(groups, lambda group: _charged(database, group, known, standing))
    standing.write(database)
    return found


def _charged(
    database: Database, group: Sequence[Charge], known: _KnownRequests, standing: BalanceCheck
) -> list[Receipt]:
    new = _take_new(group, known, standing)
    for charge in new:
        position, _ = known.append(database, charge.record)
        chain.remember(database, charge.request, charge.digest, position)
        known.rows[charge.request] = (charge.digest, position, None, None, None, None)
    fresh = {charge.request for charge in new}
    found = [same(charge.request, charge.digest, known.rows[charge.request]) for charge in group]
    return [replace(one, is_new=True) if one.request in fresh else one for one in found]


def _take_new(group: Sequence[Charge], known: _KnownRequests, standing: BalanceCheck) -> list[Charge]:
    """Take the charges of requests that nobody knows yet; where one is refused, nothing was taken."""
    new: dict[str, Charge] = {}
    before = standing.remember() if len(group) > 1 else None  # one alone is taken as a whole
    try:
        for charge in group:
            row = known.rows.get(charge.request)
            if row is None and charge.request in new:
                row = (new[charge.request].digest, 0, None, None, None, None)
            if row is not None:
                same(charge.request, charge.digest, row)
                continue
            standing.take(charge.prices)
            new[charge.request] = charge
    except DiscreetError:
        if before is not None:
            standing.go_back(before)
        raise
    return list(new.values())


def same(request: str, digest: bytes, row: tuple[Any, ...]) -> Receipt:
    """What is known of a request, if it was asked with the same body."""
    if row[0] != digest:
        raise RequestConflict("a request id must stand for one question", request, "use a new id")
    return read_receipt(request, row)


def answer_all(database: Database, answers: Sequence[GivenAnswer]) -> list[Receipt | DiscreetError]:
    """Store the answers to charged requests and tell what is stored: the first end of a request is the only one."""
    return _alone(answer_groups(database, [(given,) for given in answers]))


def answer_groups(database: Database, groups: Sequence[Sequence[GivenAnswer]]) -> list[list[Receipt] | DiscreetError]:
    """Store all answers of a group, or none where one of its requests was never charged."""
    known = _KnownRequests(given.request for group in groups for given in group)
    known.read(database)
    return _each(groups, lambda group: _answered_together(database, group, known))


def _answered_together(database: Database, group: Sequence[GivenAnswer], known: _KnownRequests) -> list[Receipt]:
    for given in group:
        if given.request not in known.rows:
            raise InvalidValue("a request must be charged before it is answered", given.request)
    return [_answered(database, given, known) for given in group]


def _answered(database: Database, given: GivenAnswer, known: _KnownRequests) -> Receipt:
    row = known.rows[given.request]
    receipt = read_receipt(given.request, row)
    if receipt.position is not None:
        return receipt
    record = {"kind": "answer", "request": given.request, "charge": receipt.charge, "answer": given.digest}
    position, there = known.append(database, record)
    values = (position, given.answer, given.request)
    database.execute("UPDATE request SET answer = ?, bytes = ? WHERE id = ?", values)
    known.rows[given.request] = (row[0], receipt.charge, position, given.answer, there, None)
    return read_receipt(given.request, known.rows[given.request])


def _each(groups: Sequence[Item], serve: Callable[[Item], list[Receipt]]) -> list[list[Receipt] | DiscreetError]:
    """What comes of each, one after the other; a refusal is its own alone."""
    found: list[list[Receipt] | DiscreetError] = []
    for group in groups:
        try:
            found.append(serve(group))
        except DiscreetError as refusal:
            found.append(refusal)
    return found


def _alone(found: Sequence[list[Receipt] | DiscreetError]) -> list[Receipt | DiscreetError]:
    """The same where every group is one."""
    return [one if isinstance(one, DiscreetError) else one[0] for one in found]
