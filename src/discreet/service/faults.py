"""Refusals as problems: each kind of error has one status and one type, on every route."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from discreet.errors import DiscreetError
from discreet.web.kinds import KINDS, MALFORMED, problem_of
from discreet.web.problem import problem

__all__ = ["FAILED", "KINDS", "as_problem", "handle_faults", "problem_of"]

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
    app.add_exception_handler(DiscreetError, _refused)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(ClientDisconnect, _cut_off)
    app.add_exception_handler(Exception, _failed)


async def _refused(request: Request, fault: Exception) -> Response:
    assert isinstance(fault, DiscreetError)  # noqa: S101  that is what it handles
    said = problem_of(fault)
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
