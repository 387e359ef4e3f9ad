"""Requests from other sites are refused before anything reads them: no shared resources, no hijacked sockets."""

from __future__ import annotations

import re
from collections.abc import Collection
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from discreet.web.problem import problem

__all__ = ["SameSite"]

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
            await _refused(scope, receive, send, HTTPStatus.MISDIRECTED_REQUEST, words)
        elif not _is_same_site(headers, needed=scope["type"] == "websocket"):
            await _refused(scope, receive, send, HTTPStatus.FORBIDDEN, "Pages of other sites may not use this service.")
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


async def _refused(scope: Scope, receive: Receive, send: Send, status: HTTPStatus, words: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
    else:
        await problem(status, words)(scope, receive, send)
