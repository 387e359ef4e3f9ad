"""Every request is given an id, logged by its route and counted; what it carried is not looked at."""

from __future__ import annotations

import asyncio
import time
from http import HTTPMethod, HTTPStatus
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.noise.source import fresh_id
from discreet.service.faults import FAILED
from discreet.service.logs import log_event, log_failure
from discreet.service.metrics import Metrics
from discreet.web.problem import problem

__all__ = ["REQUEST_ID", "Watching", "template_of"]

REQUEST_ID = "X-Request-ID"
"""The header that tells a visitor the id of their request in the log."""
_API = "/api/v1"
_ENDING = "The service ends; send the request again in a moment, a question with the same request id."
_LATER = {"Retry-After": "5"}
_METHODS = frozenset(HTTPMethod)


class Watching:
    """Logs and counts what an application answers."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        """Around an application."""
        self.app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and remember how it ended."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request, status, began = fresh_id(), 0, time.perf_counter()
        scope.setdefault("state", {})

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[REQUEST_ID] = request
            await send(message)

        try:
            await self.app(scope, receive, send_with_id)
        except asyncio.CancelledError:  # the time that requests have at the end of the service is over
            if status == 0:
                await problem(HTTPStatus.SERVICE_UNAVAILABLE, _ENDING, _LATER)(scope, receive, send_with_id)
            raise
        except Exception as fault:
            log_failure(fault, request)  # and not raised again, which would end the connection under the next request
            if status == 0:
                await problem(HTTPStatus.INTERNAL_SERVER_ERROR, FAILED)(scope, receive, send_with_id)
        finally:
            self._ended(scope, request, status, time.perf_counter() - began)

    def _ended(self, scope: Scope, request: str, status: int, seconds: float) -> None:
        state: dict[str, Any] = scope["state"]
        method = scope["method"] if scope["method"] in _METHODS else "other"
        route, kind = template_of(scope), state.get("problem")
        log_event(
            "request",
            request=request,
            method=method,
            route=route,
            status=status,
            member=state.get("member"),
            problem=kind,
        )
        self._metrics.count(method, route, status, kind, seconds)


def template_of(scope: Scope) -> str:
    """The route that took a request, as it is written in the code: with names in place of what was sent."""
    found = getattr(scope.get("route"), "path", None)
    if not found:
        return "unknown"
    is_included = scope["path"].startswith(f"{_API}/") and not found.startswith("/api/")
    return f"{_API}{found}" if is_included else str(found)
