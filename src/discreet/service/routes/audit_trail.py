"""The audit trail, and the signed head of it and of the ledger."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from discreet.service.audit_trail import TrailEvent
from discreet.service.auth.bearer import ServiceHere, principal_with
from discreet.service.auth.roles import READERS, Principal
from discreet.service.operations import audit_trail as audit_trail_ops
from discreet.service.paging import Limit

__all__ = ["router"]


router = APIRouter(tags=["audit trail"])
_Reader = Annotated[Principal, principal_with(READERS)]
_Short = Annotated[str | None, Query(max_length=300)]


class EventFacts(BaseModel):
    """One thing that happened."""

    position: int = Field(description="Where it stands in the trail.")
    time: str = Field(description="When it was written, in universal time.")
    kind: str = Field(description="What happened, such as token made.")
    by: str | None = Field(description="Who did it; none for somebody who showed no good token.")
    facts: dict[str, Any] = Field(description="What else is known of it; never a row, a secret or a question's text.")
    hash: str = Field(description="The hash of the trail up to here.")

    @classmethod
    def of(cls, one: TrailEvent) -> EventFacts:
        """An event as plain data."""
        return cls(**{**vars(one), "hash": one.hash.hex()})


class TrailChecked(BaseModel):
    """What a check of the audit trail found."""

    is_sound: bool = Field(description="Whether it can be believed.")
    problems: list[str] = Field(description="What is wrong, in words.")
    events: int = Field(description="How many there are.")
    head: str = Field(description="The hash of the last one.")


@router.get("/trail", summary="Who signed in and who changed what, newest first")
def trail(
    service: ServiceHere,
    principal: _Reader,
    kind: Annotated[_Short, Query(description="Only events of this kind.")] = None,
    by: Annotated[_Short, Query(description="Only what this member did.")] = None,
    before: Annotated[int | None, Query(ge=1, le=2**62, description="Only events before this position.")] = None,
    limit: Limit = 100,
) -> list[EventFacts]:
    """For older events pass the last position as ``before``."""
    return [EventFacts.of(one) for one in audit_trail_ops.events(service, principal, limit, before, kind, by)]


@router.get("/trail/verification", summary="Whether the audit trail can be believed")
def trail_verification(service: ServiceHere, principal: _Reader) -> TrailChecked:
    """Replay all of it, and compare it with what the ledger has seen."""
    found = audit_trail_ops.check_events(service, principal)
    problems, head = list(found.problems), found.head.hex()
    return TrailChecked(is_sound=found.is_sound, problems=problems, events=found.events, head=head)


@router.get("/head", summary="The signed head of ledger and audit trail")
def signed_head(service: ServiceHere, principal: _Reader) -> dict[str, Any]:
    """Keep it elsewhere: discreet ledger check-head compares it with the ledger later."""
    return audit_trail_ops.signed_head(service, principal)
