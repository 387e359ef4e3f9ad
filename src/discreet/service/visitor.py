"""Visitors: who is signed in, and whether they may do what they are about to do."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from discreet.errors import NotAllowed
from discreet.service.role import Role

__all__ = ["Visitor"]


@dataclass(frozen=True)
class Visitor:
    """Somebody who showed a valid token."""

    name: str
    """Their name, the one that policies and the ledger know."""
    role: Role
    """What they are to the house."""
    token: str
    """The public part of the token that they showed."""

    @property
    def analyst(self) -> str | None:
        """The name that the curator charges: none for the owner, whom no policy lists."""
        return None if self.role is Role.OWNER else self.name

    def must_be(self, roles: Collection[Role]) -> None:
        """Refuse visitors of other roles."""
        if self.role not in roles:
            allowed = " or ".join(sorted(roles))
            raise NotAllowed(f"this is for the {allowed}", f"<{self.role}>", "sign in with a token of that role")
