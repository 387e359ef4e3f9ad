"""People and their budgets: which account is theirs, what tables may grant them, and how tables of before join.

A budget belongs to people. Tables are about the same people where foreign keys or the same unit name say so, and have
budgets of their own within that of the people. See `curator.ledger.people` for how it is counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from discreet.catalog.budget import Budget
from discreet.catalog.catalog import Catalog
from discreet.catalog.table import Table
from discreet.curator.charge import find_account, find_unit_account
from discreet.curator.ledger.ledger import Account, Ledger
from discreet.curator.ledger.people import sum_allowances
from discreet.curator.ledger.units import LOSS_UNITS, Allowance, BudgetMeasure, balance
from discreet.curator.preconditions import grant, list_allowances, partitions_per_neighbour
from discreet.errors import InvalidValue, LedgerError

__all__ = [
    "check_people",
    "check_whose",
    "find_people",
    "join_people",
    "lower_people",
    "open_accounts",
    "state_granted",
]


def find_people(catalog: Catalog, table: str) -> str | None:
    """The name of the account of a table's people; None for a public table."""
    domain = catalog.unit_domain(table)
    return None if domain is None else find_unit_account(domain)


def join_people(ledger: Ledger, catalog: Catalog) -> None:
    """Let tables from before people had accounts say whose rows they hold, as their policies do."""
    accounts = ledger.accounts()
    tables: dict[str, str] = {}
    places: dict[str, int] = {}
    for table in catalog:
        people, own = find_people(catalog, table.name), accounts.get(find_account(table))
        if people is not None and own is not None and own.unit is None:
            tables[own.name], places[people] = people, own.places
    if tables:
        ledger.join_people(tables, places)


def open_accounts(ledger: Ledger, catalog: Catalog, table: Table) -> None:
    """Open what a table and its analysts have no account of yet, and that of its people where it is time."""
    people = find_people(catalog, table.name)
    if people is None:
        return
    known, places = ledger.accounts(), partitions_per_neighbour(table)
    allowances = list_allowances(table, known)
    own = find_account(table)
    stated = _stated(catalog, table)
    if own not in known or (stated is not None and people not in known):
        ledger.open_table(own, allowances[own], places, people, None if stated is None else grant(stated, None))
    for name, allowance in allowances.items():
        if name != own and name not in known:
            ledger.open_account(name, allowance, places)


def lower_people(ledger: Ledger, people: str, budget: Budget, by: str | None) -> None:
    """Lower what some people may lose in all."""
    name = find_unit_account(people)
    known = ledger.accounts([name]).get(name)
    if known is None:
        remedy = "people have one as soon as two tables are about them; discreet budget lists them"
        raise InvalidValue("a budget is lowered for people who have an account", people, remedy)
    ledger.change_cap(name, grant(budget, known if known.spent else None), by)


def state_granted(table: Table, budget: Budget) -> Table:
    """The policy of a table of some people, with what they may lose in all, where it says that."""
    if table.unit_budget is not None:
        return replace(table, unit_budget=budget)
    return replace(table, lifetime=budget) if table.lifetime is not None else table


def _stated(catalog: Catalog, table: Table) -> Budget | None:
    """What policies say that the people of a table are granted in all."""
    domain = catalog.unit_domain(table.name)
    return None if domain is None else catalog.unit_budget(domain)


def check_whose(table: Table, catalog: Catalog, accounts: Mapping[str, Account]) -> None:
    """Refuse a table that gives its rows to other people than the ledger knows."""
    people, own = find_people(catalog, table.name), accounts.get(find_account(table))
    if own is not None and people is not None and own.unit not in (None, people):
        rule = f"{table.name}: whose rows they are must stay as it was, {(own.unit or '')[1:]}"
        raise InvalidValue(rule, people[1:], "keep it, or use another table name")
    _check_lifetime(table, catalog, accounts)


def _check_lifetime(table: Table, catalog: Catalog, accounts: Mapping[str, Account]) -> None:
    """Refuse a policy that promises people a lower limit over all periods than the ledger holds them to."""
    person = catalog.person_domain(table.name)
    if table.lifetime is None or person is None:
        return
    people = find_unit_account(person)
    members = [one.allowance for one in accounts.values() if one.unit == people]
    held = accounts[people].allowance if people in accounts else sum_allowances(members) if members else None
    wanted = grant(table.lifetime, None)
    if held is not None and (held.is_counted or not _is_within(held, wanted)):
        limit = "without a limit" if held.is_counted else f"up to {_in_words(held)}"
        rule = f"{table.name}: what the people of {person} lose is counted {limit}, and the lifetime must say no less"
        remedy = "a limit is stated when people get their account" if held.is_counted else "state that, or more"
        raise InvalidValue(rule, f"<{_in_words(wanted)}>", remedy)


