"""Tables as owners look after them: uploads, policies, and who may ask."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool

from discreet.catalog.budget import Budget
from discreet.errors import InvalidValue
from discreet.service.auth.bearer import ServiceHere, principal_with
from discreet.service.auth.roles import MemberRole, Principal
from discreet.service.operations import protect as protect_ops
from discreet.service.operations import uploads
from discreet.service.operations.protect import OnServer, Uploaded
from discreet.service.paging import Limit, page
from discreet.service.routes.tables import After, BalanceFacts, TableFacts

__all__ = ["router"]


router = APIRouter(tags=["owning"])
_Owner = Annotated[Principal, principal_with({MemberRole.OWNER})]
_LONGEST_NAME = 200
_Name = Annotated[str, Query(max_length=_LONGEST_NAME, description="The name of a table.")]
_SENT = {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}, "required": True}


class _TableBody(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ColumnSent(BaseModel):
    """A column of a file."""

    name: str = Field(description="As the file has it.")
    type: str = Field(description="What the file says about its values.")


class UploadFacts(BaseModel):
    """A table that was sent and waits."""

    id: str = Field(description="By which it is named from here on.")
    name: str = Field(description="What it is called.")
    bytes: int = Field(description="How large it is, unpacked.")
    columns: list[ColumnSent] = Field(description="Its columns.")
    types_are_stated: bool = Field(description="Whether the file states types; a CSV file does not.")


class SourceNamed(_TableBody):
    """Where the rows of a table are: one of the two."""

    upload: str | None = Field(None, max_length=100, description="The id of an upload.")
    path: str | None = Field(None, max_length=4096, description="A path on the server, in a folder that is listed.")

    def source(self) -> protect_ops.Source:
        """The source that is meant."""
        if (self.upload is None) == (self.path is None):
            raise InvalidValue("a source is an upload or a path", "<both or neither>")
        return Uploaded(self.upload) if self.upload is not None else OnServer(self.path or "")


class PolicyText(_TableBody):
    """The text of a policy."""

    policy: str = Field(description="As a policy file has it, in YAML.")


class NewTable(SourceNamed, PolicyText):
    """A table to take in."""


class PolicyProblem(BaseModel):
    """What is wrong with a policy."""

    text: str = Field(description="The rule, what was found instead, and what would work.")
    line: int | None = Field(description="The line, from 1; null where it is about the whole.")
    column: int | None = Field(description="The character in the line, from 1.")


class TableProtected(BaseModel):
    """A table that was taken in."""

    table: TableFacts = Field(description="What its policy says.")
    unread: dict[str, int] = Field(
        description="Per column, how many values could not be read as its type. Exact: for the owner alone."
    )
    unread_words: list[str] = Field(
        description="The same in words, with what these values look like and which setting reads them."
    )
    warnings: list[str] = Field(
        description="Other tables that hold the same rows, or whose names look alike, in words. For the owner alone."
    )


class Cap(_TableBody):
    """What one analyst may spend."""

    epsilon: str = Field(max_length=100, description="The ε of everything together, such as 0.5 or 1/2.")
    delta: str = Field("0", max_length=100, description="The δ, where the table's budget has one.")
    delta_for_keys: str = Field("0", max_length=100, description="The part of δ for groups that nobody listed.")


class Allowed(_TableBody):
    """Somebody who may ask."""

    table: str = Field(max_length=_LONGEST_NAME, description="The table.")
    analyst: str = Field(max_length=_LONGEST_NAME, description="A member who is an analyst.")
    cap: Cap | None = Field(None, description="What they may spend; left out: as much as all together.")


class HoldingFacts(BaseModel):
    """A table as its owner sees it."""

    table: TableFacts = Field(description="What its policy says.")
    version: str | None = Field(description="Which ingest its rows came from.")
    is_stale: bool = Field(description="Whether it must be taken in again, because the table it leads to was.")
    balances: list[BalanceFacts] = Field(description="What was granted, spent and left.")


@router.post("/uploads", status_code=201, summary="Send a table", openapi_extra={"requestBody": _SENT})
async def send(
    request: Request,
    service: ServiceHere,
    principal: _Owner,
    file: Annotated[str, Query(max_length=1000, description="The name of the file, which says what kind it is.")],
) -> UploadFacts:
    """The body is the file itself: CSV, CSV packed by gzip, or Parquet. It waits for some hours to be taken in."""
    sent = await run_in_threadpool(uploads.receiving, service, principal, file)
    try:
        async for part in request.stream():
            await run_in_threadpool(sent.add, part)
        return _upload(await run_in_threadpool(sent.whole))
    finally:
        await run_in_threadpool(sent.close)


@router.delete("/uploads/{id}", status_code=204, summary="Forget an upload")
def forget(
    service: ServiceHere, principal: _Owner, upload: Annotated[str, Path(alias="id", description="The upload.")]
) -> None:
    """It is gone at once."""
    uploads.discard(service, principal, upload)


@router.post("/policies/draft", summary="A first policy for a table")
def draft(service: ServiceHere, principal: _Owner, body: SourceNamed) -> PolicyText:
    """From names and types alone; no row is read. Blanks are for the owner to fill in."""
    return PolicyText(policy=protect_ops.draft_policy(service, principal, body.source()))


@router.post("/policies/check", summary="What is wrong with a policy")
def check(service: ServiceHere, principal: _Owner, body: PolicyText) -> list[PolicyProblem]:
    """Nothing, where the list is empty; nothing is changed."""
    found = protect_ops.check_policy(service, principal, body.policy)
    return [PolicyProblem(text=str(one), line=one.line, column=one.column) for one in found]


@router.get("/policies", summary="The policy of a table")
def policy(service: ServiceHere, principal: _Owner, table: _Name) -> PolicyText:
    """As a policy file has it."""
    return PolicyText(policy=protect_ops.policy_text(service, principal, table))


@router.post("/tables", status_code=201, summary="Take in a table")
def protect(service: ServiceHere, principal: _Owner, body: NewTable) -> TableProtected:
    """Under a policy; a table that is there already gets new rows, and keeps its unit and its budget."""
    made = protect_ops.protect(service, principal, body.source(), body.policy)
    return TableProtected(
        table=TableFacts.of(made.table),
        unread=dict(made.unread),
        unread_words=list(made.unread_words),
        warnings=list(made.warnings),
    )


@router.get("/holdings", summary="The tables as their owner sees them")
def holdings(service: ServiceHere, principal: _Owner, after: After = None, limit: Limit = 100) -> list[HoldingFacts]:
    """With versions, analysts, and what they spent, by name."""
    return [
        HoldingFacts(
            table=TableFacts.of(one.table),
            version=one.version,
            is_stale=one.is_stale,
            balances=[BalanceFacts.of(balance) for balance in one.balances],
        )
        for one in page(protect_ops.holdings(service, principal), lambda one: one.table.name, after, limit=limit)
    ]


@router.put("/analysts", summary="Let somebody ask, or change their cap")
def allow(service: ServiceHere, principal: _Owner, body: Allowed) -> TableFacts:
    """A cap never falls below what was spent, and stays within the table's budget."""
    cap = None if body.cap is None else Budget(body.cap.epsilon, body.cap.delta, body.cap.delta_for_keys)
    return TableFacts.of(protect_ops.allow(service, principal, body.table, body.analyst, cap))


@router.delete("/analysts", summary="Let somebody ask no more")
def disallow(
    service: ServiceHere,
    principal: _Owner,
    table: _Name,
    analyst: Annotated[str, Query(max_length=_LONGEST_NAME, description="Who.")],
) -> TableFacts:
    """What they spent stays counted, also when they are allowed again."""
    return TableFacts.of(protect_ops.disallow(service, principal, table, analyst))


def _upload(one: uploads.Upload) -> UploadFacts:
    columns = [ColumnSent(name=name, type=words) for name, words in one.schema.columns.items()]
    return UploadFacts(
        id=one.id, name=one.name, bytes=one.size, columns=columns, types_are_stated=one.schema.types_are_stated
    )
