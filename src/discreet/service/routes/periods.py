"""Tables that grow: appending rows, periods and their closes, and forgetting somebody."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr
from starlette.concurrency import run_in_threadpool

from discreet.catalog.period import Period
from discreet.service.auth.bearer import ServiceHere, principal_with
from discreet.service.auth.roles import FEEDERS, MemberRole, Principal
from discreet.service.operations import periods as periods_ops
from discreet.service.operations.periods import PeriodBalance, RowsTaken
from discreet.service.paging import Limit, page
from discreet.service.routes.tables import Amount, Anybody

__all__ = ["router"]


router = APIRouter(tags=["periods"])
_Owner = Annotated[Principal, principal_with({MemberRole.OWNER})]
_Feeder = Annotated[Principal, principal_with(FEEDERS)]
_LONGEST_NAME = 200
_Table = Annotated[str, Path(max_length=_LONGEST_NAME, description="A table that grows by periods.")]
_Period = Annotated[str, Path(max_length=20, description="The name of a period, such as 2026-W07.")]
_SENT = {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}, "required": True}


class PeriodInterval(BaseModel):
    """A period of a table."""

    name: str = Field(description="As people call it.")
    start: str = Field(description="When it begins, on the clock of the time column, which has no zone.")
    end: str = Field(description="When the next one begins.")

    @classmethod
    def of_period(cls, one: Period) -> PeriodInterval:
        """A period as plain data."""
        return cls(name=one.name, start=one.start.isoformat(), end=one.end.isoformat())


class PeriodFacts(PeriodInterval):
    """A period of a table, and what may be spent on it: nothing here is read from its rows."""

    state: str = Field(description="closed; due where the calendar would close it by now; or open.")
    cap: Amount | None = Field(description="What you may spend on it in all; null where it has no budget of its own.")
    spent: Amount | None = Field(description="What of that was spent.")
    left: Amount | None = Field(description="What of that is left.")

    @classmethod
    def of(cls, one: PeriodBalance) -> PeriodFacts:
        """A period as plain data."""
        cap, left = (None if loss is None else Amount.balance(loss) for loss in (one.cap, one.left))
        spent = None if one.spent is None else Amount.price(one.spent)
        start, end = one.start.isoformat(), one.end.isoformat()
        return cls(name=one.name, start=start, end=end, state=one.state, cap=cap, spent=spent, left=left)


class AppendFacts(BaseModel):
    """What became of the rows of an append: for who sent them."""

    id: str = Field(description="The append's id.")
    rows: int = Field(description="How many rows were taken. Exact: for you alone.")
    set_aside: dict[str, int] = Field(
        description="How many were not, for each reason: late, before, after, no date, no person, missing."
    )
    is_repeated: bool = Field(description="Whether the same rows had been appended under this id before.")
    unread: dict[str, int] = Field(description="Per column, how many values could not be read as its type.")
    unread_words: list[str] = Field(description="The same in words, with what these values look like.")

    @classmethod
    def of(cls, found: RowsTaken) -> AppendFacts:
        """An append as plain data."""
        done = found.appended
        return cls(
            id=done.id,
            rows=done.rows,
            set_aside=dict(done.set_aside),
            is_repeated=done.is_repeated,
            unread=dict(found.unread),
            unread_words=list(found.unread_words),
        )


class Closed(BaseModel):
    """Periods that were closed now."""

    periods: list[PeriodInterval] = Field(description="In order; none where all of them were closed before.")


class Forgotten(BaseModel):
    """Somebody who is to be forgotten."""

    model_config = ConfigDict(extra="forbid")

    unit: StrictInt | StrictStr = Field(description="The value of the column that names the person.")


@router.get("/tables/{name}/periods", summary="The periods of a table that grows")
def periods(
    service: ServiceHere,
    principal: Anybody,
    name: _Table,
    after: Annotated[str | None, Query(max_length=20, description="The last name that was seen.")] = None,
    limit: Limit = 100,
) -> list[PeriodFacts]:
    """From the first to the one that is open now, with what you may still spend on each."""
    found = periods_ops.periods(service, principal, name)
    return [PeriodFacts.of(one) for one in page(found, lambda one: one.name, after, limit=limit)]


@router.post("/tables/{name}/rows", summary="Append rows to a table", openapi_extra={"requestBody": _SENT})
async def append(
    request: Request,
    service: ServiceHere,
    principal: _Feeder,
    name: _Table,
    file: Annotated[str, Query(max_length=1000, description="The name of the file, which says what kind it is.")],
    append_id: Annotated[
        str, Query(alias="id", min_length=1, max_length=200, description="An id of one's own, such as 2026-02-16.")
    ],
) -> AppendFacts:
    """The body is the file itself: CSV, CSV packed by gzip, or Parquet. Sent again under its id it changes nothing.

    Each row goes to its period while that is open; others are set aside, and only you hear how many.
    """
    sent = await run_in_threadpool(periods_ops.receiving, service, principal, name, file, append_id)
    try:
        async for part in request.stream():
            await run_in_threadpool(sent.add, part)
        whole = await run_in_threadpool(sent.whole)
    finally:
        await run_in_threadpool(sent.close)
    return AppendFacts.of(await run_in_threadpool(periods_ops.append, service, principal, name, whole, append_id))


@router.post("/tables/{name}/periods/{period}/close", summary="Close the periods of a table up to one")
def close(service: ServiceHere, principal: _Owner, name: _Table, period: _Period) -> Closed:
    """They take no more rows, and can be asked about. Periods close in order, those before it first, for good."""
    found = periods_ops.close(service, principal, name, period)
    return Closed(periods=[PeriodInterval.of_period(one) for one in found])


@router.delete("/tables/{name}/units", status_code=202, summary="Have a person forgotten at the next close")
def forget_unit(service: ServiceHere, principal: _Owner, name: _Table, body: Forgotten) -> None:
    """Nothing tells whether there is such a person. What was released stays; who comes back counts as somebody else."""
    periods_ops.forget(service, principal, name, body.unit)