def check_people(table: Table, catalog: Catalog, accounts: Mapping[str, Account]) -> None:
    """Refuse a table that gives its rows to other people than the ledger knows, or grants more than they have."""
    check_whose(table, catalog, accounts)
    people, own = find_people(catalog, table.name), accounts.get(find_account(table))
    if people is None:
        return
    _check_neighbours(table, people, accounts)
    granted = _granted(table, catalog, people, accounts)
    if granted is not None and (own is None or own.open_unit is None):
        _check_within(table, granted, people)
        _check_delta(table, catalog)


def _granted(table: Table, catalog: Catalog, people: str, accounts: Mapping[str, Account]) -> Allowance | None:
    """What the people of a table are granted in all; None where the table is the first that says it."""
    stated, known = _stated(catalog, table), accounts.get(people)
    if known is not None:
        _check_stated(stated, known)
        return known.allowance
    members = [one.allowance for one in accounts.values() if one.unit == people]
    if stated is None:
        return sum_allowances(members) if members else None
    wanted = grant(stated, None)
    if members and not (_is_within(wanted, sum_allowances(members)) and _can_pay(wanted, members)):
        rule = f"the people of {people[1:]} were granted {_in_words(sum_allowances(members))} with their first table"
        raise InvalidValue(rule, f"<{_in_words(wanted)}>", "it is never raised; state that, or less")
    return wanted


def _can_pay(people: Allowance, members: list[Allowance]) -> bool:
    """Whether the account of people takes the prices that their tables are asked at: a pure one takes no ρ."""
    return people.measure is not BudgetMeasure.PURE or all(one.measure is BudgetMeasure.PURE for one in members)


def _check_neighbours(table: Table, people: str, accounts: Mapping[str, Account]) -> None:
    """Losses under two relations do not add up, also where the policy of the other table is gone."""
    known = [one for one in accounts.values() if people in (one.unit, one.name)]
    if any(one.places != partitions_per_neighbour(table) for one in known):
        rule = (
            f"{table.name}: tables of one unit must agree on neighbours, and {people[1:]} is known under the other ones"
        )
        raise InvalidValue(rule, str(table.neighbours), "state those")


def _check_stated(stated: Budget | None, known: Account) -> None:
    """What policies state for people must be what the ledger has: it is granted once, and lowered by a record."""
    if stated is not None and grant(stated, known) != known.allowance:
        rule = f"the people of {known.name[1:]} were granted {_in_words(known.allowance)} in all"
        remedy = "state that; it is never raised, and lowered with discreet budget --lower"
        raise InvalidValue(rule, f"<{_in_words(grant(stated, known))}>", remedy)


def _check_within(table: Table, granted: Allowance, people: str) -> None:
    if table.budget is None:
        raise LedgerError("a protected table must have a budget", table.name)
    own = grant(table.budget, None)
    if not _is_within(own, granted):
        rule = f"{table.name}: its people are those of {people[1:]}, who have {_in_words(granted)} in all"
        remedy = "state a budget within it; what people have in all is stated with their first table, as unit: budget:"
        raise InvalidValue(rule, f"<{_in_words(own)}>", remedy)


def _check_delta(table: Table, catalog: Catalog) -> None:
    """The δ of people is that of their first table, or what is stated for them."""
    stated, domain = _stated(catalog, table), catalog.unit_domain(table.name)
    others = [one.budget for one in catalog.tables_by_unit()[domain or ""] if one.name != table.name]
    known = [one.delta for one in ([stated] if stated is not None else others) if one is not None]
    if table.budget is not None and known and table.budget.delta > max(known):
        rule = f"{table.name}: its people have a δ of {float(max(known)):g} in all"
        raise InvalidValue(rule, f"{float(table.budget.delta):g}", "state a budget within it")


def _is_within(own: Allowance, granted: Allowance) -> bool:
    """Whether a table grants no more than its people have, in the terms that both count."""
    if own.delta_cap > granted.delta_cap:
        return False
    if granted.measure is BudgetMeasure.PURE:
        return own.measure is BudgetMeasure.PURE and own.cap <= granted.cap
    if granted.measure is BudgetMeasure.EITHER:
        return (own.cap if own.measure is BudgetMeasure.PURE else own.cap_pure) <= granted.cap_pure
    return (own.cap**2 // (2 * LOSS_UNITS) if own.measure is BudgetMeasure.PURE else own.cap) <= granted.cap


def _in_words(allowance: Allowance) -> str:
    if allowance.measure is BudgetMeasure.EITHER:
        epsilon = Allowance(BudgetMeasure.PURE, allowance.cap_pure)
        return f"{balance(epsilon.granted)} with a δ"
    return balance(allowance.granted)
