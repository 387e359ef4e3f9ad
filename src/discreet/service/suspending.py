"""Suspensions: who cannot ask about a table because a question failed there, and the owner's lift."""

from __future__ import annotations

from discreet.curator.suspensions import Suspension
from discreet.service.house import House
from discreet.service.role import READERS, Role
from discreet.service.visitor import Visitor

__all__ = ["lift", "suspensions"]

_OWNERS = frozenset({Role.OWNER})


def suspensions(house: House, visitor: Visitor, *, lifted: bool = False) -> list[Suspension]:
    """Who is suspended now, from the first on; with ``lifted``, also who was."""
    visitor.must_be(READERS)
    return house.curator.suspensions(lifted=lifted)


def lift(house: House, visitor: Visitor, record: int, because: str) -> Suspension:
    """Let who is suspended by this record of the ledger ask again."""
    visitor.must_be(_OWNERS)
    with house.trail.act("suspension lifted", visitor.name, record=record):
        return house.curator.lift(record, because, by=visitor.name)
