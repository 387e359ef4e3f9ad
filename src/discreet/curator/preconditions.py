"""What plans and prices rely on beyond the text: that the stored rows and the accounts are those of the policy.

A policy can change while a curator is open, when another process takes in data, and between two of its days, when
somebody edits or removes a policy file. Sensitivity, parallel composition and prices are then refused, never guessed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from discreet.catalog.budget import Budget
from discreet.catalog.catalog import Catalog, are_one_name
from discreet.catalog.column import Column
from discreet.catalog.period import Period
from discreet.catalog.table import Table
from discreet.curator.charge import Versions, find_account, find_table, list_caps
from discreet.curator.ledger.ledger import Account
from discreet.curator.ledger.units import LOSS_UNITS, MOST_UNITS, Allowance
from discreet.curator.reading import see_periods
from discreet.engines.duckdb.manifest import Stored
from discreet.engines.engine import Engine
from discreet.errors import DiscreetError, InvalidValue, LedgerError, StoreError
from discreet.privacy.neighbours import Neighbours
from discreet.query.plan.sensitivity import AggregationPlan
from discreet.query.run.contribution_bounds import write_statements
from discreet.query.run.measure import public_groups

__all__ = [
    "check_accounts",
    "check_granted",
    "check_promise",
    "check_runnable",
    "check_spelling",
    "check_stored",
    "check_translatable",
    "check_unit",
    "find_stored",
    "find_versions",
    "list_allowances",
    "list_beliefs",
    "partitions_per_neighbour",
    "public_version",
    "use_stored_columns",
]


def check_stored(plans: Iterable[AggregationPlan], catalog: Catalog, snapshot: Engine) -> None:
    """Refuse plans for rows that were taken in with other people or types, or unchecked where the plan relies on it."""
    for plan in plans:
        privacy, restriction = plan.block.rows.privacy, plan.block.restriction
        for name in sorted(plan.block.rows.public):
            public_version(catalog.table(name), snapshot)
        for name in sorted(() if privacy is None else privacy.tables):
            _check_columns(catalog.table(name), snapshot)
            if privacy is None or find_stored(name, plan, snapshot).domain != privacy.unit:
                raise _changed(name, "the unit")
        if (
            restriction is not None
            and restriction.part[1] not in find_stored(restriction.part[0], plan, snapshot).constant
        ):
            raise _changed(restriction.part[0], f"constant_per_unit of {restriction.part[1]}")


def list_beliefs(stated: Catalog, snapshot: Engine) -> Catalog:
    """The policies, without what they state about values and nobody saw in these rows.

    That no value is missing is checked when rows are taken in, and is a fact of those rows alone: a policy may have
    been edited since, or another process may have taken in others. On a server nobody checks.
    """
    stated = see_periods(stated, partial(_closed, snapshot=snapshot))
    for table in list(stated):
        seen = frozenset(_complete(table, snapshot))
        columns = [_as_seen(one, seen) for one in table.columns]
        if columns != list(table.columns):
            stated = stated.with_table(replace(table, columns=tuple(columns)))
    return stated


def _as_seen(column: Column, complete: frozenset[str]) -> Column:
    """The column, where nobody saw that all its values are there, as one about which nothing is said."""
    is_unseen = column.nullable is False and column.name.casefold() not in complete
    return replace(column, nullable=None) if is_unseen else column


def _complete(table: Table, snapshot: Engine) -> list[str]:
    try:
        stored = snapshot.stored(table.name)
        stored = stored.over([one.name for one in stored.periods]) if stored.grows else stored
        return [name.casefold() for name in stored.complete]
    except DiscreetError:  # there are no rows that a plan could be run on, so that nothing rests on the policy
        return [column.name.casefold() for column in table.columns]


def _closed(table: Table, snapshot: Engine) -> list[Period]:
    """The periods of a growing table that are closed, in order."""
    try:
        return [one.as_period() for one in snapshot.stored(table.name).periods]
    except DiscreetError:
        return []


def find_stored(name: str, plan: AggregationPlan, snapshot: Engine) -> Stored:
    """A table as a plan reads it: of one that grows, the periods that are read."""
    stored, privacy = snapshot.stored(name), plan.block.rows.privacy
    read = [] if privacy is None else sorted(period for table, period in privacy.periods if table == name)
    return stored.over(read) if stored.grows else stored


def find_versions(tables: Iterable[str], plans: Sequence[AggregationPlan], snapshot: Engine) -> Versions:
    """Which data plans read: versions of tables, and of the periods of those that grow."""
    read = frozenset[tuple[str, str]]().union(
        *(one.block.rows.privacy.periods for one in plans if one.block.rows.privacy)
    )
    found: dict[str, str] = {}
    periods: dict[tuple[str, str], str] = {}
    for name in sorted(tables):
        names = sorted(period for table, period in read if table == name)
        if not names:
            found[name] = snapshot.version(name)
            continue
        of_each = {one.name: one.version for one in snapshot.stored(name).periods if one.name in names}
        periods |= {(name, period): version for period, version in of_each.items()}
        found[name] = _join_versions(list(of_each.values()))
    return Versions(found, periods)


def _join_versions(versions: list[str]) -> str:
    """What stands for the versions of several periods, in their order."""
    if len(versions) == 1:
        return versions[0]
    return f"{len(versions)}-{hashlib.sha256(' '.join(versions).encode()).hexdigest()[:32]}"


def _check_columns(table: Table, snapshot: Engine) -> None:
    """Refuse rows whose columns are of other types: what is total for one type can fail, or mean less, for another."""
    stored = {name.casefold(): kind for name, kind in snapshot.stored(table.name).columns.items()}
    for column in table.columns:
        if stored.get(column.name.casefold()) != column.type.value:
            raise _changed(table.name, f"the type of {column.name}")


def use_stored_columns(plan: AggregationPlan, snapshot: Engine) -> AggregationPlan:
    """The plan, for rows as they are kept: with the number of rows of their unit, and within limits, where they are."""
    stored = {name.casefold(): find_stored(name, plan, snapshot) for name in plan.tables}
    protected = [one for one in stored.values() if one.domain is not None]
    return replace(plan, counted=all(one.counted for one in protected), stored=stored, secret=snapshot.secret)


def check_runnable(plans: Iterable[AggregationPlan], snapshot: Engine) -> None:
    """Refuse plans, for rows as they are kept, that would fail whatever the rows are: they are tried on none."""
    for plan in plans:
        for statement, parameters in write_statements(plan):
            snapshot.rehearse(statement, parameters)
        if plan.listing is not None:
            public_groups(plan)


def check_translatable(plans: Iterable[AggregationPlan], engine: Engine) -> None:
    """Refuse plans that the engine cannot run so that they mean the same as everywhere, and cannot fail."""
    if engine.capabilities.language_of_plans:
        return
    for plan in plans:
        for statement, parameters in write_statements(use_stored_columns(plan, engine)):
            engine.check(statement, parameters)


def public_version(table: Table, snapshot: Engine) -> str:
    """The version of a public table; one whose rows were taken in as somebody's, or otherwise, is not shown."""
    stored = snapshot.stored(table.name)
    if stored.domain is not None:
        raise _changed(table.name, "public")
    _check_columns(table, snapshot)
    return stored.version


