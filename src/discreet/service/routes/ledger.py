"""The ledger and its certificates."""

from __future__ import annotations

from asyncio import wrap_future
from datetime import date
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from discreet.service.auth.bearer import ServiceHere, principal_with
from discreet.service.auth.roles import READERS, Principal
from discreet.service.operations import ledger as ledger_ops
from discreet.service.operations.ledger import Record
from discreet.service.paging import Limit

__all__ = ["router"]


router = APIRouter(tags=["ledger"])
_LAST_POSITION = 2**62
_MOST_CHARACTERS = 1000
Anybody = Annotated[Principal, principal_with()]
_Reader = Annotated[Principal, principal_with(READERS)]
Short = Annotated[str | None, Query(max_length=_MOST_CHARACTERS)]


class EntryFacts(BaseModel):
    """One record of the ledger."""

    position: int = Field(description="Where it stands in the ledger.")
    time: str = Field(description="When it was written, in universal time.")
    kind: str = Field(description="A question, an account, a publication, or the start.")
    text: str = Field(description="The question, or what the record is about.")
    analyst: str | None = Field(description="Who asked; none for the owner.")
    tables: list[str] = Field(description="The protected tables that it is about.")
    prices: list[str] = Field(description="What was charged, per account, in words.")
    answer: int | None = Field(description="Where its answer stands; its certificate has this number.")
    hash: str = Field(description="The hash of the ledger up to here.")

    @classmethod
    def of(cls, one: Record, prices: list[str]) -> EntryFacts:
        """A record as plain data."""
        same = {name: getattr(one, name) for name in ("position", "time", "kind", "text", "analyst")}
        return cls(**same, tables=list(one.tables), prices=prices, answer=one.answered, hash=one.hash.hex())


class CheckedFacts(BaseModel):
    """What a check of the ledger found."""

    is_sound: bool = Field(description="Whether it can be believed.")
    problems: list[str] = Field(description="What is wrong, in words.")
    entries: int = Field(description="How many records were replayed.")
    head: str = Field(description="The hash of the last one.")


class PaperFacts(BaseModel):
    """A certificate, and what a check of it says."""

    certificate: dict[str, Any] = Field(description="Question, plan, loss and place in the ledger, signed.")
    is_genuine: bool = Field(description="Whether this curator signed it as it stands.")
    is_in_ledger: bool = Field(description="Whether the ledger has this answer at the place that it states.")


@router.get("/ledger", summary="What was released, newest first")
def ledger(
    service: ServiceHere,
    principal: Anybody,
    analyst: Annotated[Short, Query(description="Who asked; an empty text means the owner.")] = None,
    table: Annotated[Short, Query(description="The table that it is about.")] = None,
    kind: Annotated[Short, Query(description="The kind of the record, such as question.")] = None,
    text: Annotated[str, Query(max_length=_MOST_CHARACTERS, description="A part of its text.")] = "",
    since: Annotated[date | None, Query(description="The first day, in universal time.")] = None,
    until: Annotated[date | None, Query(description="The last day.")] = None,
    before: Annotated[
        int | None, Query(ge=1, le=_LAST_POSITION, description="The last position that was seen.")
    ] = None,
    limit: Limit = 100,
) -> list[EntryFacts]:
    """An analyst finds their own questions alone. For older records pass the last position as ``before``."""
    sought = ledger_ops.Sought(analyst, table, kind, text, since, until, before)
    found = ledger_ops.entries(service, principal, sought, limit)
    return [EntryFacts.of(*pair) for pair in zip(found, ledger_ops.price_words(service, found), strict=True)]


@router.get("/ledger/verification", summary="Whether the ledger can be believed")
async def verification(service: ServiceHere, principal: _Reader) -> CheckedFacts:
    """Replay all of it, for owners and auditors. One run serves all who ask, and those who ask soon after."""
    found = ledger_ops.checked(await wrap_future(await run_in_threadpool(ledger_ops.verifying, service, principal)))
    return CheckedFacts(is_sound=found.is_sound, problems=list(found.problems), entries=found.entries, head=found.head)


@router.get("/ledger/{entry}/certificate", summary="The certificate of an answer")
def certificate(
    service: ServiceHere, principal: Anybody, entry: Annotated[int, Path(ge=1, le=_LAST_POSITION)]
) -> PaperFacts:
    """Checked; answers of others do not exist for an analyst."""
    found = ledger_ops.certificate(service, principal, entry)
    return PaperFacts(certificate=found.certificate, is_genuine=found.is_genuine, is_in_ledger=found.is_in_ledger)
