"""Health, for whatever watches the service; it needs no token and learns one word."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, HTTPException, Request
from pydantic import BaseModel, Field

from discreet.http.problems import KIND
from discreet.service.monitoring import Health

__all__ = ["router"]


router = APIRouter(prefix="/health", tags=["health"])
_NOT_READY = {"description": "They cannot", "content": {KIND: {}}}


class Live(BaseModel):
    """That the process answers."""

    status: Literal["live"] = Field(default="live", description="One word.")


class Ready(BaseModel):
    """That questions can be answered."""

    status: Literal["ready"] = Field(default="ready", description="One word.")


@router.get("/live", summary="Whether the process answers")
async def live() -> Live:  # on the loop itself: threads may all wait for something
    """Yes, or there is no answer."""
    return Live()


@router.get("/ready", summary="Whether ledger and members can be read and written", responses={503: _NOT_READY})
def ready(request: Request) -> Ready:
    """Yes, or 503."""
    health: Health = request.app.state.health
    if not health.is_ready():
        raise HTTPException(503, "The service is not ready.")
    return Ready()
