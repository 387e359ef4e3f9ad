"""What a refused request hears: one shape for every error (RFC 9457), and nothing of what was sent.

The service writes what the client reads, so both look here: what an error says on one side it says on the other.

>>> heard = choose_fault(choose_problem(InvalidValue("epsilon must be positive", -1, "0.1 to 5 is usual")))
>>> type(heard).__name__, str(heard)
('InvalidValue', 'epsilon must be positive, got -1; 0.1 to 5 is usual')

Paths that nothing answers are such a problem too, although pages are served beside them; and whoever uses another
method hears all that a path takes, over all of its routes, with HEAD wherever there is GET.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Mount
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.errors import (
    BudgetExceeded,
    DiscreetError,
    EngineFailure,
    EngineUnavailable,
    InvalidInput,
    InvalidType,
    InvalidValue,
    LedgerError,
    NoProvedPath,
    NotAllowed,
    NotFound,
    NotSignedIn,
    OutOfReach,
    PolicyError,
    Problem,
    QueryRefused,
    RequestConflict,
    StoreError,
    Suspended,
    TooManyRequests,
    Unreachable,
)

__all__ = [
    "KIND",
    "KINDS",
    "MALFORMED",
    "Methods",
    "Unknown",
    "choose_fault",
    "choose_problem",
    "name_of",
    "problem",
]


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


_PREFIX = "urn:discreet:"
MALFORMED = _PREFIX + "malformed"
"""The type of a request that is not of the form that a route reads."""

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
    "invalid-value": (InvalidValue, HTTPStatus.UNPROCESSABLE_ENTITY),
    "invalid-type": (InvalidType, HTTPStatus.UNPROCESSABLE_ENTITY),
    "invalid-input": (InvalidInput, HTTPStatus.UNPROCESSABLE_ENTITY),
    "engine-failure": (EngineFailure, HTTPStatus.INTERNAL_SERVER_ERROR),
    "ledger-error": (LedgerError, HTTPStatus.SERVICE_UNAVAILABLE),
    "store-error": (StoreError, HTTPStatus.SERVICE_UNAVAILABLE),
    "engine-unavailable": (EngineUnavailable, HTTPStatus.SERVICE_UNAVAILABLE),
    "suspended": (Suspended, HTTPStatus.FORBIDDEN),
}
"""Per kind of problem, the error that it is in Python and its status; the first that fits is taken."""
_OF_THE_HOST = (LedgerError, StoreError, EngineFailure, EngineUnavailable)
"""Where files lie and what a disk says about them is for the owner's log."""


def choose_problem(fault: DiscreetError) -> dict[str, Any]:
    """What a problem says about a refusal: its kind and status, the rule, the value and the remedy, and where."""
    kind = _kind_of(fault)
    if kind is None:
        return {"type": "about:blank", "status": 500, "detail": "The service failed; nothing more was spent."}
    return {"type": _PREFIX + kind, "status": KINDS[kind][1].value, "detail": _detail(fault), **_more(fault)}


def name_of(fault: DiscreetError) -> str:
    """What the audit trail calls a refusal: its kind in one word, such as ``QueryRefused``."""
    return (_kind_of(fault) or "discreet-error").title().replace("-", "")


def _kind_of(fault: DiscreetError) -> str | None:
    return next((kind for kind, (error, _) in KINDS.items() if isinstance(fault, error)), None)


def _detail(fault: DiscreetError) -> str:
    return str(DiscreetError(fault.rule, None, fault.remedy)) if isinstance(fault, _OF_THE_HOST) else str(fault)


def _more(fault: DiscreetError) -> dict[str, Any]:
    if isinstance(fault, _OF_THE_HOST):
        return {}
    said: dict[str, Any] = {"rule": fault.rule, "remedy": fault.remedy}
    if fault.value is not None:
        said["value"] = str(DiscreetError("", fault.value)).removeprefix(", got ")
    if isinstance(fault, QueryRefused):
        said |= {"value": str(fault.value)} if fault.value is not None else {}  # all the words, to underline them
        said |= {"line": fault.line, "column": fault.column} if fault.line is not None else {}
    if isinstance(fault, PolicyError):
        said["problems"] = [{"text": str(one), "line": one.line, "column": one.column} for one in fault.problems]
    if isinstance(fault, TooManyRequests):
        said["after"] = math.ceil(fault.after)
    if isinstance(fault, Suspended):
        said["record"] = fault.record
    return said


def choose_fault(said: Mapping[str, Any]) -> DiscreetError:
    """The error that a problem tells of; one of a kind that is not known here is known by its status."""
    kind = said.get("type")
    known = KINDS.get(kind.removeprefix(_PREFIX)) if isinstance(kind, str) else None
    error = known[0] if known is not None else _by_status(said)
    rule, remedy = _text(said, "rule"), _text(said, "remedy")
    if not rule:
        rule, remedy = _text(said, "detail") or "a service must say why it refuses", ""
    return _make(error, rule, remedy, said)


