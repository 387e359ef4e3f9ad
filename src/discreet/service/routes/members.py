"""Members and tokens: who this token stands for, signing in, who is here, and which tokens there are."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, overload

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from discreet.service.auth.bearer import ServiceHere, principal_with, read_address
from discreet.service.auth.members import LEAST_DAYS, LONGEST_DAYS, Issued, Member, Token
from discreet.service.auth.roles import EVERYBODY, MemberRole, Principal
from discreet.service.operations import members as members_ops
from discreet.service.paging import Limit

__all__ = [
    "router",
]


router = APIRouter()
_Anybody = Annotated[Principal, principal_with()]
_Owner = Annotated[Principal, principal_with({MemberRole.OWNER})]
_LATEST = datetime.max.replace(tzinfo=UTC).timestamp() - 1


class Me(BaseModel):
    """Who is signed in."""

    name: str = Field(description="The name that policies and the ledger know.")
    role: MemberRole = Field(description="What they may do.")


@router.get("/me", tags=["me"], summary="Who this token stands for")
def me(principal: Annotated[Principal, principal_with(EVERYBODY)]) -> Me:
    """The name and role of the principal."""
    return Me(name=principal.name, role=principal.role)


class _MemberBody(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Showing(_MemberBody):
    """A token, shown to sign in."""

    token: str = Field(max_length=200, description="The whole token, one-time or lasting.")


class Lasting(BaseModel):
    """The token to send with every request from now on."""

    token: str = Field(description="The whole token. One that was exchanged for a one-time token is shown once.")
    expires: datetime = Field(description="When it ends.")


class NewMember(_MemberBody):
    """Who is to join."""

    name: str = Field(description="As policies and the ledger know them; nobody ever had it here.")
    role: MemberRole = Field(description="What they may do.")


class MemberFacts(BaseModel):
    """Somebody who is or was a member."""

    name: str = Field(description="Taken for good.")
    role: MemberRole = Field(description="What they may do.")
    since: datetime = Field(description="When they joined.")
    removed: datetime | None = Field(description="When they left; null while they are here.")


class NewToken(_MemberBody):
    """What a new token is to be."""

    member: str | None = Field(None, description="Whose it is; left out: one's own. Those of others are for owners.")
    label: str = Field("", max_length=100, description="What it is for.")
    days: float | None = Field(
        None,
        ge=LEAST_DAYS,
        le=LONGEST_DAYS,
        strict=True,
        allow_inf_nan=False,
        description="How long it lives; left out: as the settings say. Owners may say more than these.",
    )
    once: bool = Field(False, strict=True, description="Whether it is used up by signing in.")


class TokenFacts(BaseModel):
    """A token, without its secret."""

    id: str = Field(description="The public part, by which it is revoked.")
    member: str = Field(description="Whose it is.")
    label: str = Field(description="What it is for.")
    once: bool = Field(description="Whether it is used up by signing in.")
    made: datetime = Field(description="When it was issued.")
    expires: datetime = Field(description="When it ends by itself.")
    revoked: datetime | None = Field(description="When it was taken back or used up; null while it was not.")


class TokenIssued(TokenFacts):
    """A new token, with its secret."""

    secret: str = Field(description="The whole token. It is shown now and never again.")


@router.post("/sign-in", tags=["me"], summary="Exchange a one-time token for one that lasts")
def sign_in(service: ServiceHere, request: Request, body: Showing) -> Lasting:
    """A one-time token is used up; a token that lasts already comes back as it is."""
    found = members_ops.sign_in(service, body.token, read_address(request))
    return Lasting(token=found.secret, expires=_moment(found.token.expires))


@router.get("/members", tags=["members"], summary="Who is or was a member")
def members(
    service: ServiceHere,
    principal: _Owner,
    after: Annotated[str | None, Query(max_length=1000, description="The last name that was seen.")] = None,
    limit: Limit = 100,
) -> list[MemberFacts]:
    """Everybody, by name."""
    return [_member(one) for one in members_ops.members(service, principal, after, limit)]


@router.post("/members", tags=["members"], status_code=201, summary="Add a member")
def add_member(service: ServiceHere, principal: _Owner, body: NewMember) -> MemberFacts:
    """They can sign in once they have a token."""
    return _member(members_ops.add_member(service, principal, body.name, body.role))


@router.delete("/members", tags=["members"], status_code=204, summary="Remove a member")
def remove_member(
    service: ServiceHere, principal: _Owner, name: Annotated[str, Query(description="Who leaves.")]
) -> None:
    """All their tokens end at once, and their name stays taken. The last owner stays."""
    members_ops.remove_member(service, principal, name)


@router.get("/tokens", tags=["members"], summary="Tokens of a member")
def tokens(
    service: ServiceHere,
    principal: _Anybody,
    member: Annotated[str | None, Query(description="Whose; left out: one's own. Others' are for owners.")] = None,
    before: Annotated[str | None, Query(max_length=100, description="The last id that was seen.")] = None,
    limit: Limit = 100,
) -> list[TokenFacts]:
    """Latest first, without secrets; some that have ended are among them."""
    return [_token(one) for one in members_ops.tokens(service, principal, member, before, limit)]


@router.post("/tokens", tags=["members"], status_code=201, summary="Issue a token")
def issue_token(service: ServiceHere, principal: _Anybody, body: NewToken) -> TokenIssued:
    """For oneself, or by an owner for somebody else."""
    given = body.label, body.days, body.once
    return _issue(members_ops.issue_token(service, principal, body.member, *given))


@router.delete("/tokens/{id}", tags=["members"], status_code=204, summary="Revoke a token")
def revoke_token(
    service: ServiceHere, principal: _Anybody, public: Annotated[str, Path(alias="id", description="Its public part.")]
) -> None:
    """It is refused from now on, in every process. Owners may revoke anybody's."""
    members_ops.revoke_token(service, principal, public)


def _member(one: Member) -> MemberFacts:
    return MemberFacts(name=one.name, role=one.role, since=_moment(one.since), removed=_moment(one.removed))


def _token(one: Token) -> TokenFacts:
    return TokenFacts(
        id=one.id,
        member=one.member,
        label=one.label,
        once=one.once,
        made=_moment(one.made),
        expires=_moment(one.expires),
        revoked=_moment(one.revoked),
    )


def _issue(one: Issued) -> TokenIssued:
    return TokenIssued(secret=one.secret, **_token(one.token).model_dump())


@overload
def _moment(seconds: float) -> datetime: ...
@overload
def _moment(seconds: None) -> None: ...
def _moment(seconds: float | None) -> datetime | None:
    """A time as people write it; a clock that went astray is shown as far as the calendar goes."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(min(max(seconds, 0.0), _LATEST), UTC).replace(microsecond=0)
