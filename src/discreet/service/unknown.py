"""Paths under /api that nothing answers: a problem of the one shape, although pages are served beside them."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

__all__ = ["Unknown"]


class Unknown(BaseRoute):
    """The last of the routes under some paths: another method than theirs is 405, and anything else is 404."""

    def __init__(self, prefixes: tuple[str, ...], routes: Sequence[BaseRoute]) -> None:
        """Under ``prefixes``, where ``routes`` had no answer."""
        self._prefixes = prefixes
        self._routes = tuple(routes)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Everything under the prefixes."""
        is_ours = scope["type"] == "http" and f"{scope['path']}/".startswith(self._prefixes)
        return (Match.FULL, {}) if is_ours else (Match.NONE, {})

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a route that knows the path refuse the method, or say that there is nothing."""
        for route in self._routes:
            match, found = route.matches(scope)
            if match is Match.PARTIAL:
                scope.update(found, route=route)
                await route.handle(scope, receive, send)
                return
        raise HTTPException(HTTPStatus.NOT_FOUND, "There is nothing at this path; see /api/v1/docs.")