def _by_status(said: Mapping[str, Any]) -> type[DiscreetError]:
    status = said.get("status")
    for error, usual in KINDS.values():
        if usual == status and usual not in (HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.INTERNAL_SERVER_ERROR):
            return error
    return InvalidValue if isinstance(status, int) and status < HTTPStatus.INTERNAL_SERVER_ERROR else Unreachable


def _make(error: type[DiscreetError], rule: str, remedy: str, said: Mapping[str, Any]) -> DiscreetError:
    if error is EngineFailure:
        return EngineFailure()
    if error is EngineUnavailable:
        return EngineUnavailable()
    value = _AsSaid(_text(said, "value")) if _text(said, "value") else None
    if error is QueryRefused:
        line, column = _place(said, "line"), _place(said, "column")
        return QueryRefused(rule, _text(said, "value")[1:-1], remedy, line=line, column=column)
    if error is PolicyError:
        return PolicyError(_problems(said) or [Problem(rule, value, remedy)])
    if error is TooManyRequests:
        return TooManyRequests(rule, value, remedy, after=_place(said, "after") or 1)
    if error is Suspended:
        return Suspended(rule, value, remedy, record=_place(said, "record") or 0)
    return error(rule, value, remedy)


def _problems(said: Mapping[str, Any]) -> list[Problem]:
    listed = said.get("problems")
    found = [_text(one, "text") for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    return [Problem(text) for text in found if text]


class _AsSaid(str):
    """A value in the words in which the other side showed it."""

    def __repr__(self) -> str:
        return str(self)


def _text(said: Mapping[str, Any], name: str) -> str:
    found = said.get(name)
    return found if isinstance(found, str) else ""


def _place(said: Mapping[str, Any], name: str) -> int | None:
    found = said.get(name)
    return found if isinstance(found, int) else None


_GET, _HEAD, _OPTIONS = "GET", "HEAD", "OPTIONS"
_TRIED = (_GET, "POST", "PUT", "PATCH", "DELETE")
_FILES = frozenset({_GET})
"""What is taken where an application below answers that has no list of methods: it gives out files."""


class Methods:
    """Around an application: answers HEAD as GET without the body, OPTIONS by itself, and completes ``Allow``."""

    def __init__(self, app: ASGIApp, routes: Sequence[BaseRoute]) -> None:
        """``routes`` are those of the application; what is added to them later counts, too."""
        self.app = app
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, as GET where it is HEAD."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        asked = scope["method"]
        if asked == _OPTIONS and (known := _methods(self._routes, scope)):
            await Response(None, HTTPStatus.NO_CONTENT, {"Allow": _list(known)})(scope, receive, send)
            return

        async def completed(message: Message) -> None:
            scope["method"] = asked  # for whoever looks at the request from outside
            if message["type"] == "http.response.start" and message["status"] == HTTPStatus.METHOD_NOT_ALLOWED:
                MutableHeaders(scope=message)["Allow"] = _list(_methods(self._routes, scope) or _FILES)
            if asked == _HEAD and message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        scope["method"] = _GET if asked == _HEAD else asked
        try:
            await self.app(scope, receive, completed)
        finally:
            scope["method"] = asked


def _list(methods: Iterable[str]) -> str:
    return ", ".join(sorted({*methods, _OPTIONS, *((_HEAD,) if _GET in methods else ())}))


def _methods(routes: Iterable[BaseRoute], scope: Scope) -> set[str]:
    """All methods that a path takes."""
    found: set[str] = set()
    for route in routes:
        if isinstance(route, Mount):
            match, below = route.matches(scope)
            found |= set() if match is Match.NONE else _methods(route.routes, {**scope, **below})
        elif not isinstance(route, Unknown):
            found |= {one for one in _TRIED if route.matches({**scope, "method": one})[0] is Match.FULL}
    return found


class Unknown(BaseRoute):
    """The last of the routes under some paths: another method than theirs is 405, and anything else is 404."""

    def __init__(self, prefixes: tuple[str, ...], routes: Iterable[BaseRoute], remedy: str) -> None:
        """Under ``prefixes``, where ``routes`` had no answer; ``remedy`` says where to look."""
        self._prefixes = prefixes
        self._routes = tuple(routes)
        self._remedy = remedy

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Everything under the prefixes."""
        is_ours = scope["type"] == "http" and f"{scope['path']}/".startswith(self._prefixes)
        return (Match.FULL, {}) if is_ours else (Match.NONE, {})

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the method where the path has others, or say that there is nothing."""
        known = _methods(self._routes, scope)
        if known:
            raise HTTPException(HTTPStatus.METHOD_NOT_ALLOWED, f"This path takes {_list(known)} alone.")
        raise HTTPException(HTTPStatus.NOT_FOUND, f"There is nothing at this path; {self._remedy}.")
