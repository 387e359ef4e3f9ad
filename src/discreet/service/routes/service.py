"""The service itself: its health, its metrics, and the description of its API."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import BaseModel, Field

from discreet.http.problems import KIND
from discreet.reports.html import STYLE
from discreet.service.auth.bearer import ServiceHere, principal_with
from discreet.service.auth.roles import READERS, Principal
from discreet.service.monitoring import Health, write_metrics
from discreet.service.openapi import MORE_STYLE, render_api_page

__all__ = [
    "description_router",
    "health_router",
    "metrics_router",
]


health_router = APIRouter(prefix="/health", tags=["health"])
_NOT_READY = {"description": "They cannot", "content": {KIND: {}}}


class Live(BaseModel):
    """That the process answers."""

    status: Literal["live"] = Field(default="live", description="One word.")


class Ready(BaseModel):
    """That questions can be answered."""

    status: Literal["ready"] = Field(default="ready", description="One word.")


@health_router.get("/live", summary="Whether the process answers")
async def live() -> Live:  # on the loop itself: threads may all wait for something
    """Yes, or there is no answer."""
    return Live()


@health_router.get("/ready", summary="Whether ledger and members can be read and written", responses={503: _NOT_READY})
def ready(request: Request) -> Ready:
    """Yes, or 503."""
    health: Health = request.app.state.health
    if not health.is_ready():
        raise HTTPException(503, "The service is not ready.")
    return Ready()


metrics_router = APIRouter(tags=["metrics"])
_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


@metrics_router.get(
    "/metrics",
    summary="Counts for Prometheus, none of which depends on rows",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
def metrics(
    request: Request, service: ServiceHere, principal: Annotated[Principal, principal_with(READERS)]
) -> Response:
    """Requests, refusals, how long explaining took, questions by state, and budgets."""
    principal.must_be(READERS)
    return Response(write_metrics(service, request.app.state.metrics), media_type=_PROMETHEUS)


description_router = APIRouter(include_in_schema=False)


@description_router.get("/openapi.json")
def description(request: Request) -> JSONResponse:
    """The description for programs."""
    return JSONResponse(request.app.openapi())


@description_router.get("/docs")
def page(request: Request) -> HTMLResponse:
    """Every route, what it takes and what it answers."""
    return HTMLResponse(render_api_page(request.app.openapi(), f"{request.url.path}/style.css"))


@description_router.get("/docs/style.css")
def style() -> Response:
    """The style sheet of the page."""
    return Response(STYLE + MORE_STYLE, media_type="text/css")
