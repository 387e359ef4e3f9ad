"""Oversight, for owners and auditors: the audit trail, the signed head of it and of the ledger, and suspensions.

A question that failed keeps its member from asking about its tables until an owner lifts the suspension.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from discreet.curator.suspensions import LONGEST_REASON, Suspension
from discreet.service.audit_trail import TrailEvent
from discreet.service.auth.bearer import ServiceHere, principal_with
from discreet.service.auth.roles import READERS, MemberRole, Principal
from discreet.service.operations import oversight as oversight_ops
from discreet.service.paging import Limit, page

__all__ = [
    "router",
]


router = APIRouter()
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


@router.get("/trail", tags=["audit trail"], summary="Who signed in and who changed what, newest first")
def trail(
    service: ServiceHere,
    principal: _Reader,
    kind: Annotated[_Short, Query(description="Only events of this kind.")] = None,
    by: Annotated[_Short, Query(description="Only what this member did.")] = None,
    before: Annotated[int | None, Query(ge=1, le=2**62, description="Only events before this position.")] = None,
    limit: Limit = 100,
) -> list[EventFacts]:
    """For older events pass the last position as ``before``."""
    return [EventFacts.of(one) for one in oversight_ops.events(service, principal, limit, before, kind, by)]


@router.get("/trail/verification", tags=["audit trail"], summary="Whether the audit trail can be believed")
def trail_verification(service: ServiceHere, principal: _Reader) -> TrailChecked:
    """Replay all of it, and compare it with what the ledger has seen."""
    found = oversight_ops.check_events(service, principal)
    problems, head = list(found.problems), found.head.hex()
    return TrailChecked(is_sound=found.is_sound, problems=problems, events=found.events, head=head)


@router.get("/head", tags=["audit trail"], summary="The signed head of ledger and audit trail")
def signed_head(service: ServiceHere, principal: _Reader) -> dict[str, Any]:
    """Keep it elsewhere: discreet ledger check-head compares it with the ledger later."""
    return oversight_ops.signed_head(service, principal)


_Owner = Annotated[Principal, principal_with({MemberRole.OWNER})]
_Record = Annotated[int, Path(ge=1, le=2**62, description="Where the failure stands in the ledger.")]


class SuspensionFacts(BaseModel):
    """A question that failed, and what became of it."""

    record: int = Field(description="Where the failure stands in the ledger; by this number it is lifted.")
    time: str = Field(description="When it failed, in universal time.")
    analyst: str | None = Field(description="Who is suspended; none for owners, who ask without a name.")
    tables: list[str] = Field(description="The tables that they cannot ask about.")
    sql: str = Field(description="The question that failed.")
    lifted: int | None = Field(description="Where the lift stands in the ledger; none while it suspends.")
    by: str | None = Field(description="Who lifted it.")
    because: str = Field(description="Why it was lifted.")

    @classmethod
    def of(cls, one: Suspension) -> SuspensionFacts:
        """A suspension as plain data."""
        return cls(**{**vars(one), "tables": list(one.tables)})


class Reason(BaseModel):
    """Why a suspension is lifted."""

    model_config = ConfigDict(extra="forbid")

    because: str = Field(max_length=LONGEST_REASON, description="What was found and done; it stands in the ledger.")


@router.get("/suspensions", tags=["suspensions"], summary="Who is suspended because a question failed")
def suspensions(
    service: ServiceHere,
    principal: _Reader,
    lifted: Annotated[bool, Query(description="Whether those that were lifted are listed, too.")] = False,
    after: Annotated[int | None, Query(ge=1, le=2**62, description="The last record that was seen.")] = None,
    limit: Limit = 100,
) -> list[SuspensionFacts]:
    """From the first on."""
    found = oversight_ops.suspensions(service, principal, lifted=lifted)
    return [SuspensionFacts.of(one) for one in page(found, lambda one: one.record, after, limit=limit)]


@router.post("/suspensions/{record}/lift", tags=["suspensions"], summary="Let who is suspended ask again")
def lift(service: ServiceHere, principal: _Owner, record: _Record, body: Reason) -> SuspensionFacts:
    """The lift stands in the ledger with its reason. A second one changes nothing."""
    return SuspensionFacts.of(oversight_ops.lift(service, principal, record, body.because))
