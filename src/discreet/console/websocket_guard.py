"""A guard between browsers and pages: every word that a browser sends to a page is checked before the page hears it.

A page lives on in the server for as long as a browser listens, and NiceGUI lets in whoever knows its id. So nothing
reaches a page unless it comes from the same site, in a session that is still valid, and the page was drawn for that
session. After a sign-out, or once the token ended, the next word closes the connection; the browser then loads the page
again, and is led to sign in. NiceGUI makes a page before it asks for whom, so who may not have one is told so here.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.console.layout import PAGES
from discreet.console.session import COOKIE, MOST_PAGES_OF_MEMBER, Sessions
from discreet.http.bodies import BodyLimit, has_many_values
from discreet.http.problems import problem
from discreet.service.auth.roles import MemberRole

__all__ = ["LARGEST_BY_OTHERS", "MOST_SOCKETS", "MOST_STRANGERS", "WebSocketGuard", "is_same_site"]


Refusal = Callable[[Request], Response | None]
"""What is answered to a request for a page in place of the page; None where the page may be drawn."""
MOST_STRANGERS = 32
"""Connections that wait for words of a page that is not theirs, or not there any more."""
MOST_SOCKETS = 2 * MOST_PAGES_OF_MEMBER
"""Of one member, whose browser may open one anew before the other is known to be gone. They have no deadline, so that
without this number one member could hold all connections that the service has."""

LARGEST_BY_OTHERS = 8_000_000
"""Bytes of a file that somebody who is no owner may send to a page."""
_AROUND_A_FILE = 10_000

_PAGES = frozenset(one.path for one in PAGES)
_WORDS, _UPLOADS = "/_nicegui_ws/", "/_nicegui/client/"
_KEEPING_UP = re.compile(r"[23]|4[01].{0,200}", re.DOTALL)  # pings, and opening or closing the channel
_EVENT = re.compile(r"42[0-9]*(\[.*)", re.DOTALL)
_REFUSED = 1008
_NO_PAGE = b"EIO=4&transport=websocket&client_id=none&implicit_handshake=true&tab_id=none&document_id=none"
"""Greets a page that does not exist, so that the browser loads its page again and learns why."""


class WebSocketGuard:
    """Lets in what belongs to a page, and turns the rest away."""

    def __init__(self, app: ASGIApp, sessions: Sessions, refusal: Refusal) -> None:
        """Around an application, for these sessions; ``refusal`` looks at requests for pages."""
        self.app = app
        self._sessions = sessions
        self._refusal = refusal
        self._strangers = 0
        self._sockets: Counter[str] = Counter()
        self._small = BodyLimit(app, _most_by_others)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check whatever is for a page; pass on the rest as it is."""
        path = scope.get("path", "")
        if path.startswith(_WORDS):
            await self._words(scope, receive, send)
        elif path.startswith(_UPLOADS):
            await self._file(path, scope, receive, send)
        elif scope["type"] == "http" and path in _PAGES and scope["method"] in ("GET", "HEAD"):
            await (self._refusal(Request(scope)) or self.app)(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _file(self, path: str, scope: Scope, receive: Receive, send: Send) -> None:
        page, session = path.removeprefix(_UPLOADS).partition("/")[0], _session(scope)
        if not is_same_site(Headers(scope=scope)) or not self._sessions.may_use(session, page):
            await problem(HTTPStatus.FORBIDDEN, "Sign in again, then send the file again.")(scope, receive, send)
            return
        principal = self._sessions.principal(session)
        app = self.app if principal is not None and principal.role is MemberRole.OWNER else self._small
        await app(scope, receive, send)  # NiceGUI keeps all of it before a page hears how large it is

    async def _words(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await problem(HTTPStatus.FORBIDDEN, "Pages speak over websockets alone.")(scope, receive, send)
        elif not is_same_site(Headers(scope=scope)):
            await send({"type": "websocket.close", "code": _REFUSED})
        else:
            session, page = _session(scope), _page(scope)
            checked = _Checked(self._sessions, session, page, receive, send)
            member = self._sessions.user(session, page)
            if member is not None:
                await self._member(member, scope, checked, send)
            else:
                await self._stranger(scope, checked, send)

    async def _member(self, member: str, scope: Scope, receive: Receive, send: Send) -> None:
        if self._sockets[member] >= MOST_SOCKETS:
            await send({"type": "websocket.close", "code": _REFUSED})
            return
        self._sockets[member] += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self._sockets[member] -= 1
            if not self._sockets[member]:
                del self._sockets[member]

    async def _stranger(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a browser hear that its page is gone; few at a time, because each takes a connection."""
        if self._strangers >= MOST_STRANGERS:
            await send({"type": "websocket.close", "code": _REFUSED})
            return
        self._strangers += 1
        try:
            scope["query_string"] = _NO_PAGE
            await self.app(scope, receive, send)
        finally:
            self._strangers -= 1


class _Checked:
    """What a browser says on one connection, up to the first word that may not pass."""

    def __init__(self, sessions: Sessions, session: str | None, page: str, receive: Receive, send: Send) -> None:
        self._sessions, self._session, self._page = sessions, session, page
        self._receive, self._send = receive, send

    async def __call__(self) -> Message:
        message = await self._receive()
        if message["type"] != "websocket.receive" or self._may_pass(message):
            return message
        await self._send({"type": "websocket.close", "code": _REFUSED})
        return {"type": "websocket.disconnect", "code": _REFUSED}

    def _may_pass(self, message: Message) -> bool:
        text = message.get("text")
        if text is None:
            return False
        if _KEEPING_UP.fullmatch(text):
            is_opening = text.startswith("4")
            return is_opening or self._sessions.may_use(self._session, self._page)
        if not self._sessions.may_use(self._session, self._page):  # before what strangers say is read
            return False
        event = _EVENT.fullmatch(text)
        return event is not None and _addressed(event[1]) == self._page


async def _most_by_others(_: Scope) -> int:
    return LARGEST_BY_OTHERS + _AROUND_A_FILE


def _addressed(written: str) -> str | None:
    """The page that an event is for; None where it is for none, says so in two ways, or is too much to read."""
    if has_many_values(written):
        return None
    try:
        parts = json.loads(written, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None
    query = parts[1] if isinstance(parts, list) and len(parts) == 2 else None
    found = query.get("client_id") if isinstance(query, dict) else None
    return found if isinstance(found, str) else None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose names differ: two readers could disagree about the others."""
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError
    return dict(pairs)


def is_same_site(headers: Headers) -> bool:
    """Whether a browser sent this from a page of this site."""
    origin = headers.get("origin", "null")
    if origin == "null":
        return headers.get("sec-fetch-site") == "same-origin"
    return urlsplit(origin).netloc == headers.get("host")


def _session(scope: Scope) -> str | None:
    try:
        found = SimpleCookie(Headers(scope=scope).get("cookie", "")).get(COOKIE)
    except CookieError:
        return None
    return None if found is None else found.value


def _page(scope: Scope) -> str:
    named = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("client_id", [])
    return named[0] if len(named) == 1 else ""
