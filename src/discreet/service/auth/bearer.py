"""Who sends a request: read from the bearer token in its header, and checked before anything else is done."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Annotated, Any

from anyio import CapacityLimiter, to_thread
from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from discreet.errors import NotSignedIn
from discreet.service.auth.roles import PEOPLE, MemberRole, Principal
from discreet.service.state import ServiceState

__all__ = ["ServiceHere", "principal_with", "read_address", "roles_of", "service_of"]


_BEARER = HTTPBearer(auto_error=False, description="A token that an owner issued, shown once.")
_TOKEN_CHECKS = CapacityLimiter(80)
"""Threads that verify tokens, apart from those that answer: new tokens are verified one by one, and after a start many
wait for their turn, who would otherwise hold every thread that could answer those who were let in."""


def service_of(request: Request) -> ServiceState:
    """The service that the application serves."""
    found: ServiceState = request.app.state.service
    return found


async def _service_here(request: Request) -> ServiceState:  # not a plain function, for which a thread would be fetched
    return service_of(request)


ServiceHere = Annotated[ServiceState, Depends(_service_here)]
"""The service, as a parameter of a handler."""


def principal_with(roles: Collection[MemberRole] = PEOPLE) -> Any:
    """A parameter of a handler: the principal, who must have one of these roles."""

    async def principal(
        request: Request, shown: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)]
    ) -> Principal:
        service = service_of(request)
        try:
            found = await to_thread.run_sync(_principal_of, service, shown, limiter=_TOKEN_CHECKS)
        except NotSignedIn:
            await to_thread.run_sync(service.tally.count, "sign-in failed", None, read_address(request))
            service.limits.failure(read_address(request))
            raise
        request.state.member = found.name  # for the log
        service.limits.request(found)
        if found.role not in roles:
            await to_thread.run_sync(service.tally.count, "refused", found.name, f"{request.method} {_route(request)}")
        elif service.tally.is_new(found.token):
            await to_thread.run_sync(partial(_came_in, service, found, read_address(request)))
        found.must_be(roles)
        return found

    _ROLES[principal] = frozenset(roles)
    return Depends(principal)


def _route(request: Request) -> str:
    """The route as it is written in the code: with names in place of what was sent."""
    return str(getattr(request.scope.get("route"), "path", ""))


def _came_in(service: ServiceState, principal: Principal, address: str) -> None:
    service.tally.write("token used", principal.name, token=principal.token, address=address)


def _principal_of(service: ServiceState, shown: HTTPAuthorizationCredentials | None) -> Principal:
    if shown is None:
        raise NotSignedIn("a request must carry a valid token", "<none>", "send Authorization: Bearer …")
    return service.members.principal(shown.credentials)


def read_address(request: Request) -> str:
    """Where a request came from, as the server tells it; empty where it cannot tell."""
    return "" if request.client is None else request.client.host


_ROLES: dict[Callable[..., Any], frozenset[MemberRole]] = {}


def roles_of(dependency: Callable[..., Any] | None) -> frozenset[MemberRole] | None:
    """The roles that a dependency lets in; None where it is another kind of dependency."""
    return _ROLES.get(dependency) if dependency is not None else None
