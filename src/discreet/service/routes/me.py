"""Who am I: the visitor that a token stands for."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from discreet.service.role import Role
from discreet.service.signing_in import visitor_with
from discreet.service.visitor import Visitor

__all__ = ["router"]

router = APIRouter(tags=["me"])


class Me(BaseModel):
    """Who is signed in."""

    name: str = Field(description="The name that policies and the ledger know.")
    role: Role = Field(description="What they may do.")


@router.get("/me", summary="Who this token stands for")
def me(visitor: Annotated[Visitor, visitor_with()]) -> Me:
    """The name and role of the visitor."""
    return Me(name=visitor.name, role=visitor.role)
