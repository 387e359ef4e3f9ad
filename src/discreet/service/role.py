"""Roles: what somebody who is signed in may do."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["EVERYBODY", "READERS", "Role"]


class Role(StrEnum):
    """What somebody is to the house."""

    OWNER = "owner"
    """Protects tables, says who may ask, reads the whole ledger, approves publications."""
    ANALYST = "analyst"
    """Asks, and sees their own questions."""
    AUDITOR = "auditor"
    """Reads the ledger and the certificates, and cannot ask."""


EVERYBODY = frozenset(Role)
"""All who are signed in."""
READERS = frozenset({Role.OWNER, Role.AUDITOR})
"""Those who may read the whole ledger."""
