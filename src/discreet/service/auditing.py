"""Auditing: events of the audit trail, whether they can be believed, and the signed head: for owners and auditors."""

from __future__ import annotations

from typing import Any

from discreet.curator.signed_head import sign_head
from discreet.curator.signing import Signer
from discreet.service.house import House
from discreet.service.role import READERS
from discreet.service.trail import Event, TrailCheck
from discreet.service.visitor import Visitor

__all__ = ["check_events", "events", "signed_head"]


def events(
    house: House,
    visitor: Visitor,
    most: int,
    before: int | None = None,
    kind: str | None = None,
    by: str | None = None,
) -> list[Event]:
    """Events, newest first, ``most`` of them at most; only those before a position, of a kind, by somebody."""
    visitor.must_be(READERS)
    return house.trail.page(most, before, kind, by)


def check_events(house: House, visitor: Visitor) -> TrailCheck:
    """Replay the trail, and compare it with what the ledger has seen of it."""
    visitor.must_be(READERS)
    return house.trail.verify(house.curator.ledger)


def signed_head(house: House, visitor: Visitor) -> dict[str, Any]:
    """How far ledger and audit trail have come, signed: to be kept elsewhere."""
    visitor.must_be(READERS)
    return sign_head(house.curator.ledger, Signer(house.settings.folder), house.trail.head())
