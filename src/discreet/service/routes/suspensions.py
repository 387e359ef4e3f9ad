"""Suspensions: a question that failed keeps its member from asking there until an owner lifts it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from discreet.curator.suspensions import LONGEST_REASON, Suspension
from discreet.service.auth.bearer import ServiceHere, principal_with
from discreet.service.auth.roles import READERS, MemberRole, Principal
from discreet.service.operations import suspensions as suspensions_ops
from discreet.service.paging import Limit, page

__all__ = ["router"]


router = APIRouter(tags=["suspensions"])
_Reader = Annotated[Principal, principal_with(READERS)]
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


@router.get("/suspensions", summary="Who is suspended because a question failed")
def suspensions(
    service: ServiceHere,
    principal: _Reader,
    lifted: Annotated[bool, Query(description="Whether those that were lifted are listed, too.")] = False,
    after: Annotated[int | None, Query(ge=1, le=2**62, description="The last record that was seen.")] = None,
    limit: Limit = 100,
) -> list[SuspensionFacts]:
    """From the first on."""
    found = suspensions_ops.suspensions(service, principal, lifted=lifted)
    return [SuspensionFacts.of(one) for one in page(found, lambda one: one.record, after, limit=limit)]


@router.post("/suspensions/{record}/lift", summary="Let who is suspended ask again")
def lift(service: ServiceHere, principal: _Owner, record: _Record, body: Reason) -> SuspensionFacts:
    """The lift stands in the ledger with its reason. A second one changes nothing."""
    return SuspensionFacts.of(suspensions_ops.lift(service, principal, record, body.because))
