"""Who sends a request: read from the bearer token in its header, and checked before anything else is done."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Annotated, Any

from anyio import CapacityLimiter, to_thread
from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from discreet.errors import NotSignedIn
from discreet.service.house import House
from discreet.service.role import EVERYBODY, Role
from discreet.service.visitor import Visitor

__all__ = ["HouseHere", "address_of", "house_of", "roles_of", "visitor_with"]

_BEARER = HTTPBearer(auto_error=False, description="A token that an owner issued, shown once.")
_AT_THE_DOOR = CapacityLimiter(80)
"""Threads that verify tokens, apart from those that answer: new tokens are verified one by one, and after a start many
wait for their turn, who would otherwise hold every thread that could answer those who were let in."""


def house_of(request: Request) -> House:
    """The house that the application serves."""
    found: House = request.app.state.house
    return found


async def _house_here(request: Request) -> House:  # not a plain function, for which a thread would be fetched
    return house_of(request)


HouseHere = Annotated[House, Depends(_house_here)]
"""The house, as a parameter of a handler."""


def visitor_with(roles: Collection[Role] = EVERYBODY) -> Any:
    """A parameter of a handler: the visitor, who must have one of these roles."""

    async def visitor(
        request: Request, shown: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)]
    ) -> Visitor:
        house = house_of(request)
        try:
            found = await to_thread.run_sync(_visitor_of, house, shown, limiter=_AT_THE_DOOR)
        except NotSignedIn:
            await to_thread.run_sync(house.tally.count, "sign-in failed", None, address_of(request))
            house.limits.failure(address_of(request))
            raise
        request.state.member = found.name  # for the log
        house.limits.request(found)
        if found.role not in roles:
            await to_thread.run_sync(house.tally.count, "refused", found.name, f"{request.method} {_route(request)}")
        elif house.tally.is_new(found.token):
            await to_thread.run_sync(partial(_came_in, house, found, address_of(request)))
        found.must_be(roles)
        return found

    _ROLES[visitor] = frozenset(roles)
    return Depends(visitor)


def _route(request: Request) -> str:
    """The route as it is written in the code: with names in place of what was sent."""
    return str(getattr(request.scope.get("route"), "path", ""))


def _came_in(house: House, visitor: Visitor, address: str) -> None:
    house.tally.write("token used", visitor.name, token=visitor.token, address=address)


def _visitor_of(house: House, shown: HTTPAuthorizationCredentials | None) -> Visitor:
    if shown is None:
        raise NotSignedIn("a request must carry a valid token", "<none>", "send Authorization: Bearer …")
    return house.members.visitor(shown.credentials)


def address_of(request: Request) -> str:
    """Where a request came from, as the server tells it; empty where it cannot tell."""
    return "" if request.client is None else request.client.host


_ROLES: dict[Callable[..., Any], frozenset[Role]] = {}


def roles_of(dependency: Callable[..., Any] | None) -> frozenset[Role] | None:
    """The roles that a dependency lets in; None where it is another kind of dependency."""
    return _ROLES.get(dependency) if dependency is not None else None
