"""The ledger and its certificates."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from discreet.service import books
from discreet.service.records import Record
from discreet.service.signing_in import HouseHere, visitor_with
from discreet.service.visitor import Visitor

__all__ = ["router"]

router = APIRouter(tags=["ledger"])
_MOST_ENTRIES = 1000
_LAST_POSITION = 2**62
_MOST_CHARACTERS = 1000
_REPLAYING = CapacityLimiter(2)
"""Threads that replay the ledger, which takes long where it is long: whoever waits for one holds no thread."""
Anybody = Annotated[Visitor, visitor_with()]
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
    entries: int | None = Field(description="How many records were replayed; none for analysts.")
    head: str | None = Field(description="The hash of the last one; none for analysts.")


class PaperFacts(BaseModel):
    """A certificate, and what a check of it says."""

    certificate: dict[str, Any] = Field(description="Question, plan, loss and place in the ledger, signed.")
    is_genuine: bool = Field(description="Whether this curator signed it as it stands.")
    is_in_ledger: bool = Field(description="Whether the ledger has this answer at the place that it states.")


@router.get("/ledger", summary="What was released, newest first")
def ledger(
    house: HouseHere,
    visitor: Anybody,
    analyst: Short = None,
    table: Short = None,
    kind: Short = None,
    text: Annotated[str, Query(max_length=_MOST_CHARACTERS)] = "",
    since: date | None = None,
    until: date | None = None,
    before: Annotated[int | None, Query(ge=1, le=_LAST_POSITION)] = None,
    most: Annotated[int, Query(ge=1, le=_MOST_ENTRIES)] = 100,
) -> list[EntryFacts]:
    """An analyst finds their own questions alone. For older records pass the last position as ``before``."""
    sought = books.Sought(analyst, table, kind, text, since, until, before)
    found = books.entries(house, visitor, sought, most)
    return [EntryFacts.of(*pair) for pair in zip(found, books.price_words(house, found), strict=True)]


@router.get("/ledger/verification", summary="Whether the ledger can be believed")
async def verification(house: HouseHere, visitor: Anybody) -> CheckedFacts:
    """Replay all of it."""
    found = await to_thread.run_sync(books.verify, house, visitor, limiter=_REPLAYING)
    return CheckedFacts(is_sound=found.is_sound, problems=list(found.problems), entries=found.entries, head=found.head)


@router.get("/ledger/{entry}/certificate", summary="The certificate of an answer")
def certificate(house: HouseHere, visitor: Anybody, entry: Annotated[int, Path(ge=1, le=_LAST_POSITION)]) -> PaperFacts:
    """Checked; answers of others do not exist for an analyst."""
    found = books.certificate(house, visitor, entry)
    return PaperFacts(certificate=found.certificate, is_genuine=found.is_genuine, is_in_ledger=found.is_in_ledger)
