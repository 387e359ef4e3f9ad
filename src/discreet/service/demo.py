"""A service to look around in: the hospital that never was, with an owner and two analysts."""

from __future__ import annotations

from pathlib import Path

from discreet.catalog.budget import Budget
from discreet.curator.curator import Curator
from discreet.demo.hospital import visits, visits_policy
from discreet.errors import InvalidValue
from discreet.service.auth.members import Members
from discreet.service.auth.roles import MemberRole
from discreet.service.storage import ServiceStore

__all__ = ["CAPS", "MEMBERS", "furnish_demo"]


MEMBERS = {"owner": MemberRole.OWNER, "ana": MemberRole.ANALYST, "ben": MemberRole.ANALYST}
"""Who is in the service."""
CAPS = {"ana": Budget(1), "ben": Budget(2)}
"""What the analysts may spend of the ε = 3 that all have together."""
_TABLE = "visits"
_DAYS = 365.0


def furnish_demo(folder: Path) -> dict[str, str]:
    """Make the hospital in ``folder``, or find the one that was made there; a new token for each member."""
    curator = Curator(folder)
    try:
        _check_empty_or_demo({table.name for table in curator.catalog} - {_TABLE}, folder)
        if curator.catalog.find(_TABLE) is None:
            curator.protect(visits(), visits_policy(CAPS))
    finally:
        curator.ledger.close()
    members = Members(ServiceStore(folder))
    known = {member.name for member in members.all()}
    _check_empty_or_demo(known - set(MEMBERS), folder)
    for name in MEMBERS.keys() - known:
        members.add(name, MEMBERS[name])
    return {name: members.issue(name, label="demo", days=_DAYS) for name in MEMBERS}


def _check_empty_or_demo(others: set[str], folder: Path) -> None:
    """Tokens of a demonstration are printed, so nothing real may be behind them."""
    if others:
        raise InvalidValue("a demonstration needs a folder of its own", str(folder), "name another, or none")
