"""What the bodies of requests may be: small JSON for every route, and tables for those that take them from owners."""

from __future__ import annotations

import re

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Scope

from discreet.errors import NotSignedIn
from discreet.service.house import House
from discreet.service.role import Role
from discreet.web.bodies import BodyLimit
from discreet.web.strict_json import StrictJson

__all__ = ["bodies_within"]

_API = "/api/"
_BEARER = "bearer "
_UPLOADS = re.compile(r"/api/v1/uploads(/.*)?\Z", re.DOTALL)
"""Routes whose bodies are tables."""
_CONSOLE_UPLOADS = re.compile(r"/_nicegui/client/[^/]+/upload/[^/]+\Z")
"""Routes that the console opens for one page and one visitor, with ids that nobody guesses."""


def bodies_within(app: ASGIApp, house: House) -> ASGIApp:
    """The application behind limits on what it is sent.

    A large body is taken from owners alone. An application may keep a whole upload before it looks at who sent it, so
    the door looks first.
    """

    async def most(scope: Scope) -> int:
        path, settings = scope["path"], house.settings
        is_large = _CONSOLE_UPLOADS.match(path) or (_UPLOADS.match(path) and await _is_by_owner(house, scope))
        return settings.largest_upload if is_large else settings.largest_body

    return BodyLimit(StrictJson(app, _is_json), most)


def _is_json(scope: Scope) -> bool:
    return scope["path"].startswith(_API) and not _UPLOADS.match(scope["path"])


async def _is_by_owner(house: House, scope: Scope) -> bool:
    shown = Headers(scope=scope).get("authorization", "")
    if not shown.lower().startswith(_BEARER):
        return False
    try:
        visitor = await run_in_threadpool(house.members.visitor, shown[len(_BEARER) :].strip())
    except NotSignedIn:
        return False
    return visitor.role is Role.OWNER
