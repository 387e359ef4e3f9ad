"""The console on an application: sign-in, sign-out, and and its pages.

Pages that are not there, or failed, say so and nothing of why: NiceGUI's own show the words of the error, which can
hold anything.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from nicegui import App, Client, ui
from nicegui import app as pages

from discreet.console.layout import PAGES, ConsolePage, PageVisit, framed
from discreet.console.session import COOKIE, Sessions
from discreet.console.sign_in import signing, to_sign_in
from discreet.console.theme import shown_once, stylesheet
from discreet.console.websocket_guard import WebSocketGuard
from discreet.errors import TooManyRequests
from discreet.http.problems import problem
from discreet.service.state import ServiceState
from discreet.time_limits import PAGE_RECONNECT

__all__ = ["add_console", "replace_error_pages", "too_many"]


_FRAME = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    "<title>{title} · Discreet</title><style>{style}{more}</style></head>"
    '<body class="d-system"><main><h1>{title}</h1><p>{words}</p><p><a href="/">To the first page</a></p></main></body>'
    "</html>\n"
)
_MORE = (
    "body{font-family:Roboto,system-ui,sans-serif;line-height:1.5}"
    "main{max-width:32rem;margin:20vh auto;padding:0 1.5rem}"
)


def replace_error_pages(pages: App) -> None:
    """Let NiceGUI's application answer with pages of our own where there is none, or one failed."""
    pages.add_exception_handler(HTTPStatus.NOT_FOUND, _missing)
    pages.add_exception_handler(HTTPStatus.METHOD_NOT_ALLOWED, _wrong_way)
    pages.add_exception_handler(Exception, _failed)


async def _missing(_: Request, __: Exception) -> Response:
    return _page(HTTPStatus.NOT_FOUND, "There is no such page", "The link may be old, or a letter of it is missing.")


async def _wrong_way(request: Request, _: Exception) -> Response:
    return problem(HTTPStatus.METHOD_NOT_ALLOWED, f"A page must be asked for with GET, got {request.method}.")


async def _failed(_: Request, __: Exception) -> Response:
    words = "Nothing more was spent than the ledger says. Try again; if it fails again, tell the owner."
    return _page(HTTPStatus.INTERNAL_SERVER_ERROR, "This page failed", words)


def too_many() -> Response:
    """To somebody who loads more pages than one can look at."""
    words = "You asked for more pages than one person may have in a minute. Wait a little, then load it again."
    return _page(HTTPStatus.TOO_MANY_REQUESTS, "Too many requests", words)


def _page(status: HTTPStatus, title: str, words: str) -> Response:
    filled = {"title": escape(title), "words": escape(words), "style": stylesheet(), "more": _MORE}
    return HTMLResponse(_FRAME.format(**filled), status)


def add_console(app: FastAPI, service: ServiceState) -> None:
    """Add the pages of the console to the application of a service."""
    sessions = Sessions(service)
    app.include_router(signing(service, sessions))
    for one in PAGES:
        _draw_on(one, service, sessions)
    replace_error_pages(pages)
    pages.config.socket_io_js_transports = ["websocket"]  # what the guard can check word by word
    app.add_middleware(WebSocketGuard, sessions=sessions, refusal=partial(_refusal, service, sessions))
    ui.run_with(
        app,
        title="Discreet",
        favicon="🎭",
        dark=None,
        language="en-US",
        reconnect_timeout=PAGE_RECONNECT,
        show_welcome_message=False,
    )


async def _hand_over(token: str, done: Callable[[], None]) -> None:
    text = "The one-time token is used up. Sign in with this one from now on: it is shown now and never again."
    if await shown_once("Your token", token, text):
        done()


def _refusal(service: ServiceState, sessions: Sessions, request: Request) -> Response | None:
    """What somebody is told who may not have the page that they ask for, or not yet."""
    wanted = next(one for one in PAGES if one.path == request.url.path)
    session = request.cookies.get(COOKIE)
    principal = sessions.principal(session)
    if principal is None:
        return to_sign_in("ended" if session else "", wanted.path)
    if principal.role not in wanted.roles:
        return RedirectResponse(next(one.path for one in PAGES if principal.role in one.roles))
    request.state.member = principal.name  # for the log
    try:
        service.limits.request(principal)
    except TooManyRequests:
        return too_many()
    return None


def _draw_on(shown: ConsolePage, service: ServiceState, sessions: Sessions) -> None:
    async def page(request: Request) -> Response | None:
        session = request.cookies.get(COOKIE)
        principal = sessions.principal(session)
        if principal is None:  # it ended a moment ago
            return to_sign_in("ended", shown.path)
        client = ui.context.client
        for other in sessions.draw(session, client.id, _listens):
            _remove(other)
        client.on_delete(lambda: sessions.drop(session, client.id))
        await framed(shown, PageVisit(service, principal))
        unseen = sessions.unseen(session)
        if unseen is not None:
            ui.timer(0, lambda: _hand_over(unseen, partial(sessions.seen, session)), once=True)
        return None

    ui.page(shown.path, title=f"{shown.title} · Discreet")(page)


def _listens(page: str) -> bool:
    """Whether a browser listens to a page."""
    found = Client.instances.get(page)
    return found is not None and found.has_socket_connection


def _remove(page: str) -> None:
    """Take a page away; a browser that still shows it loads it again when it is used."""
    found = Client.instances.get(page)
    if found is not None and not found.is_deleted:
        found.delete()
