"""What pages of the service may do: those of the console need more than REST, and nobody needs other hosts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from discreet.web.headers import HEADERS, policy

__all__ = ["headers_of"]

_STATIC = "/_nicegui/"
_STRICT = ("/api/", "/health/")
_YEAR = 31_536_000
_CONSOLE_POLICY = policy(
    {
        "script-src": "'self' 'unsafe-inline' 'unsafe-eval'",  # Vue compiles templates in the browser
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "worker-src": "'self' blob:",
        "form-action": "'self'",
        "base-uri": "'self'",
    }
)
_CONSOLE = HEADERS | {
    "Content-Security-Policy": _CONSOLE_POLICY,
    "Referrer-Policy": "same-origin",  # without it a browser sends forms of our own pages as from nowhere
}


def headers_of(*, encrypted: bool) -> Callable[[str], Mapping[str, str]]:
    """The headers of answers by their paths; ``encrypted`` where visitors come by https and shall go on to."""
    more = {"Strict-Transport-Security": f"max-age={_YEAR}"} if encrypted else {}
    strict, console = HEADERS | more, _CONSOLE | more
    static = {name: value for name, value in console.items() if name != "Cache-Control"}

    def found(path: str) -> Mapping[str, str]:
        if path.startswith(_STRICT):
            return strict
        return static if path.startswith(_STATIC) else console  # files of a version never change

    return found
