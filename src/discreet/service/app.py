"""The web application of the service: routes under /api/v1, one shape for problems, headers on every answer."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from starlette.types import ASGIApp

from discreet.service.api_description import described
from discreet.service.bodies import bodies_within
from discreet.service.faults import handle_faults
from discreet.service.health import Health
from discreet.service.house import House
from discreet.service.metrics import Metrics
from discreet.service.pages_policy import headers_of
from discreet.service.routes import (
    api_page,
    asking,
    books,
    health,
    me,
    members,
    metrics,
    publications,
    suspensions,
    tables_owner,
    telling,
    trail,
)
from discreet.service.watching import Watching
from discreet.version import __version__
from discreet.web.headers import SecurityHeaders
from discreet.web.https import Https
from discreet.web.methods import Methods, Unknown
from discreet.web.same_site import SameSite

__all__ = ["API", "application", "guarded"]

API = "/api/v1"
_ROUTERS = (
    me.router,
    members.router,
    asking.router,
    telling.router,
    books.router,
    tables_owner.router,
    publications.router,
    suspensions.router,
    trail.router,
    metrics.router,
    api_page.router,
)


class _Service(FastAPI):
    """An application that describes its problems."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            self.openapi_schema = described(self)
        return self.openapi_schema


def application(house: House) -> FastAPI:
    """The application that serves ``house``, without the console."""
    app = _Service(title="Discreet", version=__version__, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.house = house
    app.state.health = Health(house)
    app.state.metrics = Metrics()
    for router in _ROUTERS:
        app.include_router(router, prefix=API)
    app.include_router(health.router)
    app.router.routes.append(Unknown(("/api/", "/health/"), app.routes, "see /api/v1/docs"))
    handle_faults(app)
    return app


def guarded(app: FastAPI) -> ASGIApp:
    """The application behind its door: other sites are refused, and every answer is watched and has headers."""
    settings = app.state.house.settings
    inner: ASGIApp = SameSite(bodies_within(Methods(app, app.routes), app.state.house), settings.hosts)
    if settings.behind_proxy:
        inner = Https(inner)
    return SecurityHeaders(Watching(inner, app.state.metrics), headers_of(encrypted=settings.encrypted))
