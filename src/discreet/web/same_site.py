"""Requests from other sites are refused before anything reads them: no shared resources, no hijacked sockets."""

from __future__ import annotations

from collections.abc import Collection
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from discreet.web.problem import problem

__all__ = ["SameSite"]


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
    """The name in a host header, without its port; empty where it has none."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:  # half an address of the sixth version
        return ""


def _is_same_site(headers: Headers, *, needed: bool) -> bool:
    origin, host = headers.get("origin"), headers.get("host", "").lower()
    if origin is None:
        return not needed
    return bool(host) and origin.lower() in (f"http://{host}", f"https://{host}")


async def _refused(scope: Scope, receive: Receive, send: Send, status: HTTPStatus, words: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
    else:
        await problem(status, words)(scope, receive, send)
