"""Balances as people read them, in the order in which they hold: people, inside them tables, inside these analysts.

The periods of an account follow it. Those that stand next to each other and have the same balance share a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from typing import Any

from discreet.catalog.catalog import Catalog
from discreet.curator.answers.formats import html_grid
from discreet.curator.charge import find_account, find_unit_account
from discreet.curator.ledger.account_names import join_name, split_name
from discreet.curator.ledger.units import amount, as_json, balance, balance_as_json
from discreet.privacy.format import shown
from discreet.privacy.loss import Pure, ZeroConcentrated

__all__ = ["BalanceNode", "BalanceTree", "Balances", "build_tree", "find_tree"]


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


class Balances(dict[str, dict[str, Any]]):
    """Per account what was granted, spent and left. Printed, and in a notebook, it is a table."""

    HEADS = ("account", "granted", "spent", "left", "in questions")
    of_several_kinds: tuple[str, ...] = ()
    """What people of several kinds lose together, in sentences."""
    tree = BalanceTree()
    """Which tables are inside which people, and which accounts are for periods."""

    def lines(self) -> list[tuple[str, ...]]:
        """People, inside their tables, inside their analysts, then periods; one more where δ was set aside for keys."""
        lines: list[tuple[str, ...]] = []
        for node in build_tree(self, self.tree):
            sums, indent = node.sums, "  " * node.depth
            if sums is None:
                lines.append((indent + _account(node.name), self._granted_each(node.name), "", "", ""))
                continue
            cap, spent, left = _capped(sums["cap"], "counted"), amount(sums["spent"]), _capped(sums["left"], "")
            more = "" if sums["cap"] is None else _more(sums["more"])
            lines.append((indent + _about(node), cap, spent, left, more))
            if "delta_cap" in sums:
                deltas = (f"δ {shown(sums[f'delta_{key}'])}" for key in ("cap", "spent", "left"))
                lines.append((f"{indent}  δ for keys", *deltas, ""))
        return lines

    def _granted_each(self, name: str) -> str:
        """What every period is granted, where an account is for periods alone."""
        granted = self.get(name, {}).get("cap")
        return "" if granted is None else f"{balance(granted)} a {self.tree.periods[name]}"

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """The same for programs: amounts exact and as numbers, what is granted and left rounded down.

        An account without a cap says "counted" in its place, and nothing of what is left.
        """
        return {name: _as_json(sums) for name, sums in sorted(self.items())}

    def notes(self) -> list[str]:
        """What to say below."""
        has_deltas = any("delta_cap" in sums for sums in self.values())
        return [*self.of_several_kinds, *(["δ for keys pays for groups that nobody listed."] if has_deltas else [])]

    def __str__(self) -> str:
        grid = [self.HEADS, *self.lines()]
        widths = [max(len(line[k]) for line in grid) for k in range(len(self.HEADS))]
        lines = ("  ".join(map(str.ljust, line, widths)).rstrip() for line in grid)
        return "\n".join([*lines, *self.notes()])

    def _repr_html_(self) -> str:
        return html_grid(self.HEADS, self.lines(), self.notes())


def _about(node: BalanceNode) -> str:
    """What the balance of a line is about: an account, or some of its periods."""
    first, last = (node.through[0], node.through[-1]) if node.through else ("", "")
    return _account(node.name) if not first else first if first == last else f"each of {first} to {last}"


def _capped(loss: Pure | ZeroConcentrated | None, otherwise: str) -> str:
    return otherwise if loss is None else balance(loss)


def _as_json(sums: Mapping[str, Any]) -> dict[str, Any]:
    kinds = {"cap": balance_as_json, "spent": as_json, "left": balance_as_json}
    found = {
        key: kinds[key](value) if key in kinds and value is not None else _exact(value) for key, value in sums.items()
    }
    return found if sums["cap"] is not None else found | {"cap": "counted"}


def _exact(value: Fraction | int | None) -> str | int | None:
    return str(value) if isinstance(value, Fraction) else value


def _account(name: str) -> str:
    """People, a table, or an analyst below the table, and the period; see the curator's names of accounts."""
    table, whose, period = split_name(name)
    spelled = table if whose is None else whose if table else f"people of {whose}"
    return spelled if period is None else f"{spelled} in {period}"


def _more(count: int | None) -> str:
    if count is None:
        return "nothing asked yet"
    return f"about {count:,} more like the last one" if count else "none like the last one"
