"""The description of the API: for programs, and as a page for people."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from discreet.reports.html import STYLE
from discreet.service.openapi import MORE_STYLE, render_api_page

__all__ = ["router"]


router = APIRouter(include_in_schema=False)


@router.get("/openapi.json")
def description(request: Request) -> JSONResponse:
    """The description for programs."""
    return JSONResponse(request.app.openapi())


@router.get("/docs")
def page(request: Request) -> HTMLResponse:
    """Every route, what it takes and what it answers."""
    return HTMLResponse(render_api_page(request.app.openapi(), f"{request.url.path}/style.css"))


@router.get("/docs/style.css")
def style() -> Response:
    """The style sheet of the page."""
    return Response(STYLE + MORE_STYLE, media_type="text/css")