def _changed(table: str, what: str) -> StoreError:
    rule = f"{table}: the rows must have been taken in under the policy that is used, but {what} differs"
    return StoreError(rule, None, "open the curator again; if that does not help, take in the table again")


def check_unit(table: Table, before: Catalog, after: Catalog) -> None:
    """Refuse a policy whose foreign keys give the rows of a table to other people than before."""
    paths = [catalog.unit_path(table.name) for catalog in (before, after)]
    ways = [None if path is None else (path.steps, path.column) for path in paths]
    if ways[0] != ways[1]:
        rule = f"{table.name}: whose rows they are must stay as it was"
        raise InvalidValue(rule, "<other foreign keys>", "keep them, or use another table name")


def check_promise(before: Table, after: Table) -> None:
    """Refuse to change what was promised and granted once by taking in data again."""
    for name in ("name", "public", "unit", "unit_name", "neighbours", "budget"):
        if getattr(before, name) != getattr(after, name):
            was, got = (_stated(getattr(table, name)) for table in (before, after))
            raise InvalidValue(
                f"{before.name}: {name} must stay as it was, {was}", got, "keep it, or use another table name"
            )
    for who, cap in before.analysts.items():
        if after.analysts.get(who, cap) != cap:
            rule = f"{before.name}: the cap of {who} must stay as it was when data is taken in"
            raise InvalidValue(rule, _stated(after.analysts[who]), "change it with allow")


