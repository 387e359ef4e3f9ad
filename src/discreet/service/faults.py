"""Refusals as problems: each kind of error has one status and one type, on every route."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from discreet.errors import (
    BudgetExceeded,
    DiscreetError,
    EngineFailure,
    InvalidInput,
    LedgerError,
    NoProvedPath,
    NotAllowed,
    NotFound,
    NotSignedIn,
    OutOfReach,
    PolicyError,
    QueryRefused,
    RequestConflict,
    StoreError,
    TooManyRequests,
)
from discreet.web.problem import problem

__all__ = ["KINDS", "as_problem", "handle_faults", "problem_of"]

_PREFIX = "urn:discreet:"

KINDS: dict[str, tuple[type[DiscreetError], HTTPStatus]] = {
    "not-signed-in": (NotSignedIn, HTTPStatus.UNAUTHORIZED),
    "not-allowed": (NotAllowed, HTTPStatus.FORBIDDEN),
    "not-found": (NotFound, HTTPStatus.NOT_FOUND),
    "too-many-requests": (TooManyRequests, HTTPStatus.TOO_MANY_REQUESTS),
    "budget-exceeded": (BudgetExceeded, HTTPStatus.PAYMENT_REQUIRED),
    "request-conflict": (RequestConflict, HTTPStatus.CONFLICT),
    "query-refused": (QueryRefused, HTTPStatus.UNPROCESSABLE_ENTITY),
    "no-proved-path": (NoProvedPath, HTTPStatus.UNPROCESSABLE_ENTITY),
    "out-of-reach": (OutOfReach, HTTPStatus.UNPROCESSABLE_ENTITY),
    "policy-error": (PolicyError, HTTPStatus.UNPROCESSABLE_ENTITY),
    "invalid-input": (InvalidInput, HTTPStatus.UNPROCESSABLE_ENTITY),
    "engine-failure": (EngineFailure, HTTPStatus.INTERNAL_SERVER_ERROR),
    "ledger-error": (LedgerError, HTTPStatus.SERVICE_UNAVAILABLE),
    "store-error": (StoreError, HTTPStatus.SERVICE_UNAVAILABLE),
}
"""Per kind of problem, the error that it is in Python and its status; the first that fits is taken."""


def problem_of(fault: DiscreetError) -> dict[str, Any]:
    """What a problem says about a refusal: its kind and status, the rule, the value and the remedy, and where."""
    for kind, (error, status) in KINDS.items():
        if isinstance(fault, error):
            return {"type": _PREFIX + kind, "status": status.value, "detail": str(fault), **_more(fault)}
    return {"type": "about:blank", "status": 500, "detail": "The service failed; nothing more was spent."}


def _more(fault: DiscreetError) -> dict[str, Any]:
    if isinstance(fault, (LedgerError, StoreError, EngineFailure)):
        return {}  # where files lie and what a disk says is for the owner's log
    said: dict[str, Any] = {"rule": fault.rule, "remedy": fault.remedy}
    if fault.value is not None:
        said["value"] = str(DiscreetError("", fault.value)).removeprefix(", got ")
    if isinstance(fault, QueryRefused) and fault.line is not None:
        said |= {"line": fault.line, "column": fault.column}
    if isinstance(fault, PolicyError):
        said["problems"] = [{"text": str(one), "line": one.line, "column": one.column} for one in fault.problems]
    return said


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
    return problem(
        status, f"The request is not of the form that this route reads: {words}", kind=_PREFIX + "malformed", more=more
    )


async def _http(_: Request, fault: Exception) -> Response:
    assert isinstance(fault, HTTPException)  # noqa: S101
    return problem(HTTPStatus(fault.status_code), str(fault.detail), dict(fault.headers or {}))


async def _cut_off(_: Request, __: Exception) -> Response:
    return problem(HTTPStatus.BAD_REQUEST, "The request was cut off; send it again with the same request id.")


async def _failed(_: Request, __: Exception) -> Response:
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "The service failed; nothing more was spent.")
