"""Tables: which there are, what is public about them, and what was spent on them.

An analyst sees the tables whose policies name them, and public ones; their own spending, and what is left for all.

Typical questions tell what a count, a count in groups and an average of a table would still cost. Prices come from
explaining, which reads no row and costs nothing.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.accounting.calibration import least
from discreet.catalog.table import Table
from discreet.curator.charge import find_account, find_period, find_unit_account
from discreet.curator.ledger.chain import AccountKind
from discreet.curator.ledger.ledger import Account
from discreet.curator.ledger.remaining import questions_left_for_all, worst_of
from discreet.curator.ledger.units import DELTA_UNITS, Allowance, LedgerPrice, total
from discreet.engines.parameters import quote
from discreet.errors import InvalidValue, NotFound, QueryRefused
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.service.auth.roles import PEOPLE, READERS, MemberRole, Principal
from discreet.service.operations.ledger import Charged, charges_to, list_last_prices
from discreet.service.state import ServiceState

__all__ = [
    "Balance",
    "SpentQuestion",
    "Typical",
    "budget",
    "size_of",
    "spending",
    "table",
    "tables",
    "typical_questions",
]


@dataclass(frozen=True)
class Balance:
    """What one account was granted, what was taken from it and what is left."""

    account: str
    """Its name in the ledger."""
    kind: AccountKind
    """Whether it is that of the table's people, of the table, or of an analyst at it."""
    table: str
    """The table that it pays for."""
    analyst: str | None
    """Whose cap it is; None for what all may spend together."""
    period: str | None
    """The period that it is for; None where it is for good."""
    cap: Pure | ZeroConcentrated | None
    """What was granted; None where losses are counted without a cap."""
    spent: Pure | ZeroConcentrated
    """What was taken."""
    left: Pure | ZeroConcentrated | None
    """What is left; None where there is no cap."""
    more: int | None
    """How many more questions like the last one; None while there was none, or where it was another's."""
    delta_cap: Fraction | None
    """The δ for groups that nobody listed; None where none was set aside."""
    delta_spent: Fraction | None
    """What was taken of it."""
    delta_left: Fraction | None
    """What is left of it."""

    @property
    def limit(self) -> Pure | ZeroConcentrated:
        """What was granted, or taken where nothing is: what a bar is as long as."""
        return self.spent if self.cap is None else self.cap


@dataclass(frozen=True)
class SpentQuestion:
    """One question, and what it took from a table's budget."""

    position: int
    """Where it stands in the ledger."""
    time: str
    """When, in universal time."""
    analyst: str | None
    """Who asked; None for the owner."""
    step: Pure | ZeroConcentrated
    """By how much it raised the loss of the worst-off person."""
    total: Pure | ZeroConcentrated
    """That loss after it, of all questions that the principal may see."""


def tables(service: ServiceState, principal: Principal) -> list[Table]:
    """The tables that the principal may know of, by name; an analyst's hold no other analysts."""
    principal.must_be(PEOPLE)
    seen = (_seen_by(principal, one) for one in service.curator.catalog)
    return sorted((one for one in seen if one is not None), key=lambda one: one.name)


def table(service: ServiceState, principal: Principal, name: str) -> Table:
    """One of these tables; any other does not exist for the principal."""
    principal.must_be(PEOPLE)
    known = service.curator.catalog.find(name)
    seen = None if known is None else _seen_by(principal, known)
    if seen is None:
        raise NotFound("there must be such a table, and its policy must name you", name)
    return seen


def _seen_by(principal: Principal, known: Table) -> Table | None:
    if principal.role in READERS:
        return known
    own = {principal.name: known.analysts[principal.name]} if principal.name in known.analysts else {}
    return replace(known, analysts=own) if own or known.public else None


