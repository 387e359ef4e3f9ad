"""The web application of the service: routes under /api/v1, one shape for problems, headers on every answer."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.types import ASGIApp

from discreet.service.faults import handle_faults
from discreet.service.house import House
from discreet.service.routes import books, me, telling
from discreet.version import __version__
from discreet.web.headers import SecurityHeaders

__all__ = ["API", "application", "guarded"]

API = "/api/v1"
_ROUTERS = (me.router, telling.router, books.router)


def application(house: House) -> FastAPI:
    """The application that serves ``house``, without the console."""
    app = FastAPI(
        title="Discreet", version=__version__, docs_url=None, redoc_url=None, openapi_url=f"{API}/openapi.json"
    )
    app.state.house = house
    for router in _ROUTERS:
        app.include_router(router, prefix=API)
    handle_faults(app)
    return app


def guarded(app: ASGIApp) -> ASGIApp:
    """The application with headers on whatever it answers."""
    return SecurityHeaders(app)
