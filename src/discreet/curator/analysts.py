"""Who may ask about a table, and up to which cap of their own: in its policy, and in the ledger.

What analysts spent stays counted, whatever is changed: their account is never closed, and its cap never falls below
what was spent. The table's own budget stays as it was granted, and holds over all of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from discreet.catalog.budget import Budget, BudgetStated
from discreet.catalog.table import Table
from discreet.curator.allowance import Allowance
from discreet.curator.charging import account_of
from discreet.curator.promises import places_of
from discreet.errors import InvalidValue

if TYPE_CHECKING:
    from discreet.curator.curator import Curator

__all__ = ["allow", "disallow", "kept_analysts"]


def allow(curator: Curator, table: str, analyst: str, cap: BudgetStated | None, by: str | None) -> Table:
    """Let somebody ask. The ledger knows it before the policy does, so that no question goes uncounted."""
    with curator.changing_policies():
        before = _protected(curator, table)
        allowed = None if cap is None else Budget.of(cap, f"the cap of {analyst}")
        after = replace(before, analysts={**before.analysts, analyst: allowed})  # checks the name and the cap
        _grant(curator, after, analyst, by)
        if analyst not in before.analysts:
            curator.ledger.record_analyst(before.name, analyst, may_ask=True, by=by)
        curator.write_policy(after)
    return after


def _grant(curator: Curator, table: Table, analyst: str, by: str | None) -> None:
    """An account with the cap; who has no cap of their own has one as large as the table's."""
    budget = table.analysts[analyst] or table.budget
    if budget is None:
        raise AssertionError("a protected table has a budget")
    name, allowance = account_of(table, analyst), Allowance.of(budget.loss, budget.delta_for_keys)
    if name in curator.ledger.accounts():
        curator.ledger.change_cap(name, allowance, by)
    else:
        curator.ledger.open_account(name, allowance, places_of(table))


def disallow(curator: Curator, table: str, analyst: str, by: str | None) -> Table:
    """Let somebody ask no more. The policy knows it before the ledger does, so that it holds from then on."""
    with curator.changing_policies():
        before = _protected(curator, table)
        if analyst not in before.analysts:
            return before
        after = replace(before, analysts={who: cap for who, cap in before.analysts.items() if who != analyst})
        curator.write_policy(after)
        curator.ledger.record_analyst(before.name, analyst, may_ask=False, by=by)
    return after


def _protected(curator: Curator, name: str) -> Table:
    table = curator.catalog.table(name)
    if table.public:
        raise InvalidValue(f"{table.name}: everybody may ask about a public table", "<a public table>")
    return table


def kept_analysts(before: Table | None, now: Table | None, after: Table) -> Table:
    """The policy ``after`` with what was changed about analysts from ``before`` to ``now``, while rows were read."""
    if before is None or now is None or before.analysts == now.analysts:
        return after
    stay = {who: cap for who, cap in after.analysts.items() if who not in before.analysts or who in now.analysts}
    changed = {who: cap for who, cap in now.analysts.items() if before.analysts.get(who, "nobody") != cap}
    return replace(after, analysts={**stay, **changed})