def budget(service: ServiceState, principal: Principal) -> list[Balance]:
    """What is left: of every table for all together, of its people, and of the caps that the principal may see."""
    curator = service.curator
    accounts, last = curator.ledger.accounts(), list_last_prices(curator.ledger)
    found: list[tuple[str, str, str | None]] = []
    for one in tables(service, principal):
        periods = [closed.name for closed in curator.ledger.closes(one.name)] if one.is_by_period else [None]
        person = curator.catalog.person_domain(one.name) if one.is_by_period and one.unit is not None else None
        if person is not None and find_unit_account(person) in accounts:
            found.append((find_unit_account(person), one.name, None))
        found += [known for period in periods for known in _accounts(one, accounts, period)]
    return [
        _balance(accounts, name, table, analyst, last.get(name) if _may_know_prices(principal, analyst) else None)
        for name, table, analyst in found
    ]


def _accounts(one: Table, accounts: Mapping[str, Account], period: str | None) -> Iterator[tuple[str, str, str | None]]:
    """The accounts that pay for questions about a table, or a period of it, each with its table and its analyst."""
    own = accounts.get(find_account(one, None, period))
    if own is not None and own.open_unit is not None:
        yield own.open_unit, one.name, None
    for analyst in (None, *sorted(one.analysts)):
        if find_account(one, analyst, period) in accounts:
            yield find_account(one, analyst, period), one.name, analyst


def _may_know_prices(principal: Principal, analyst: str | None) -> bool:
    """Whether the principal may know the last price of such an account: what another paid is another's."""
    return principal.role in READERS or analyst == principal.name


def _balance(
    accounts: Mapping[str, Account], name: str, table: str, analyst: str | None, price: LedgerPrice | None
) -> Balance:
    account = accounts[name]
    allowance, people = account.allowance, accounts.get(account.open_unit or "")
    last = None if price is None else worst_of(price, account.places)
    return Balance(
        account=account.name,
        kind=account.kind,
        table=table,
        analyst=analyst,
        period=find_period(account.name),
        cap=None if allowance.is_counted else account.granted,
        spent=account.was_spent,
        left=None if allowance.is_counted else account.left,
        more=None if allowance.is_counted else questions_left_for_all(account, people, last),
        delta_cap=_delta(account, allowance.delta_cap),
        delta_spent=_delta(account, account.delta_spent),
        delta_left=_delta(account, allowance.delta_cap - account.delta_spent),
    )


def _delta(account: Account, units: int) -> Fraction | None:
    is_limited = account.allowance.delta_cap and not account.allowance.is_counted
    return Fraction(units, DELTA_UNITS) if is_limited else None


def spending(service: ServiceState, principal: Principal, name: str, period: str | None = None) -> list[SpentQuestion]:
    """What was charged to a table, question by question, oldest first; an analyst sees their own questions alone.

    Where each period has a budget of its own, it is what was charged to one of them.
    """
    known = table(service, principal, name)
    if known.is_by_period != (period is not None):
        rule = f"{known.name}: a period is named where each has a budget of its own, and nowhere else"
        raise InvalidValue(rule, period or "<none>", "name one that is closed" if known.is_by_period else "name none")
    account = service.curator.ledger.accounts().get(find_account(known, None, period))
    if account is None:
        return []
    seen = charges_to(service.curator.ledger, account.name)
    own = [one for one in seen if principal.role in READERS or one.analyst == principal.name]
    return list(_replay(own, account))


def _replay(charges: list[Charged], account: Account) -> Iterator[SpentQuestion]:
    """The loss of the worst-off person after each of these charges, as the ledger itself adds them up."""
    common, before = 0, 0
    apart: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    allowance: Allowance = account.allowance
    for record in charges:
        price = record.price
        common += price.loss
        for part, key, loss, _ in price.portions:
            apart[part][key] += loss
        after = total(common, apart, account.places)
        if after > before or price.loss or price.portions:
            step, reached = allowance.loss(after - before), allowance.loss(after)
            yield SpentQuestion(record.position, record.time, record.analyst, step, reached)
        before = after


