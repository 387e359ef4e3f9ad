"""Methods: HEAD wherever there is GET, and whoever uses another method hears all that a path takes.

An application says which methods one of its routes has. A path may have several routes, so the list is made here. Paths
that nothing answers are a problem of the one shape, although pages are served beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from http import HTTPStatus

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Mount
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Methods", "Unknown"]


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
            await Response(None, HTTPStatus.NO_CONTENT, {"Allow": _listed(known)})(scope, receive, send)
            return

        async def completed(message: Message) -> None:
            scope["method"] = asked  # for whoever looks at the request from outside
            if message["type"] == "http.response.start" and message["status"] == HTTPStatus.METHOD_NOT_ALLOWED:
                MutableHeaders(scope=message)["Allow"] = _listed(_methods(self._routes, scope) or _FILES)
            if asked == _HEAD and message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        scope["method"] = _GET if asked == _HEAD else asked
        try:
            await self.app(scope, receive, completed)
        finally:
            scope["method"] = asked


def _listed(methods: Iterable[str]) -> str:
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
            raise HTTPException(HTTPStatus.METHOD_NOT_ALLOWED, f"This path takes {_listed(known)} alone.")
        raise HTTPException(HTTPStatus.NOT_FOUND, f"There is nothing at this path; {self._remedy}.")
