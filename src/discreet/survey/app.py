"""The web application of a survey: a page to answer on, a place for reports, and a page of results for the owner.

A browser sends an invitation and a report for each question; anything else is refused before it is stored. The server
is one process, with no log of who asked, and a clean end.
"""

from __future__ import annotations

import json
import signal
import socket
import warnings
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, HTTPException, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException as AnyHTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp

from discreet.errors import DiscreetError, InvalidInput, InvalidType, InvalidValue, StoreError
from discreet.http.bodies import body_within
from discreet.http.guard import GUARDED
from discreet.http.one_process import QUIET, end_by_signals, format_address, listening
from discreet.http.problems import Methods, problem
from discreet.http.security import SecurityHeaders
from discreet.reports.html import STYLE, blocks_html
from discreet.survey.results import ResultRequest, results_of
from discreet.survey.store import Outcome, Records, SurveyStore, is_token
from discreet.survey.survey import Survey
from discreet.time_limits import SURVEY_END

__all__ = ["Submission", "application", "serve"]


_NAMES = {"survey", "invitation", "reports"}


@dataclass(frozen=True)
class Submission:
    """A submission that was understood."""

    invitation: str
    """The token it came with."""
    record: bytes
    """The reports."""

    @classmethod
    def read(cls, body: bytes, records: Records) -> Submission:
        """The submission in ``body``; nothing of a refused one is repeated in the message."""
        found = _object(body)
        if found["survey"] != records.survey.fingerprint:
            rule = f"the reports must be for the survey {records.survey.fingerprint}"
            raise InvalidValue(rule, "<another one>", "load the page again")
        if not is_token(found["invitation"]):
            raise InvalidValue("an invitation has 32 hexadecimal digits", "<others>", "use the whole link")
        return cls(found["invitation"], records.written(found["reports"]))


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidValue("a submission must be JSON", "<another text>", "if it was cut off, send it again") from None
    if not isinstance(found, dict) or set(found) != _NAMES:
        raise InvalidType(f"a submission must have {', '.join(sorted(_NAMES))} and nothing else", "<others>")
    return found


_PAGE = Path(__file__).with_name("page")
_PAGES = {"/": "answer.html", "/results": "results.html"}
_KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_OTHER_BYTES = 16_384
"""Bytes of a submission beside its reports and the names of its questions."""

Handler = Callable[[Request], Awaitable[Response]]


