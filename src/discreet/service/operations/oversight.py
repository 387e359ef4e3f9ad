"""Oversight, for owners and auditors: the audit trail, the signed head of it and of the ledger, and suspensions.

A question that failed keeps its member from asking about its tables until an owner lifts the suspension.
"""

from __future__ import annotations

from typing import Any

from discreet.curator.ledger.signed_head import sign_head
from discreet.curator.ledger.signing import Signer
from discreet.curator.suspensions import Suspension
from discreet.service.audit_trail import TrailCheck, TrailEvent
from discreet.service.auth.roles import READERS, MemberRole, Principal
from discreet.service.state import ServiceState

__all__ = [
    "check_events",
    "events",
    "lift",
    "signed_head",
    "suspensions",
]


def events(
    service: ServiceState,
    principal: Principal,
    most: int,
    before: int | None = None,
    kind: str | None = None,
    by: str | None = None,
) -> list[TrailEvent]:
    """Events, newest first, ``most`` of them at most; only those before a position, of a kind, by somebody."""
    principal.must_be(READERS)
    return service.trail.page(most, before, kind, by)


def check_events(service: ServiceState, principal: Principal) -> TrailCheck:
    """Replay the trail, and compare it with what the ledger has seen of it."""
    principal.must_be(READERS)
    return service.trail.verify(service.curator.ledger)


def signed_head(service: ServiceState, principal: Principal) -> dict[str, Any]:
    """How far ledger and audit trail have come, signed: to be kept elsewhere."""
    principal.must_be(READERS)
    return sign_head(service.curator.ledger, Signer(service.settings.folder), service.trail.head())


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
