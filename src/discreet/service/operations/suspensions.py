"""Suspensions: who cannot ask about a table because a question failed there, and the owner's lift."""

from __future__ import annotations

from discreet.curator.suspensions import Suspension
from discreet.service.auth.roles import READERS, MemberRole, Principal
from discreet.service.state import ServiceState

__all__ = ["lift", "suspensions"]


_OWNERS = frozenset({MemberRole.OWNER})


def suspensions(service: ServiceState, principal: Principal, *, lifted: bool = False) -> list[Suspension]:
    """Who is suspended now, from the first on; with ``lifted``, also who was."""
    principal.must_be(READERS)
    return service.curator.suspensions(lifted=lifted)


def lift(service: ServiceState, principal: Principal, record: int, because: str) -> Suspension:
    """Let who is suspended by this record of the ledger ask again."""
    principal.must_be(_OWNERS)
    with service.trail.act("suspension lifted", principal.name, record=record):
        return service.curator.lift(record, because, by=principal.name)
