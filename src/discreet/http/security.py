"""What keeps other sites away from a server: headers on every answer, and refusals.

A page may run its own scripts and talk to its own server, and nothing else. Requests from other sites are refused
before anything reads them: no shared resources, no hijacked sockets. Behind a proxy that encrypts, principals come by
https, whatever the connection between the two is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from http import HTTPStatus

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.http.problems import problem

__all__ = ["HEADERS", "Https", "SameSite", "SecurityHeaders", "policy"]


_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}


def policy(changed: Mapping[str, str] | None = None) -> str:
    """What a page may load and do, as a header says it; ``changed`` says what this page does otherwise."""
    return "; ".join(f"{name} {value}" for name, value in (_POLICY | dict(changed or {})).items())


HEADERS = {
    "Content-Security-Policy": policy(),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Names and values."""


class SecurityHeaders:
    """Adds headers to whatever the application answers, and lets no answer invite other sites."""

    def __init__(self, app: ASGIApp, headers_of: Callable[[str], Mapping[str, str]] = lambda _: HEADERS) -> None:
        """Around an application; ``headers_of`` a path are those of its answers."""
        self.app = app
        self._headers_of = headers_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and the answer back with headers."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                held = MutableHeaders(scope=message)
                for name in [one for one in held if one.startswith("access-control-")]:
                    del held[name]
                held.update(self._headers_of(scope["path"]))
            await send(message)

        await self.app(scope, receive, send_with_headers)


_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d+)?")


class SameSite:
    """Lets in what programs send, and what browsers send from pages of this server.

    A browser names the site of the page in ``Origin``, and a page of another site cannot change that. A socket must
    name it, because browsers open sockets to any server and send its cookies along.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str] = ()) -> None:
        """Around an application; ``hosts`` are the names that it answers to, all where there are none."""
        self.app = app
        self._hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if not self._is_ours(headers.get("host", "")):
            words = "The service does not go by this name; see the setting hosts."
            await _refuse(scope, receive, send, HTTPStatus.MISDIRECTED_REQUEST, words)
        elif not _is_same_site(headers, needed=scope["type"] == "websocket"):
            await _refuse(scope, receive, send, HTTPStatus.FORBIDDEN, "Pages of other sites may not use this service.")
        else:
            await self.app(scope, receive, send)

    def _is_ours(self, host: str) -> bool:
        return not self._hosts or _name_in(host) in self._hosts


def _name_in(host: str) -> str:
    """The name in a host header, without its port; empty where it is no host header."""
    found = _HOST.fullmatch(host.lower())
    return "" if found is None else found[1] or found[2]


def _is_same_site(headers: Headers, *, needed: bool) -> bool:
    origin, host = headers.get("origin"), headers.get("host", "").lower()
    if origin is None:
        return not needed
    if origin == "null":  # a browser that keeps its page to itself; no page can write the other header
        return headers.get("sec-fetch-site") == "same-origin"
    return bool(host) and origin.lower() in (f"http://{host}", f"https://{host}")


async def _refuse(scope: Scope, receive: Receive, send: Send, status: HTTPStatus, words: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
    else:
        await problem(status, words)(scope, receive, send)


_SCHEMES = {"http": "https", "websocket": "wss"}


class Https:
    """Says https to an application, so that its cookies and links are those of https."""

    def __init__(self, app: ASGIApp) -> None:
        """Around an application."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] in _SCHEMES:
            scope["scheme"] = _SCHEMES[scope["type"]]
        await self.app(scope, receive, send)
