"""Joining: who is a member, and which tokens they have. Owners look after all of it, others after their own tokens."""

from __future__ import annotations

from discreet.errors import InvalidValue, NotFound, NotSignedIn
from discreet.service.auth.members import Issued, Member, Token
from discreet.service.auth.roles import PEOPLE, MemberRole, Principal
from discreet.service.state import ServiceState

__all__ = ["add_member", "issue_token", "members", "remove_member", "revoke_token", "sign_in", "tokens"]


_OWNERS = frozenset({MemberRole.OWNER})


def sign_in(service: ServiceState, token: str, address: str) -> Issued:
    """A token that lasts, for whoever shows one that is good: a one-time token is used up, another stays itself.

    The new token of a one-time one is in no database: show it, or the principal cannot come back. ``address`` is where
    the request came from; too many failures from there are refused in words of their own.
    """
    try:
        found = _signed_in(service, token)
    except NotSignedIn:
        service.tally.count("sign-in failed", None, address)
        service.limits.failure(address)
        raise
    service.tally.count("signed in", found.token.member, address, token=found.token.id)
    return found


def _signed_in(service: ServiceState, token: str) -> Issued:
    if service.members.is_once(token):
        secret = service.members.exchange(token, service.settings.token_days)
        service.record_trail(always=False)
        return Issued(secret, service.members.token(service.members.principal(secret).token))
    principal = service.members.principal(token)
    service.limits.request(principal)
    return Issued(token, service.members.token(principal.token))


def members(
    service: ServiceState, principal: Principal, after: str | None = None, limit: int | None = None
) -> list[Member]:
    """Everybody who is or was a member, by name; ``limit`` of those behind the name ``after``, where that is said."""
    principal.must_be(_OWNERS)
    return service.members.all(after, limit)


def add_member(service: ServiceState, principal: Principal, name: str, role: MemberRole) -> Member:
    """A new member, under a name that nobody ever had."""
    principal.must_be(_OWNERS)
    return service.members.add(name, role, by=principal.name)


def remove_member(service: ServiceState, principal: Principal, name: str) -> None:
    """Let a member go: their tokens end at once. The last owner stays."""
    principal.must_be(_OWNERS)
    service.members.remove(name, by=principal.name)
    service.record_trail(always=False)


def tokens(
    service: ServiceState,
    principal: Principal,
    member: str | None = None,
    before: str | None = None,
    limit: int | None = None,
) -> list[Token]:
    """The tokens of a member, by default the principal's own, latest first; those of others are for owners.

    ``before`` is the id of the last one that was seen.
    """
    found = service.members.tokens(_whose(service, principal, member))
    if before is not None:
        places = [place for place, one in enumerate(found, 1) if one.id == before]
        if not places:
            raise NotFound("there must be such a token", before)
        found = found[places[0] :]
    return found[:limit]


def issue_token(
    service: ServiceState,
    principal: Principal,
    member: str | None = None,
    label: str = "",
    days: float | None = None,
    once: bool = False,
) -> Issued:
    """A new token, by default for the principal; its secret is shown now and never again.

    It lives for ``token_days`` of the settings unless ``days`` says otherwise; longer where an owner says so.
    """
    whose, usual = _whose(service, principal, member), service.settings.token_days
    wanted = usual if days is None else days
    if principal.role is not MemberRole.OWNER and wanted > usual:
        rule = f"a token of one's own may live for {usual:g} days"
        raise InvalidValue(rule, wanted, "ask an owner for one that lives longer")
    if principal.role is not MemberRole.OWNER:
        service.limits.token(principal)
    return service.members.issued(whose, label=label, days=wanted, once=once, by=principal.name)


def revoke_token(service: ServiceState, principal: Principal, token: str) -> None:
    """Take back one of the principal's own tokens; owners may take back any."""
    principal.must_be(PEOPLE)
    found = service.members.token(token)
    if principal.role is not MemberRole.OWNER and found.member != principal.name:
        raise NotFound("there must be such a token", token)
    service.members.revoke(token, by=principal.name)
    service.record_trail(always=False)


def _whose(service: ServiceState, principal: Principal, member: str | None) -> str:
    principal.must_be(PEOPLE)
    if member is None or member == principal.name:
        return principal.name
    principal.must_be(_OWNERS)
    if service.members.find(member) is None:
        raise NotFound("there must be such a member", member)
    return member
