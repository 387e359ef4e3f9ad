"""Publications: tables that left the service without differential privacy, and their files."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from fastapi.responses import FileResponse
from pydantic import BaseModel, ConfigDict, Field

from discreet.curator.publications import PublicationRecord
from discreet.service.auth.bearer import ServiceHere, principal_with
from discreet.service.auth.roles import MemberRole, Principal
from discreet.service.operations import publications as publications_ops
from discreet.service.operations import uploads
from discreet.service.paging import Limit, page

__all__ = ["router"]


router = APIRouter(tags=["publications"])
_Anybody = Annotated[Principal, principal_with()]
_Owner = Annotated[Principal, principal_with({MemberRole.OWNER})]
_Column = Annotated[str, Field(max_length=200)]
_Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class Models(BaseModel):
    """What the release meets; it is checked."""

    model_config = ConfigDict(extra="forbid")

    k: int | None = Field(None, strict=True, ge=1, le=10**9, description="How many rows look alike at least.")
    l: _Number | None = Field(None, description="How many values a sensitive column has at least, in every class.")  # noqa: E741
    diversity: Literal["distinct", "entropy", "recursive"] = Field("distinct", description="How l counts values.")
    c: _Number = Field(3.0, description="The c of recursive (c, l)-diversity.")
    t: _Number | None = Field(None, description="How far a class may be from the table at most.")
    distance: Literal["equal", "ordered", "numeric"] = Field("equal", description="How t measures distances.")
    alpha: _Number | None = Field(None, description="The largest share of one sensitive value in a class.")
    beta: _Number | None = Field(None, description="How much likelier a value may be in a class than in the table.")
    delta: _Number | None = Field(None, description="How far the logarithm of that may go, up or down.")


class NewPublication(BaseModel):
    """A table to publish."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(max_length=200, description="What it is called.")
    upload: str = Field(max_length=100, description="The upload that holds it.")
    quasi: list[_Column] = Field(max_length=200, description="The columns that others may know.")
    sensitive: list[_Column] = Field([], max_length=200, description="The columns that nobody should learn.")
    models: Models = Field(description="What it meets.")
    why: str = Field(max_length=publications_ops.LONGEST_WORDS, description="What it is for, and who asked for it.")
    approved: bool = Field(
        strict=True, description="That the owner approves it, knowing that no ε bounds what it tells."
    )


class PublicationFacts(BaseModel):
    """A table that was published."""

    entry: int = Field(description="Where it stands in the ledger.")
    time: str = Field(description="When, in universal time.")
    name: str = Field(description="What it is called.")
    sha256: str = Field(description="The hash of its bytes.")
    approved_by: str = Field(description="Who answers for it.")
    loss: str = Field(description="Infinite: no ε bounds what it tells.")
    statement: dict[str, Any] = Field(description="What was said and checked about it.")


@router.get("/publications", summary="What was published")
def publications(
    service: ServiceHere,
    principal: _Anybody,
    before: Annotated[int | None, Query(ge=1, le=2**62, description="The last entry that was seen.")] = None,
    limit: Limit = 100,
) -> list[PublicationFacts]:
    """Latest first."""
    found = publications_ops.publications(service, principal)
    return [_as_facts(one) for one in page(found, lambda one: one.entry, before, limit=limit, down=True)]


@router.post("/publications", status_code=201, summary="Publish a table")
def publish(service: ServiceHere, principal: _Owner, body: NewPublication) -> PublicationFacts:
    """It is checked against what is stated about it, and stands in the ledger with an infinite loss."""
    from discreet.service.operations.publications import state_release  # noqa: PLC0415  the check loads much, for owners alone

    kept = uploads.upload(service, principal, body.upload)
    roles, models = state_release(kept.schema.columns, body.quasi, body.sensitive, body.models.model_dump())
    given = body.name, body.upload, roles, models
    return _as_facts(publications_ops.publish(service, principal, *given, why=body.why, approved=body.approved))


@router.get(
    "/publications/{publication}/file",
    summary="The file of a publication",
    response_class=FileResponse,
    responses={200: {"content": {"text/csv": {}, "application/vnd.apache.parquet": {}}}},
)
def release(
    service: ServiceHere,
    principal: _Anybody,
    publication: Annotated[int, Path(ge=1, le=2**62, description="Where it stands in the ledger.")],
) -> FileResponse:
    """The bytes that were recorded."""
    found = publications_ops.release(service, principal, publication)
    return FileResponse(found.path, media_type=found.media_type, filename=found.file)


def _as_facts(one: PublicationRecord) -> PublicationFacts:
    return PublicationFacts(
        entry=one.entry,
        time=one.time,
        name=one.name,
        sha256=one.sha256,
        approved_by=one.approved_by,
        loss=one.loss,
        statement=dict(one.statement),
    )
