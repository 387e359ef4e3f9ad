"""The console on an application: sign-in, sign-out, and a page for every room."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse, Response
from nicegui import Client, ui
from nicegui import app as pages

from discreet.console.door import Door
from discreet.console.error_pages import replace_error_pages, too_many
from discreet.console.frame import framed
from discreet.console.look import shown_once
from discreet.console.room import ROOMS, Room
from discreet.console.sessions import COOKIE, Sessions
from discreet.console.signing import signing, to_sign_in
from discreet.console.visit import Visit
from discreet.errors import TooManyRequests
from discreet.service.house import House

__all__ = ["add_console"]

_PATIENCE = 30.0
"""Seconds for which a page waits for a browser that lost its connection."""


def add_console(app: FastAPI, house: House) -> None:
    """Add the pages of the console to the application of a house."""
    sessions = Sessions(house)
    app.include_router(signing(house, sessions))
    for room in ROOMS:
        _draw_on(room, house, sessions)
    replace_error_pages(pages)
    pages.config.socket_io_js_transports = ["websocket"]  # what the door can check word by word
    app.add_middleware(Door, sessions=sessions, refusal=partial(_refusal, house, sessions))
    ui.run_with(
        app,
        title="Discreet",
        favicon="🎭",
        dark=None,
        language="en-US",
        reconnect_timeout=_PATIENCE,
        show_welcome_message=False,
    )


async def _hand_over(token: str, done: Callable[[], None]) -> None:
    text = "The one-time token is used up. Sign in with this one from now on: it is shown now and never again."
    if await shown_once("Your token", token, text):
        done()


def _refusal(house: House, sessions: Sessions, request: Request) -> Response | None:
    """What somebody is told who may not have the page that they ask for, or not yet."""
    room = next(one for one in ROOMS if one.path == request.url.path)
    session = request.cookies.get(COOKIE)
    visitor = sessions.visitor(session)
    if visitor is None:
        return to_sign_in("ended" if session else "", room.path)
    if visitor.role not in room.roles:
        return RedirectResponse(next(one.path for one in ROOMS if visitor.role in one.roles))
    request.state.member = visitor.name  # for the log
    try:
        house.limits.request(visitor)
    except TooManyRequests:
        return too_many()
    return None


def _draw_on(room: Room, house: House, sessions: Sessions) -> None:
    async def page(request: Request) -> Response | None:
        session = request.cookies.get(COOKIE)
        visitor = sessions.visitor(session)
        if visitor is None:  # it ended a moment ago
            return to_sign_in("ended", room.path)
        client = ui.context.client
        for other in sessions.draw(session, client.id, _listens):
            _remove(other)
        client.on_delete(lambda: sessions.drop(session, client.id))
        await framed(room, Visit(house, visitor))
        unseen = sessions.unseen(session)
        if unseen is not None:
            ui.timer(0, lambda: _hand_over(unseen, partial(sessions.seen, session)), once=True)
        return None

    ui.page(room.path, title=f"{room.title} · Discreet")(page)


def _listens(page: str) -> bool:
    """Whether a browser listens to a page."""
    found = Client.instances.get(page)
    return found is not None and found.has_socket_connection


def _remove(page: str) -> None:
    """Take a page away; a browser that still shows it loads it again when it is used."""
    found = Client.instances.get(page)
    if found is not None and not found.is_deleted:
        found.delete()