def _stated(value: object) -> str:
    if not isinstance(value, Budget):
        return str(value)
    return repr(value.loss) + (f" and {value.delta_for_keys} for keys" if value.delta_for_keys else "")


def check_granted(table: Table, accounts: Mapping[str, Account]) -> None:
    """Refuse a policy that states another budget or cap than the ledger has, as of a table that was there before."""
    for name, allowance in list_allowances(table, accounts).items():
        known = accounts.get(name)
        if known is not None and known.allowance != allowance:
            rule = f"{name}: the ledger must have the same budget or cap"
            got = f"<{known.allowance.granted!r}>"
            raise InvalidValue(rule, got, "state that one; caps of analysts are changed with allow")


def check_spelling(table: Table, accounts: Iterable[str]) -> None:
    """Refuse a table whose budget the ledger has under another spelling of its name, and a public one that has any.

    Policies may be gone, and with them the memory of the catalog; what was spent on the people stays in the ledger.
    """
    known = {find_table(name) for name in accounts}
    if not table.public and table.name in known:
        return
    same = sorted(name for name in known if are_one_name(name, table.name))
    if same and table.public:
        rule = f"{table.name}: a table whose budget is in the ledger must stay protected"
        raise InvalidValue(rule, "public", "use another table name, where it holds nothing of its people")
    if same:
        rule = f"the ledger knows the table as {same[0]}, and its name must stay as it was"
        raise InvalidValue(rule, table.name, "keep it, or use another table name")


def check_accounts(table: Table, accounts: Mapping[str, Account]) -> None:
    """Refuse a table whose accounts were opened for another kind of budget, or for other neighbours."""
    for name, allowance in list_allowances(table, accounts).items():
        known = accounts.get(name)
        if known is not None and (known.allowance.measure, known.places) != (
            allowance.measure,
            partitions_per_neighbour(table),
        ):
            rule = f"{name}: the budget and neighbours of a policy must be of the kind that the ledger knows"
            raise LedgerError(rule, f"<{allowance.measure.value}>", f"keep {known.allowance.measure.value} ones")


def list_allowances(table: Table, accounts: Mapping[str, Account]) -> dict[str, Allowance]:
    """The accounts of a table and of its analysts, and what each may spend; none for a public table.

    Where the ledger has an account, it says how a budget is counted.
    """
    budgets = {} if table.budget is None else {find_account(table): table.budget, **list_caps(table)}
    return {name: grant(budget, accounts.get(name)) for name, budget in budgets.items()}


def grant(budget: Budget, known: Account | None) -> Allowance:
    """What a budget allows, counted as it was before where there is an account, and something was spent."""
    like = None if known is None else known.allowance
    allowed = Allowance.of(budget.loss, budget.delta_for_keys, like=like)
    if known is None and allowed.is_cut:
        rule = f"an account counts an ε of at most {MOST_UNITS // LOSS_UNITS:,}, and a budget must not be above"
        raise InvalidValue(rule, f"<{float(budget.epsilon):,.6g}>", "state a lower one; 10 is already large")
    return allowed


def partitions_per_neighbour(table: Table) -> int:
    """How many portions of a column one neighbour can touch."""
    return 2 if table.neighbours is Neighbours.REPLACE_ONE else 1