_ASKERS = frozenset({MemberRole.OWNER, MemberRole.ANALYST})
_FINEST = Fraction(1, 1000)


def size_of(loss: Pure | ZeroConcentrated) -> Fraction:
    """How much it is, in its own unit."""
    return loss.epsilon if isinstance(loss, Pure) else loss.rho


_DIGITS = 7


@dataclass(frozen=True)
class Typical:
    """A question that people often ask, and its price."""

    title: str
    """What it asks, in words."""
    sql: str
    """The question."""
    epsilon: Fraction
    """The ε to ask it with."""
    price: Pure | ZeroConcentrated
    """What that takes from the budget."""
    within: float | None
    """Its error, 95 times of 100 at most; None where it depends on the answer."""
    more: int
    """How many times the budget pays for it still."""


def typical_questions(service: ServiceState, principal: Principal, name: str, within: float) -> list[Typical]:
    """What these questions cost if counts may be off by ``within``; an average is priced like the count."""
    principal.must_be(_ASKERS)
    if not (math.isfinite(within) and within > 0):
        raise InvalidValue("the wanted error must be positive", within)
    known = table(service, principal, name)
    paying = [one for one in budget(service, principal) if one.table == known.name and _pays(one, principal)]
    left = [one.left for one in paying if one.left is not None]
    if not left:
        return []
    found: list[Typical] = []
    for title, sql, has_error in _word(known):
        try:
            found.append(_priced(service, principal, (title, sql), within if has_error else None, found, left))
        except QueryRefused:  # the policy does not allow it
            continue
    return found


def _pays(one: Balance, principal: Principal) -> bool:
    return one.analyst is None or one.analyst == principal.analyst


def _priced(
    service: ServiceState,
    principal: Principal,
    worded: tuple[str, str],
    within: float | None,
    before: list[Typical],
    left: list[Pure | ZeroConcentrated],
) -> Typical:
    title, sql = worded
    curator, analyst = service.curator, principal.analyst

    def is_close(epsilon: Fraction) -> bool:
        errors = curator.explain(sql, epsilon, analyst=analyst).errors
        return max(one.within or 0 for one in errors) <= (within or 0)

    if within is None:
        epsilon = before[0].epsilon if before else Fraction(1)
    else:
        epsilon = least(is_close, start=_FINEST, precision=_DIGITS)
    price = curator.explain(sql, epsilon, analyst=analyst).price
    assert price is not None  # noqa: S101  the table is protected
    return Typical(title, sql, epsilon, price, within, min(_times(one, price) for one in left))


def _times(left: Pure | ZeroConcentrated, price: Pure | ZeroConcentrated) -> int:
    """How many of these prices fit what is left, both counted in the unit of the budget."""
    if isinstance(left, Pure) and isinstance(price, Pure):
        return math.floor(left.epsilon / price.epsilon)
    if isinstance(left, ZeroConcentrated) and isinstance(price, ZeroConcentrated):
        return math.floor(left.rho / price.rho)
    raise AssertionError(f"a budget of {left!r} does not pay {price!r}")


def _word(known: Table) -> Iterator[tuple[str, str, bool]]:
    """Title, text, and whether its error is known beforehand."""
    source = ".".join(map(quote, known.name.split(".")))
    yield "How many rows are there?", f"SELECT COUNT(*) AS n FROM {source}", True  # noqa: S608
    group = next((one for one in known.columns if one.keys is not None), None)
    if group is not None:
        by = quote(group.name)
        sql = f"SELECT {by}, COUNT(*) AS n FROM {source} GROUP BY {by}"  # noqa: S608
        yield f"How many for each {group.name}?", sql, True
    measured = next((one for one in known.columns if one.type.is_numeric and one.bounds is not None), None)
    if measured is not None:
        sql = f"SELECT AVG({quote(measured.name)}) AS mean FROM {source}"  # noqa: S608
        yield f"What is the average {measured.name}?", sql, False
