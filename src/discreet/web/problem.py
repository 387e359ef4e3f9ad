"""What a refused request hears: one shape for every error (RFC 9457), and nothing of what was sent."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi.responses import JSONResponse

__all__ = ["problem"]


def problem(
    status: HTTPStatus,
    detail: str,
    headers: dict[str, str] | None = None,
    *,
    kind: str = "about:blank",
    more: Mapping[str, Any] | None = None,
) -> JSONResponse:
    """The answer to a request that was refused: ``detail`` says why, and what would work.

    ``kind`` is the problem's type, and ``more`` what programs may want to know about one of that type.
    """
    body = {"type": kind, "title": status.phrase, "status": status.value, "detail": detail, **(more or {})}
    return JSONResponse(body, status.value, headers, media_type="application/problem+json")
