"""Refusals as problems: each kind of error has one status and one type, on every route.

Besides, every request is given an id, logged by its route and counted; what it carried is not looked at.
"""

from __future__ import annotations

import asyncio
import time
from http import HTTPMethod, HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.errors import DiscreetError
from discreet.http.problems import KINDS, MALFORMED, choose_problem, problem
from discreet.noise.source import fresh_id
from discreet.service.logs import log_event, log_failure
from discreet.service.monitoring import Metrics

__all__ = ["FAILED", "KINDS", "REQUEST_ID", "Watching", "as_problem", "choose_problem", "handle_faults", "template_of"]


FAILED = "The service failed; nothing more was spent."
"""What is said about a failure that nobody foresaw."""
_MOST_LISTED = 20
_MOST_CHARACTERS = 200


def as_problem(said: dict[str, Any]) -> Response:
    """The response that says it."""
    status = HTTPStatus(said["status"])
    headers = {"WWW-Authenticate": "Bearer"} if status is HTTPStatus.UNAUTHORIZED else {}
    headers |= {"Retry-After": str(said["after"])} if "after" in said else {}
    more = {name: value for name, value in said.items() if name not in ("type", "status", "detail")}
    return problem(status, said["detail"], headers, kind=said["type"], more=more)


def handle_faults(app: FastAPI) -> None:
    """Answer every error of every route in the one shape."""
    app.add_exception_handler(DiscreetError, _refuse)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(ClientDisconnect, _cut_off)
    app.add_exception_handler(Exception, _failed)


async def _refuse(request: Request, fault: Exception) -> Response:
    assert isinstance(fault, DiscreetError)  # noqa: S101  that is what it handles
    said = choose_problem(fault)
    request.state.problem = said["type"].rpartition(":")[2]  # for those who count
    return as_problem(said)


async def _malformed(request: Request, fault: Exception) -> Response:
    assert isinstance(fault, RequestValidationError)  # noqa: S101
    request.state.problem = MALFORMED.rpartition(":")[2]
    listed = fault.errors()[:_MOST_LISTED]
    found = [{"where": "/".join(map(str, one["loc"]))[:_MOST_CHARACTERS], "text": one["msg"]} for one in listed]
    words = "; ".join(f"{one['where']}: {one['text']}" for one in found)
    more = {"problems": found}
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    return problem(status, f"The request is not of the form that this route reads: {words}", kind=MALFORMED, more=more)


async def _http(_: Request, fault: Exception) -> Response:
    assert isinstance(fault, HTTPException)  # noqa: S101
    return problem(HTTPStatus(fault.status_code), str(fault.detail), dict(fault.headers or {}))


async def _cut_off(_: Request, __: Exception) -> Response:
    return problem(HTTPStatus.BAD_REQUEST, "The request was cut off; send it again with the same request id.")


async def _failed(_: Request, __: Exception) -> Response:
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, FAILED)


REQUEST_ID = "X-Request-ID"
"""The header that tells a principal the id of their request in the log."""
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
