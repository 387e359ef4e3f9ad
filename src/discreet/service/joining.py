"""Joining: who is a member, and which tokens they have. Owners look after all of it, others after their own tokens."""

from __future__ import annotations

from discreet.errors import InvalidValue, NotFound, NotSignedIn
from discreet.service.house import House
from discreet.service.members import Issued, Member, Token
from discreet.service.role import EVERYBODY, Role
from discreet.service.visitor import Visitor

__all__ = ["add_member", "issue_token", "members", "remove_member", "revoke_token", "sign_in", "tokens"]

_OWNERS = frozenset({Role.OWNER})


def sign_in(house: House, token: str, address: str) -> Issued:
    """A token that lasts, for whoever shows one that is good: a one-time token is used up, another stays itself.

    The new token of a one-time one is in no book: show it, or the visitor cannot come back. ``address`` is where the
    request came from; too many failures from there are refused in words of their own.
    """
    try:
        found = _signed_in(house, token)
    except NotSignedIn:
        house.tally.count("sign-in failed", None, address)
        house.limits.failure(address)
        raise
    house.tally.count("signed in", found.token.member, address, token=found.token.id)
    return found


def _signed_in(house: House, token: str) -> Issued:
    if house.members.is_once(token):
        secret = house.members.exchange(token, house.settings.token_days)
        house.record_trail(always=False)
        return Issued(secret, house.members.token(house.members.visitor(secret).token))
    visitor = house.members.visitor(token)
    house.limits.request(visitor)
    return Issued(token, house.members.token(visitor.token))


def members(house: House, visitor: Visitor, after: str | None = None, limit: int | None = None) -> list[Member]:
    """Everybody who is or was a member, by name; ``limit`` of those behind the name ``after``, where that is said."""
    visitor.must_be(_OWNERS)
    return house.members.all(after, limit)


def add_member(house: House, visitor: Visitor, name: str, role: Role) -> Member:
    """A new member, under a name that nobody ever had."""
    visitor.must_be(_OWNERS)
    return house.members.add(name, role, by=visitor.name)


def remove_member(house: House, visitor: Visitor, name: str) -> None:
    """Let a member go: their tokens end at once. The last owner stays."""
    visitor.must_be(_OWNERS)
    house.members.remove(name, by=visitor.name)
    house.record_trail(always=False)


def tokens(
    house: House,
    visitor: Visitor,
    member: str | None = None,
    before: str | None = None,
    limit: int | None = None,
) -> list[Token]:
    """The tokens of a member, by default the visitor's own, latest first; those of others are for owners.

    ``before`` is the id of the last one that was seen.
    """
    found = house.members.tokens(_whose(house, visitor, member))
    if before is not None:
        places = [place for place, one in enumerate(found, 1) if one.id == before]
        if not places:
            raise NotFound("there must be such a token", before)
        found = found[places[0] :]
    return found[:limit]


def issue_token(
    house: House,
    visitor: Visitor,
    member: str | None = None,
    label: str = "",
    days: float | None = None,
    once: bool = False,
) -> Issued:
    """A new token, by default for the visitor; its secret is shown now and never again.

    It lives for ``token_days`` of the settings unless ``days`` says otherwise; longer where an owner says so.
    """
    whose, usual = _whose(house, visitor, member), house.settings.token_days
    wanted = usual if days is None else days
    if visitor.role is not Role.OWNER and wanted > usual:
        rule = f"a token of one's own may live for {usual:g} days"
        raise InvalidValue(rule, wanted, "ask an owner for one that lives longer")
    if visitor.role is not Role.OWNER:
        house.limits.token(visitor)
    return house.members.issued(whose, label=label, days=wanted, once=once, by=visitor.name)


def revoke_token(house: House, visitor: Visitor, token: str) -> None:
    """Take back one of the visitor's own tokens; owners may take back any."""
    visitor.must_be(EVERYBODY)
    found = house.members.token(token)
    if visitor.role is not Role.OWNER and found.member != visitor.name:
        raise NotFound("there must be such a token", token)
    house.members.revoke(token, by=visitor.name)
    house.record_trail(always=False)


def _whose(house: House, visitor: Visitor, member: str | None) -> str:
    visitor.must_be(EVERYBODY)
    if member is None or member == visitor.name:
        return visitor.name
    visitor.must_be(_OWNERS)
    if house.members.find(member) is None:
        raise NotFound("there must be such a member", member)
    return member
