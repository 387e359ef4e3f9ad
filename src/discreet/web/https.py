"""Behind a proxy that encrypts, visitors come by https, whatever the connection between the two is."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["Https"]

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
