"""The console on an application: sign-in, sign-out, and a page for every room."""

from __future__ import annotations

from typing import Annotated

from fastapi import FastAPI, Form, Request
from fastapi.responses import RedirectResponse, Response
from nicegui import ui

from discreet.console.frame import framed
from discreet.console.look import apply_look
from discreet.console.room import ROOMS, Room
from discreet.console.sessions import COOKIE, Sessions
from discreet.console.visit import Visit
from discreet.errors import NotSignedIn
from discreet.service.house import House

__all__ = ["add_console"]


def add_console(app: FastAPI, house: House) -> None:
    """Add the pages of the console to the application of a house."""
    sessions = Sessions(house)
    _signing(app, house, sessions)
    for room in ROOMS:
        _page(room, house, sessions)
    ui.run_with(app, title="Discreet", favicon="🎭", show_welcome_message=False)


def _signing(app: FastAPI, house: House, sessions: Sessions) -> None:
    @ui.page("/sign-in", title="Discreet: sign in")
    def sign_in(failed: str = "") -> None:
        apply_look()
        with ui.card().classes("mx-auto mt-16 w-96 max-w-full"):
            ui.label("Discreet").classes("text-h5")
            with ui.element("form").props('method="post" action="/sign-in"').classes("w-full"):
                ui.html('<label>Token<input name="token" type="password" autofocus required></label>', sanitize=False)
                ui.button("Sign in").props('type="submit"')
            if failed:
                ui.label("This token is not valid.").props('role="alert"')

    @app.post("/sign-in", include_in_schema=False)
    def signed_in(token: Annotated[str, Form()]) -> Response:
        try:
            session = sessions.start(token.strip())
        except NotSignedIn:
            return RedirectResponse("/sign-in?failed=1", 303)
        answer = RedirectResponse("/", 303)
        secure = house.settings.certificate_file is not None
        answer.set_cookie(COOKIE, session, httponly=True, samesite="strict", secure=secure)
        return answer

    @app.post("/sign-out", include_in_schema=False)
    def signed_out(request: Request) -> Response:
        sessions.end(request.cookies.get(COOKIE))
        answer = RedirectResponse("/sign-in", 303)
        answer.delete_cookie(COOKIE)
        return answer


def _page(room: Room, house: House, sessions: Sessions) -> None:
    async def page(request: Request) -> Response | None:
        visitor = sessions.visitor(request.cookies.get(COOKIE))
        if visitor is None:
            return RedirectResponse("/sign-in")
        if visitor.role not in room.roles:
            return RedirectResponse(next(one.path for one in ROOMS if visitor.role in one.roles))
        await framed(room, Visit(house, visitor))
        return None

    ui.page(room.path, title=f"Discreet: {room.title}")(page)
