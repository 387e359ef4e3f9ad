"""Signing in and out at the console: a plain page that needs no script, and a cookie that no script can read."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from discreet.console.layout import PAGES
from discreet.console.session import COOKIE, Sessions
from discreet.console.theme import LOOK_COOKIE, stylesheet
from discreet.console.websocket_guard import is_same_site
from discreet.errors import DiscreetError, NotAllowed, NotSignedIn, StoreError, TooManyRequests
from discreet.service.auth.bearer import read_address
from discreet.service.state import ServiceState

__all__ = ["signing", "to_sign_in"]


_PAGE = (Path(__file__).parent / "sign_in.html").read_text("utf-8")
_WHY = {
    "wrong": ("error", "This token is not valid. It may have expired or been taken back: ask the owner for a new one."),
    "busy": ("error", "Too many attempts. Wait a minute, then try again."),
    "failed": ("error", "The service cannot write down that you signed in. Try again in a minute, or tell the owner."),
    "elsewhere": ("error", "This did not come from the sign-in page. Sign in here."),
    "feeder": ("error", "This token is for a program that appends rows. The console has no page for it."),
    "ended": ("info", "Your session has ended. Sign in again; what you had typed is kept in this tab."),
    "out": ("good", "You are signed out."),
}
_REFUSED: dict[type[DiscreetError], str] = {
    NotSignedIn: "wrong",
    TooManyRequests: "busy",
    StoreError: "failed",
    NotAllowed: "feeder",
}


def to_sign_in(why: str = "", then: str = "/") -> RedirectResponse:
    """Lead a browser to the sign-in page, which says why, and after it back to where it was."""
    asked = {name: value for name, value in (("why", why), ("then", then)) if value not in ("", "/")}
    return RedirectResponse("/sign-in" + (f"?{urlencode(asked)}" if asked else ""), 303)


def signing(service: ServiceState, sessions: Sessions) -> APIRouter:
    """The routes of signing in and out."""
    router = APIRouter(include_in_schema=False)

    @router.get("/sign-in")
    def sign_in(request: Request, why: str = "", then: str = "/") -> Response:
        return HTMLResponse(_page(why, then, request.cookies.get(LOOK_COOKIE, "")))

    @router.post("/sign-in")
    def signed_in(request: Request, token: Annotated[str, Form()] = "", then: Annotated[str, Form()] = "/") -> Response:
        if not is_same_site(request.headers):
            return to_sign_in("elsewhere")
        try:
            session = sessions.start(token.strip(), read_address(request))
        except tuple(_REFUSED) as refusal:
            return to_sign_in(next(why for kind, why in _REFUSED.items() if isinstance(refusal, kind)), then)
        sessions.end(request.cookies.get(COOKIE))  # whoever was here before is not any more, in any tab
        answer = RedirectResponse(then if _is_page(then) else "/", 303)
        answer.set_cookie(COOKIE, session, httponly=True, samesite="strict", secure=service.settings.encrypted)
        return answer

    @router.post("/sign-out")
    def signed_out(request: Request) -> Response:
        if not is_same_site(request.headers):
            return to_sign_in("elsewhere")
        sessions.end(request.cookies.get(COOKIE))
        answer = to_sign_in("out")
        answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
        return answer

    return router


def _is_page(path: str) -> bool:
    return any(path == one.path for one in PAGES)


def _page(why: str, then: str, look: str) -> str:
    kind, words = _WHY.get(why, ("", ""))
    said = f'<p class="d-notice d-notice-{kind}" role="alert" id="why">{escape(words)}</p>' if words else ""
    shade = {"dark": "body--dark", "light": "body--light"}.get(look, "d-system")
    filled = {"STYLE": stylesheet(), "SHADE": shade, "WHY": said, "THEN": escape(then if _is_page(then) else "/")}
    page = _PAGE
    for name, text in filled.items():
        page = page.replace(f"{{{{{name}}}}}", text)
    return page
