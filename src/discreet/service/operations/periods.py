"""Tables that grow, as principals see them: rows are appended, periods close, people are forgotten.

Nothing that an analyst or an auditor reads depends on a row. Periods are told by their names, intervals and balances.
The trail says that rows were sent, before any of them is here, and that periods were closed; never how many rows there
were, how large their file was, or what became of them, for that is told to who sent them. It does not say that somebody
is to be forgotten: such an event would be there because of one person. It happens at the next close, which looks like
any other.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from discreet.catalog.period import Period
from discreet.catalog.policy.read import UnreadColumn, unread_words
from discreet.catalog.table import Table
from discreet.curator.charge import find_account
from discreet.engines.duckdb.growing import Appended
from discreet.errors import InvalidInput, NotFound, StoreError
from discreet.privacy.loss import Pure, ZeroConcentrated
from discreet.service.auth.roles import FEEDERS, MemberRole, Principal
from discreet.service.due_closes import CLOSED
from discreet.service.operations import uploads
from discreet.service.operations.protect import about_the_file
from discreet.service.operations.tables import size_of, table
from discreet.service.operations.uploads import Receiving, Upload
from discreet.service.state import ServiceState

__all__ = [
    "PeriodBalance",
    "RowsTaken",
    "append",
    "close",
    "count_set_aside",
    "forget",
    "periods",
    "receive",
    "receiving",
]


_OWNERS = frozenset({MemberRole.OWNER})


@dataclass(frozen=True)
class PeriodBalance:
    """A period of a table, and what may still be spent on it by who looks."""

    name: str
    """As people call it."""
    start: datetime
    """When it begins, on the clock of the time column."""
    end: datetime
    """When the next one begins."""
    state: str
    """``closed``, ``due`` where the calendar would close it by now, or ``open``."""
    cap: Pure | ZeroConcentrated | None
    """What who looks may spend on it in all; None where it is open, or has no budget of its own."""
    spent: Pure | ZeroConcentrated | None
    """What of that was spent."""
    left: Pure | ZeroConcentrated | None
    """What of that is left: for an analyst with a cap, of that or of what all have together, whichever is less."""


@dataclass(frozen=True)
class RowsTaken:
    """What became of the rows of an append: for who sent them."""

    appended: Appended
    """How many were taken, and how many were set aside for each reason."""
    unread: Mapping[str, int]
    """Per column, how many values could not be read as its type."""
    unread_words: tuple[str, ...]
    """The same in words, with what these values look like."""


def periods(service: ServiceState, principal: Principal, name: str) -> list[PeriodBalance]:
    """The periods of a table that grows, from the first to the one that is open now."""
    known = table(service, principal, name)
    found = service.curator.periods(known.name)
    names = [_accounts(known, principal, one.name) for one in found]
    accounts = service.curator.ledger.accounts([name for some in names for name in some])
    balances = []
    for one, some in zip(found, names, strict=True):
        held = [accounts[name] for name in some if name in accounts]
        tightest = min(held, key=lambda account: size_of(account.left), default=None)
        amounts = (None,) * 3 if tightest is None else (tightest.granted, tightest.was_spent, tightest.left)
        balances.append(PeriodBalance(one.name, one.start, one.end, one.state, *amounts))
    return balances


def _accounts(known: Table, principal: Principal, period: str) -> list[str]:
    """The accounts of a period that a question of the principal would be charged to."""
    if not known.is_by_period:
        return []
    own = principal.analyst if principal.role is MemberRole.ANALYST else None
    return [find_account(known, who, period) for who in dict.fromkeys((None, own))]


# Rows -------------------------------------------------------------------------------------------------------------


def receiving(service: ServiceState, principal: Principal, name: str, file: str, append_id: str) -> Receiving:
    """Rows for a table that are about to arrive in a file, for use in a with block."""
    principal.must_be(FEEDERS)
    known = _growing(service, name)
    service.trail.write("rows sent", principal.name, table=known.name, append=append_id)
    return uploads.receiving_rows(service, principal, file)


def receive(
    service: ServiceState, principal: Principal, name: str, file: str, append_id: str, parts: Iterable[bytes]
) -> Upload:
    """Keep rows that arrive in ``parts``; what is no table is refused and leaves nothing."""
    with receiving(service, principal, name, file, append_id) as sent:
        for part in parts:
            sent.add(part)
        return sent.whole()


def append(
    service: ServiceState,
    principal: Principal,
    name: str,
    sent: Upload,
    append_id: str,
    progress: Callable[[float], None] | None = None,
) -> RowsTaken:
    """Take the rows that were sent into the periods of a table; the file is gone, whatever comes of it.

    The same rows under the same id again change nothing.
    """
    principal.must_be(FEEDERS)
    known = _growing(service, name)
    unread: dict[str, UnreadColumn] = {}
    try:
        done = service.curator.append(known.name, sent.path, id=append_id, progress=progress, unread=unread.update)
    except (InvalidInput, StoreError) as refusal:
        raise about_the_file(refusal, sent.path) from None
    finally:
        shutil.rmtree(sent.path.parent, ignore_errors=True)
    counts = {column: one.count for column, one in unread.items() if one.count}
    return RowsTaken(done, counts, tuple(unread_words(known, unread)))


def count_set_aside(service: ServiceState, principal: Principal, name: str) -> Mapping[str, int]:
    """How many rows of all appends were set aside for each reason: for owners alone."""
    principal.must_be(_OWNERS)
    known = service.curator.engine.store.manifest().growing.get(_growing(service, name).name.casefold())
    found: Counter[str] = Counter()
    for one in () if known is None else known.appends.values():
        found.update(one["set_aside"])
    return dict(sorted(found.items()))


# Closing and forgetting -------------------------------------------------------------------------------------------


def close(service: ServiceState, principal: Principal, name: str, period: str) -> list[Period]:
    """Close the periods of a table up to one; returns those that were closed now."""
    principal.must_be(_OWNERS)
    known = _growing(service, name)
    with service.trail.act(CLOSED, principal.name, table=known.name, through=period):
        return service.curator.close(known.name, through=period)


def forget(service: ServiceState, principal: Principal, name: str, unit: int | str) -> None:
    """Have a person forgotten at the next close; nothing tells whether there is such a person."""
    principal.must_be(_OWNERS)
    service.curator.forget(_growing(service, name).name, unit)


def _growing(service: ServiceState, name: str) -> Table:
    found = service.curator.catalog.find(name)
    if found is None or found.time is None:
        raise NotFound("there must be such a table that grows by periods", name)
    return found
