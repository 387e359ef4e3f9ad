"""Metrics, as Prometheus reads them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request, Response

from discreet.service.metrics import written
from discreet.service.role import READERS
from discreet.service.signing_in import HouseHere, visitor_with
from discreet.service.visitor import Visitor

__all__ = ["router"]

router = APIRouter(tags=["metrics"])
_KIND = "text/plain; version=0.0.4; charset=utf-8"


@router.get(
    "/metrics",
    summary="Counts for Prometheus, none of which depends on rows",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
def metrics(request: Request, house: HouseHere, visitor: Annotated[Visitor, visitor_with(READERS)]) -> Response:
    """Requests, refusals, how long explaining took, questions by state, and budgets."""
    visitor.must_be(READERS)
    return Response(written(house, request.app.state.metrics), media_type=_KIND)
