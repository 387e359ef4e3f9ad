"""Metrics, as Prometheus reads them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request, Response

from discreet.service.auth.bearer import ServiceHere, principal_with
from discreet.service.auth.roles import READERS, Principal
from discreet.service.monitoring import write_metrics

__all__ = ["router"]


router = APIRouter(tags=["metrics"])
_KIND = "text/plain; version=0.0.4; charset=utf-8"


@router.get(
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
    return Response(write_metrics(service, request.app.state.metrics), media_type=_KIND)
