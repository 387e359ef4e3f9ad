"""Answering a request: at the curator's door, in the name of the member, under an id that no other member can take."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from urllib.parse import quote

from discreet.curator.answer import Answer
from discreet.curator.curator import Curator
from discreet.errors import NotAllowed
from discreet.service.members import Members
from discreet.service.requests import Job
from discreet.service.role import Role

__all__ = ["ASKERS", "answered"]

_LONGEST_NAME = 100
ASKERS = frozenset({Role.OWNER, Role.ANALYST})
"""Who may ask."""


def answered(curator: Curator, members: Members, job: Job, hold: Callable[[], object]) -> Answer:
    """The answer; members who left, or may not ask any more, get none. ``hold`` is called once rows were read."""
    found = next((one for one in members.all() if one.name == job.member and one.removed is None), None)
    if found is None or found.role not in ASKERS:
        role = "no member any more" if found is None else f"an {found.role}"
        raise NotAllowed("only owners and analysts may ask", f"<{job.member}, {role}>")
    analyst = None if found.role is Role.OWNER else found.name
    request = f"{_spelled(job.member)}/{job.request}"
    return curator.ask(**job.wish.told(), analyst=analyst, request=request, raw=job.wish.raw, hold=hold)


def _spelled(member: str) -> str:
    """A member's name in an id, short enough for a ledger; a colon is in no name that is spelled with escapes."""
    name = quote(member, safe="")
    return name if len(name) <= _LONGEST_NAME else f"sha256:{sha256(member.encode()).hexdigest()}"
