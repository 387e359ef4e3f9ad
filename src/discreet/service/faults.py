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

__all__ = ["KINDS", "as_problem", "handle_faults", "problem_of"]


def as_problem(said: dict[str, Any]) -> Response:
    """The response that says it."""
    status = HTTPStatus(said["status"])
    headers = {"WWW-Authenticate": "Bearer"} if status is HTTPStatus.UNAUTHORIZED else {}
    more = {name: value for name, value in said.items() if name not in ("type", "status", "detail")}
    return problem(status, said["detail"], headers, kind=said["type"], more=more)


def handle_faults(app: FastAPI) -> None:
    """Answer every error of every route in the one shape."""
    app.add_exception_handler(DiscreetError, _refused)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(ClientDisconnect, _cut_off)
    app.add_exception_handler(Exception, _failed)


async def _refused(_: Request, fault: Exception) -> Response:
    assert isinstance(fault, DiscreetError)  # noqa: S101  that is what it handles
    return as_problem(problem_of(fault))


async def _malformed(_: Request, fault: Exception) -> Response:
    assert isinstance(fault, RequestValidationError)  # noqa: S101
    found = [{"where": "/".join(map(str, one["loc"])), "text": one["msg"]} for one in fault.errors()]
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
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "The service failed; nothing more was spent.")
