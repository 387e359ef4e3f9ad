"""What a refused request hears: one shape for every error (RFC 9457), and nothing of what was sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

__all__ = ["KIND", "problem"]

KIND = "application/problem+json"
"""The media type of a problem."""


def problem(
    status: HTTPStatus,
    detail: str,
    headers: dict[str, str] | None = None,
    *,
    kind: str = "about:blank",
    more: Mapping[str, Any] | None = None,
) -> Response:
    """The answer to a request that was refused: ``detail`` says why, and what would work.

    ``kind`` is the problem's type, and ``more`` what programs may want to know about one of that type.
    """
    body = {"type": kind, "title": status.phrase, "status": status.value, "detail": detail, **(more or {})}
    return Response(json.dumps(body), status.value, headers, KIND)  # ASCII alone, whatever the words hold
