"""Headers on every answer of a server: a page may run its own scripts and talk to its own server, nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["HEADERS", "SecurityHeaders", "policy"]

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
