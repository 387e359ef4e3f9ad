"""Auditing: events of the audit trail, whether they can be believed, and the signed head: for owners and auditors."""

from __future__ import annotations

from typing import Any

from discreet.curator.ledger.signed_head import sign_head
from discreet.curator.ledger.signing import Signer
from discreet.service.audit_trail import TrailCheck, TrailEvent
from discreet.service.auth.roles import READERS, Principal
from discreet.service.state import ServiceState

__all__ = ["check_events", "events", "signed_head"]


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