def application(store: SurveyStore) -> ASGIApp:
    """The application that serves the survey in ``store``."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    files = {f"/{file.name}": file.name for file in _PAGE.iterdir() if file.suffix in (".js", ".css")}
    for path, name in (_PAGES | files).items():
        app.get(path)(_file(name))
    app.get("/survey.json")(_definition(store.survey))
    app.get("/favicon.ico")(_no_picture)
    app.get("/invitation")(_invitation(store))
    app.post("/reports")(_reports(store))
    app.get("/figures")(_figures(store))
    app.add_exception_handler(AnyHTTPException, _refuse)
    app.add_exception_handler(DiscreetError, _refused_by_us)
    app.add_exception_handler(ClientDisconnect, _cut_off)
    app.add_exception_handler(Exception, _failed)
    return SecurityHeaders(Methods(app, app.routes))


# What everybody may read ------------------------------------------------------------------------------------------


def _file(name: str) -> Handler:
    kind, content = _KINDS[Path(name).suffix], (_PAGE / name).read_text(encoding="utf-8")
    if kind == "text/css":
        content = STYLE + content

    async def answer(_: Request) -> Response:
        return Response(content, media_type=kind)

    return answer


def _definition(survey: Survey) -> Handler:
    head, tail = survey.to_json()[:-1], f',"fingerprint":"{survey.fingerprint}","epsilon":{float(survey.epsilon)}}}'

    async def answer(_: Request) -> Response:
        return Response(head + tail, media_type="application/json")

    return answer


async def _no_picture(_: Request) -> Response:
    return Response(status_code=HTTPStatus.NO_CONTENT)


# What comes from those who were invited ----------------------------------------------------------------------------


def _invitation(store: SurveyStore) -> Handler:
    """Whether a link was used, so that the page does not send a second report, which would say more."""

    async def answer(request: Request) -> Response:
        token = _bearer(request)
        used = is_token(token) and await run_in_threadpool(store.is_used, token)
        return Response(f'{{"used":{"true" if used else "false"}}}', media_type="application/json")

    return answer


def _bearer(request: Request) -> str:
    """The token in the header, empty where there is none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _reports(store: SurveyStore) -> Handler:
    records = Records(store.survey)
    names = sum(len(question.name.encode()) for question in store.survey.questions)
    most = _OTHER_BYTES + 4 * records.size + names

    async def answer(request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            raise HTTPException(415, "a submission must be application/json")
        found = Submission.read(await body_within(request, most), records)
        return _respond(await run_in_threadpool(store.take, found.invitation, found.record))

    return answer


def _respond(outcome: Outcome) -> Response:
    if outcome is Outcome.UNINVITED:
        return problem(HTTPStatus.FORBIDDEN, "There is no such invitation; use the whole link that you were given.")
    if outcome is Outcome.ANOTHER:
        words = "This invitation was used before, with other reports. They stay, and nothing was added."
        return problem(HTTPStatus.CONFLICT, words)
    status = HTTPStatus.CREATED if outcome is Outcome.STORED else HTTPStatus.OK
    return Response(f'{{"outcome":"{outcome.value}"}}', status, media_type="application/json")


# What the owner may read ------------------------------------------------------------------------------------------


def _figures(store: SurveyStore) -> Handler:
    async def answer(request: Request) -> Response:
        if not store.is_owner(_bearer(request)):
            words = "Results are for the holder of the owner's link."
            return problem(HTTPStatus.UNAUTHORIZED, words, {"WWW-Authenticate": "Bearer"})
        asked = request.query_params
        together = _yes_or_no(asked.get("together", "no"))
        ask_request = ResultRequest.of(
            asked.get("confidence", "0.95"), together=together, within=asked.get("within", "0.05")
        )
        found = await run_in_threadpool(results_of, store, ask_request)
        return Response(blocks_html(found.document().blocks), media_type="text/html")

    return answer


def _yes_or_no(said: str) -> bool:
    if said not in ("yes", "no"):
        raise InvalidValue("together must be yes or no", "<another>")
    return said == "yes"


# What went wrong --------------------------------------------------------------------------------------------------


async def _refuse(_: Request, fault: Exception) -> Response:
    status = fault.status_code if isinstance(fault, AnyHTTPException) else 400
    headers = dict(fault.headers or {}) if isinstance(fault, AnyHTTPException) else {}
    detail = str(fault.detail) if isinstance(fault, HTTPException) else HTTPStatus(status).description
    return problem(HTTPStatus(status), detail, headers)


async def _refused_by_us(_: Request, fault: Exception) -> Response:
    if isinstance(fault, InvalidInput):
        return problem(HTTPStatus.UNPROCESSABLE_ENTITY, str(fault))
    return problem(HTTPStatus.SERVICE_UNAVAILABLE, "The survey cannot be stored at the moment; try again later.")


async def _cut_off(_: Request, __: Exception) -> Response:
    return problem(HTTPStatus.BAD_REQUEST, "The request was cut off; nothing was stored.")


async def _failed(_: Request, __: Exception) -> Response:
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "The server failed; what was stored before is as it was.")


class _Server(uvicorn.Server):
    """Leaves no order of arrival behind; uvicorn raises the signal that came again, so nothing runs later."""

    def __init__(self, config: uvicorn.Config, store: SurveyStore) -> None:
        super().__init__(config)
        self._store = store

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        with suppress(StoreError):  # another program may be at work on the file, and the next end tries again
            self._store.forget_order()


def serve(store: SurveyStore, host: str, port: int, ready: Callable[[str], object]) -> None:
    """Serve until a signal comes; requests under way are finished first. ``ready`` hears the address."""
    with end_by_signals(signal.SIGTERM), listening(host, port) as listener:
        ready(format_address(listener))
        # Who stops it before it has begun is told so, and nothing of coroutines.
        warnings.filterwarnings("ignore", "coroutine 'Server.serve' was never awaited", RuntimeWarning)
        _server(store).run(sockets=[listener])


def _server(store: SurveyStore) -> _Server:
    """Without a log of requests and without a header that names the software; addresses are in neither."""
    config = uvicorn.Config(
        application(store),
        log_level="warning",
        lifespan="off",
        proxy_headers=False,
        timeout_graceful_shutdown=SURVEY_END,
        **QUIET,
        **GUARDED,
    )
    return _Server(config, store)
