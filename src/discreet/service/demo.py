"""A house to look around in: the hospital that never was, with an owner and two analysts."""

from __future__ import annotations

from pathlib import Path

from discreet.catalog.budget import Budget
from discreet.curator.curator import Curator
from discreet.curator.hospital import visits, visits_policy
from discreet.errors import InvalidValue
from discreet.service.members import Members
from discreet.service.role import Role
from discreet.service.store import Store

__all__ = ["CAPS", "MEMBERS", "furnished"]

MEMBERS = {"owner": Role.OWNER, "ana": Role.ANALYST, "ben": Role.ANALYST}
"""Who is in the house."""
CAPS = {"ana": Budget(1), "ben": Budget(2)}
"""What the analysts may spend of the ε = 3 that all have together."""
_TABLE = "visits"
_DAYS = 365.0


def furnished(folder: Path) -> dict[str, str]:
    """Make the hospital in ``folder``, or find the one that was made there; a new token for each member."""
    curator = Curator(folder)
    try:
        _check_empty_or_demo({table.name for table in curator.catalog} - {_TABLE}, folder)
        if curator.catalog.find(_TABLE) is None:
            curator.protect(visits(), visits_policy(CAPS))
    finally:
        curator.ledger.close()
    members = Members(Store(folder))
    known = {member.name for member in members.all()}
    _check_empty_or_demo(known - set(MEMBERS), folder)
    for name in MEMBERS.keys() - known:
        members.add(name, MEMBERS[name])
    return {name: members.issue(name, label="demo", days=_DAYS) for name in MEMBERS}


def _check_empty_or_demo(others: set[str], folder: Path) -> None:
    """Tokens of a demonstration are printed, so nothing real may be behind them."""
    if others:
        raise InvalidValue("a demonstration needs a folder of its own", str(folder), "name another, or none")
