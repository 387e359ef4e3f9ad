"""What a refused request hears: one shape for every error (RFC 9457), and nothing of what was sent."""

from __future__ import annotations

from http import HTTPStatus

from fastapi.responses import JSONResponse

__all__ = ["problem"]


def problem(status: HTTPStatus, detail: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """The answer to a request that was refused: ``detail`` says why, and what would work."""
    body = {"type": "about:blank", "title": status.phrase, "status": status.value, "detail": detail}
    return JSONResponse(body, status.value, headers, media_type="application/problem+json")
