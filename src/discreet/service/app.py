"""The web application of the service: routes under /api/v1, one shape for problems, headers on every answer.

Bodies of requests are small JSON, and tables for the routes that take them from owners. The Content-Security-Policy
goes by path: strict for REST, wider for the console, no third-party hosts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Scope

from discreet.errors import NotSignedIn
from discreet.http.bodies import BodyLimit, StrictJson
from discreet.http.problems import Methods, Unknown
from discreet.http.security import HEADERS, Https, SameSite, SecurityHeaders, policy
from discreet.service.auth.roles import FEEDERS, MemberRole
from discreet.service.monitoring import Health, Metrics
from discreet.service.openapi import describe_api
from discreet.service.problems import Watching, handle_faults
from discreet.service.routes import ask, ledger, members, oversight, owner_tables, periods, publications, tables
from discreet.service.routes import service as service_routes
from discreet.service.state import ServiceState
from discreet.version import __version__

__all__ = ["API", "application", "bodies_within", "choose_headers", "guard_app"]


_API = "/api/"
_BEARER = "bearer "
_OWNERS = frozenset({MemberRole.OWNER})
_UPLOADS = re.compile(r"/api/v1/uploads(/.*)?\Z", re.DOTALL)
"""Routes whose bodies are tables."""
_ROWS = re.compile(r"/api/v1/tables/[^/]+/rows\Z")
"""Routes whose bodies are rows that are appended."""
_CONSOLE_UPLOADS = re.compile(r"/_nicegui/client/[^/]+/upload/[^/]+\Z")
"""Routes that the console opens for one page and one principal, with ids that nobody guesses."""


def bodies_within(app: ASGIApp, service: ServiceState) -> ASGIApp:
    """The application behind limits on what it is sent.

    A large body is taken from owners alone, and rows to append from feeders. An application may keep a whole upload
    before it looks at who sent it, so it is looked at here first.
    """

    async def most(scope: Scope) -> int:
        path, settings = scope["path"], service.settings
        if _CONSOLE_UPLOADS.match(path):
            return settings.largest_upload
        senders = _OWNERS if _UPLOADS.match(path) else FEEDERS if _ROWS.match(path) else frozenset[MemberRole]()
        is_large = senders and await _find_role(service, scope) in senders
        return settings.largest_upload if is_large else settings.largest_body

    return BodyLimit(StrictJson(app, _is_json), most)


def _is_json(scope: Scope) -> bool:
    path = scope["path"]
    return path.startswith(_API) and not _UPLOADS.match(path) and not _ROWS.match(path)


async def _find_role(service: ServiceState, scope: Scope) -> MemberRole | None:
    """The role of who sent a request; None where no good token says who that is."""
    shown = Headers(scope=scope).get("authorization", "")
    if not shown.lower().startswith(_BEARER):
        return None
    try:
        principal = await run_in_threadpool(service.members.principal, shown[len(_BEARER) :].strip())
    except NotSignedIn:
        return None
    return principal.role


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


def choose_headers(*, encrypted: bool) -> Callable[[str], Mapping[str, str]]:
    """The headers of answers by their paths; ``encrypted`` where principals come by https and shall go on to."""
    more = {"Strict-Transport-Security": f"max-age={_YEAR}"} if encrypted else {}
    strict, console = HEADERS | more, _CONSOLE | more
    static = {name: value for name, value in console.items() if name != "Cache-Control"}

    def found(path: str) -> Mapping[str, str]:
        if path.startswith(_STRICT):
            return strict
        return static if path.startswith(_STATIC) else console  # files of a version never change

    return found


API = "/api/v1"
_ROUTERS = (
    members.router,
    ask.router,
    tables.router,
    ledger.router,
    owner_tables.router,
    periods.router,
    publications.router,
    oversight.router,
    service_routes.metrics_router,
    service_routes.description_router,
)


class _Service(FastAPI):
    """An application that describes its problems."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            self.openapi_schema = describe_api(self)
        return self.openapi_schema


def application(service: ServiceState) -> FastAPI:
    """The application that serves ``service``, without the console."""
    app = _Service(title="Discreet", version=__version__, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.service = service
    app.state.health = Health(service)
    app.state.metrics = Metrics()
    for router in _ROUTERS:
        app.include_router(router, prefix=API)
    app.include_router(service_routes.health_router)
    app.router.routes.append(Unknown(("/api/", "/health/"), app.routes, "see /api/v1/docs"))
    handle_faults(app)
    return app


def guard_app(app: FastAPI) -> ASGIApp:
    """The application behind its middleware: other sites are refused, and every answer is watched and has headers."""
    settings = app.state.service.settings
    inner: ASGIApp = SameSite(bodies_within(Methods(app, app.routes), app.state.service), settings.hosts)
    if settings.behind_proxy:
        inner = Https(inner)
    return SecurityHeaders(Watching(inner, app.state.metrics), choose_headers(encrypted=settings.encrypted))
