"""Tables that grow, as their owner sees them: they begin, rows are appended, periods close, people are forgotten.

A close is written in three steps: the store makes the period ready, the ledger records it and opens its accounts, the
store shows it. A crash in between is finished by whoever opens the curator next, or closes again. The root of the last
close stands in the ledger, so that a store that is older, or another one, is never read for this one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from discreet.catalog.budget import Budget
from discreet.catalog.catalog import Catalog
from discreet.catalog.period import Period, TimeColumn
from discreet.catalog.table import Table
from discreet.curator.charge import find_account, find_unit_account, list_caps
from discreet.curator.ledger.closes import ClosedPeriod, NewAccount
from discreet.curator.ledger.ledger import Account, Ledger
from discreet.curator.ledger.units import Allowance
from discreet.curator.preconditions import grant, list_allowances, partitions_per_neighbour
from discreet.engines.engine import TableStore
from discreet.errors import InvalidValue, LedgerError, StoreError
from discreet.privacy.loss import Pure, ZeroConcentrated

if TYPE_CHECKING:
    from discreet.curator.curator import Curator

__all__ = [
    "PeriodState",
    "check_lifetime",
    "check_roots",
    "close_due",
    "close_through",
    "find_growing",
    "finish_closes",
    "list_periods",
    "open_growing",
]


@dataclass(frozen=True)
class PeriodState:
    """A period of a table that grows; nothing of it comes from rows."""

    name: str
    """As people call it."""
    start: datetime
    """When it begins, on the clock of the time column."""
    end: datetime
    """When the next one begins."""
    state: str
    """``closed``, ``due`` where the calendar would close it by now, or ``open``."""
    spent: Pure | ZeroConcentrated | None = None
    """What was spent of the budget of the period; None where it has none of its own."""
    left: Pure | ZeroConcentrated | None = None
    """What may still be spent."""

    def to_dict(self) -> dict[str, Any]:
        """The same for programs."""
        from discreet.curator.ledger.units import as_json, balance_as_json  # noqa: PLC0415

        amounts: dict[str, Any] = {}
        if self.spent is not None and self.left is not None:
            amounts = {"spent": as_json(self.spent), "left": balance_as_json(self.left)}
        ends = {"start": self.start.isoformat(), "end": self.end.isoformat()}
        return {"name": self.name, **ends, "state": self.state, **amounts}


def find_growing(catalog: Catalog, name: str) -> tuple[Table, TimeColumn]:
    """A table that grows, and how; refused where it does not."""
    table = catalog.table(name)
    if table.time is None:
        rule = f"{table.name}: a table that is taken in whole has no periods"
        raise InvalidValue(rule, "<no time>", "state time: in its policy when it is protected")
    return table, table.time


def open_growing(ledger: Ledger, catalog: Catalog, table: Table) -> None:
    """Open what a table and its analysts grant per period, and what its people may lose over all periods."""
    known, places = ledger.accounts(), partitions_per_neighbour(table)
    domain, person = catalog.unit_domain(table.name), catalog.person_domain(table.name)
    if domain is None or person is None:
        return
    for name, allowance in list_allowances(table, known).items():
        if name not in known:
            unit = find_unit_account(domain) if name == find_account(table) else None
            ledger.open_account(name, allowance, places, unit)
    if table.unit_per is not None and table.budget is not None:
        ledger.open_people(find_unit_account(person), _lifetime(table, table.budget), places)


def _lifetime(table: Table, budget: Budget) -> Allowance:
    """What a person may lose over all periods; counted without a cap, where the policy states none."""
    allowance = grant(table.lifetime or budget, None)
    return allowance if table.lifetime is not None else Allowance.counted(allowance.measure)


def check_lifetime(table: Table, catalog: Catalog, accounts: Mapping[str, Account]) -> None:
    """Refuse a policy that states another limit over all periods than the ledger has for its people, or none."""
    person = catalog.person_domain(table.name)
    people = "" if person is None else find_unit_account(person)
    known, for_good = accounts.get(people), [one for one in accounts.values() if one.unit == people]
    if known is None or table.unit_per is None or table.budget is None or for_good:
        return  # whose tables grant something for good, those have that in all: see `curator.people`
    if table.lifetime is None:
        is_same = known.allowance.is_counted
    else:
        is_same = not known.allowance.is_counted and grant(table.lifetime, known) == known.allowance
    if not is_same:
        granted = "counted without a limit" if known.allowance.is_counted else repr(known.allowance.granted)
        stated = "none" if table.lifetime is None else repr(table.lifetime.loss)
        rule = f"{table.name}: what a person may lose over all periods must be what the ledger has, {granted}"
        raise InvalidValue(rule, f"<{stated}>", "state that as lifetime: in the budget, or none where it is counted")


def list_periods(ledger: Ledger, catalog: Catalog, name: str, now: datetime | None = None) -> list[PeriodState]:
    """The periods of a table, from the first to the one that is open now."""
    table, time = find_growing(catalog, name)
    closed = ledger.closes(table.name)
    names = {one.name: find_account(table, None, one.name) for one in closed} if table.is_by_period else {}
    accounts = ledger.accounts(sorted(names.values()))
    found = [_closed(Period(one.name, one.start, one.end), accounts.get(names.get(one.name, ""))) for one in closed]
    last = Period(closed[-1].name, closed[-1].start, closed[-1].end) if closed else None
    moment = datetime.now(UTC) if now is None else now
    return [*found, *(_state(one, time, moment) for one in _open_periods(time, last, moment))]


def _closed(period: Period, account: Account | None) -> PeriodState:
    amounts = (None, None) if account is None else (account.was_spent, account.left)
    return PeriodState(period.name, period.start, period.end, "closed", *amounts)


def _state(period: Period, time: TimeColumn, now: datetime) -> PeriodState:
    state = "due" if time.due(period) <= now else "open"
    return PeriodState(period.name, period.start, period.end, state)


def _open_periods(time: TimeColumn, last: Period | None, now: datetime) -> Iterator[Period]:
    """The next period, and those after it that have begun by now."""
    one = time.after(last)
    yield one
    while (one := time.after(one)).start <= now.replace(tzinfo=None):
        yield one


def close_through(curator: Curator, name: str, through: str) -> list[Period]:
    """Close the periods up to one, in order; those that are closed already are left as they are."""
    table, time = find_growing(curator.catalog, name)
    wanted = time.named(through)
    with curator.changing_policies():
        return list(_close_while(curator, table, time, lambda one: one.start <= wanted.start))


def close_due(curator: Curator, now: datetime | None = None) -> dict[str, list[Period]]:
    """Close every period that the calendar closes by now; per table, which."""
    moment = datetime.now(UTC) if now is None else now
    found: dict[str, list[Period]] = {}
    with curator.changing_policies():
        for table in curator.catalog:
            if table.time is not None:
                time = table.time
                closed = list(_close_while(curator, table, time, lambda one, time=time: time.due(one) <= moment))
                found |= {table.name: closed} if closed else {}
    return found


def _close_while(curator: Curator, table: Table, time: TimeColumn, is_wanted: Any) -> Iterator[Period]:
    finish_closes(curator.ledger, curator.engine, curator.catalog)
    closes = curator.ledger.closes(table.name)
    one = time.after(Period(closes[-1].name, closes[-1].start, closes[-1].end) if closes else None)
    while is_wanted(one):
        _close(curator, table, one)
        yield one
        one = time.after(one)


def _close(curator: Curator, table: Table, period: Period) -> None:
    root = curator.engine.prepare_close(table, period, catalog=curator.catalog)
    accounts = _accounts_of(curator.ledger, curator.catalog, table, period)
    curator.ledger.close_period(table.name, period, root, accounts)
    curator.engine.finish_close(table.name, period)


def _accounts_of(ledger: Ledger, catalog: Catalog, table: Table, period: Period) -> dict[str, NewAccount]:
    """The accounts of a period: of the table, of its analysts with caps of their own, and of its people."""
    domain = catalog.unit_domain(table.name)
    if not table.is_by_period or domain is None:
        return {}
    places, known = partitions_per_neighbour(table), ledger.accounts()
    granted = {name: known[name].allowance if name in known else one for name, one in _allowances(table, known).items()}
    people = find_unit_account(domain, period.name) if table.unit_per is not None else None
    own = find_account(table)
    found = {find_account(table, None, period.name): NewAccount(granted[own], places, people)}
    for who in table.analysts:
        if find_account(table, who) in granted:
            found[find_account(table, who, period.name)] = NewAccount(granted[find_account(table, who)], places)
    if people is not None and people not in known:
        found[people] = NewAccount(granted[own], places)
    return found


def _allowances(table: Table, known: Mapping[str, Account]) -> dict[str, Allowance]:
    accounts = {find_account(table): table.budget, **list_caps(table)}
    accounts |= {
        find_account(table, who): cap for who, cap in table.analysts.items() if find_account(table, who) in known
    }
    return {name: grant(budget or table.budget, known.get(name)) for name, budget in accounts.items() if table.budget}


def finish_closes(ledger: Ledger, engine: TableStore, catalog: Catalog) -> None:
    """Show the periods that were recorded as closed by a process that did not come further."""
    for table in catalog:
        if table.time is None:
            continue
        closing, closes = engine.closing(table.name), ledger.closes(table.name)
        if closing is not None and closes and (closes[-1].name, closes[-1].root) == closing:
            engine.finish_close(table.name, Period(closes[-1].name, closes[-1].start, closes[-1].end))


def check_roots(ledger: Ledger, engine: TableStore, catalog: Catalog) -> None:
    """Refuse a store that does not hold what was closed: one from before, or of another host.

    And a policy whose periods are not those that were closed.
    """
    for table in catalog:
        closes = ledger.closes(table.name)
        if not closes:
            _check_unknown(table, engine)
            continue
        _check_calendar(table, closes)
        closing = engine.closing(table.name)
        roots = {engine.root(table.name), None if closing is None else closing[1]}
        if closes[-1].root not in roots:
            rule = f"{table.name}: the store must hold what was closed, up to {closes[-1].name}"
            raise StoreError(rule, None, "put it back as it was; an older copy cannot be read with this ledger")


def _check_unknown(table: Table, engine: TableStore) -> None:
    """Refuse a store that has closed what the ledger knows nothing of."""
    root = None
    if table.time is not None:
        with suppress(InvalidValue):  # the store has no such table, and so no period of it
            root = engine.root(table.name)
    if root is not None:
        rule = f"{table.name}: the ledger must know every period that the store has closed, and knows none"
        remedy = "put the ledger back as it was; one from before grants again what was spent"
        raise StoreError(rule, None, remedy)


def _check_calendar(table: Table, closes: Sequence[ClosedPeriod]) -> None:
    """Refuse a policy that says other periods than those that were closed under it."""
    last, one = Period(closes[-1].name, closes[-1].start, closes[-1].end), closes[0]
    is_same = table.time is not None and table.time.after(None) == Period(one.name, one.start, one.end)
    if not is_same or table.time is None or table.time.period_of(last.start) != last:
        rule = f"{table.name}: time must stay as it was, with periods from {one.name} to {last.name}"
        raise LedgerError(rule, "<other periods>", "put the policy back as it was, or use another table name")
