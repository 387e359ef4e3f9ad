"""Who am I: the principal that a token stands for."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from discreet.service.auth.bearer import principal_with
from discreet.service.auth.roles import MemberRole, Principal

__all__ = ["router"]


router = APIRouter(tags=["me"])


class Me(BaseModel):
    """Who is signed in."""

    name: str = Field(description="The name that policies and the ledger know.")
    role: MemberRole = Field(description="What they may do.")


@router.get("/me", summary="Who this token stands for")
def me(principal: Annotated[Principal, principal_with()]) -> Me:
    """The name and role of the principal."""
    return Me(name=principal.name, role=principal.role)
