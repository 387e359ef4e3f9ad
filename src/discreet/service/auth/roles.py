"""Roles and principals: who is signed in, and whether they may do what they are about to do."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from discreet.errors import NotAllowed

__all__ = ["EVERYBODY", "FEEDERS", "PEOPLE", "READERS", "MemberRole", "Principal"]


class MemberRole(StrEnum):
    """What somebody is to the service."""

    OWNER = "owner"
    """Protects tables, says who may ask, reads the whole ledger, approves publications."""
    ANALYST = "analyst"
    """Asks, and sees their own questions."""
    AUDITOR = "auditor"
    """Reads the ledger and the certificates, and cannot ask."""
    FEEDER = "feeder"
    """A program that appends rows to tables that grow, and may do nothing else."""


EVERYBODY = frozenset(MemberRole)
"""All who are signed in."""
PEOPLE = EVERYBODY - {MemberRole.FEEDER}
"""All who may look at what is there, each at their part of it."""
FEEDERS = frozenset({MemberRole.OWNER, MemberRole.FEEDER})
"""Those who may append rows."""
READERS = frozenset({MemberRole.OWNER, MemberRole.AUDITOR})
"""Those who may read the whole ledger."""


@dataclass(frozen=True)
class Principal:
    """Somebody who showed a valid token."""

    name: str
    """Their name, the one that policies and the ledger know."""
    role: MemberRole
    """What they are to the service."""
    token: str
    """The public part of the token that they showed."""

    @property
    def analyst(self) -> str | None:
        """The name that the curator charges: none for the owner, whom no policy lists."""
        return None if self.role is MemberRole.OWNER else self.name

    def must_be(self, roles: Collection[MemberRole]) -> None:
        """Refuse principals of other roles."""
        if self.role not in roles:
            allowed = " or ".join(sorted(roles))
            raise NotAllowed(f"this is for the {allowed}", f"<{self.role}>", "sign in with a token of that role")
