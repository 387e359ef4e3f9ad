"""Balances in the order in which they hold: people first, their tables inside, analysts inside these, then periods.

Periods that stand next to each other and have the same balance share a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from discreet.catalog.catalog import Catalog
from discreet.curator.charge import find_account, find_unit_account
from discreet.curator.ledger.account_names import join_name, split_name

__all__ = ["BalanceNode", "BalanceTree", "build_tree", "find_tree"]


@dataclass(frozen=True)
class BalanceTree:
    """What the policies say of accounts."""

    people: Mapping[str, str] = field(default_factory=dict)
    """The account of a table, or of its people in one period → that of its people."""
    periods: Mapping[str, str] = field(default_factory=dict)
    """The account of a table, or of an analyst, that is for one period → how long a period is."""


@dataclass(frozen=True)
class BalanceNode:
    """A line: how deep it stands, what it is about, and the balance."""

    depth: int
    name: str
    """Of the account."""
    through: tuple[str, ...] = ()
    """The periods that have this balance each; none where it is for good."""
    sums: Mapping[str, Any] | None = None
    """None where the account is for periods alone, which follow."""


def find_tree(catalog: Catalog) -> BalanceTree:
    """Where the accounts of these tables stand."""
    people: dict[str, str] = {}
    periods: dict[str, str] = {}
    for table in catalog:
        domain, person = catalog.unit_domain(table.name), catalog.person_domain(table.name)
        if domain is None or person is None:
            continue
        people[find_account(table)] = find_unit_account(person)
        if table.unit_per is not None:
            people[find_unit_account(domain)] = find_unit_account(person)
        if table.is_by_period and table.time is not None:
            names = [find_account(table), *(find_account(table, who) for who in table.analysts)]
            periods |= dict.fromkeys(names, table.time.every.value)
    return BalanceTree(people, periods)


def build_tree(balances: Mapping[str, Mapping[str, Any]], tree: BalanceTree) -> Iterator[BalanceNode]:
    """A line for each account, in the order of the tree."""
    periods: dict[str, list[tuple[str, str]]] = {}
    for name in sorted(balances):
        *whose, period = split_name(name)
        own = periods.setdefault(join_name(*whose), [])  # type: ignore[arg-type]  # a table and perhaps a name
        own += [] if period is None else [(period, name)]
    inside: dict[str | None, list[str]] = {}
    for name in periods:
        around = _around(name, tree)
        inside.setdefault(around if around in periods else None, []).append(name)

    def walk(around: str | None, depth: int) -> Iterator[BalanceNode]:
        for name in inside.get(around, ()):
            yield BalanceNode(depth, name, (), None if name in tree.periods else balances.get(name))
            yield from _runs(depth + 1, name, [(period, balances[one]) for period, one in periods[name]])
            yield from walk(name, depth + 1)

    yield from walk(None, 0)


def _around(name: str, tree: BalanceTree) -> str | None:
    table, whose, _ = split_name(name)
    return join_name(table) if table and whose is not None else tree.people.get(name)


def _runs(depth: int, name: str, periods: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[BalanceNode]:
    for _, run in groupby(periods, key=lambda one: sorted(one[1].items(), key=lambda fact: fact[0])):
        found = list(run)
        yield BalanceNode(depth, name, tuple(period for period, _ in found), found[0][1])
