"""Sessions: who signed in at the console. They live in memory and end with the process, the token, or a sign-out."""

from __future__ import annotations

import time
from dataclasses import dataclass
from threading import Lock

from discreet.errors import NotSignedIn
from discreet.noise.source import fresh_id
from discreet.service.house import House
from discreet.service.visitor import Visitor

__all__ = ["COOKIE", "Sessions"]

COOKIE = "discreet_session"
_SECONDS = 12 * 3600.0


@dataclass(frozen=True)
class _Session:
    token: str
    ends: float


class Sessions:
    """The sessions of one process."""

    def __init__(self, house: House) -> None:
        """Of visitors of ``house``."""
        self._house = house
        self._open: dict[str, _Session] = {}
        self._lock = Lock()

    def start(self, token: str) -> str:
        """The id of a new session for whoever shows this token; a token that is not valid is refused."""
        self._house.members.visitor(token)
        now, found = time.monotonic(), fresh_id()
        with self._lock:
            self._open = {key: one for key, one in self._open.items() if one.ends > now}
            self._open[found] = _Session(token, now + _SECONDS)
        return found

    def end(self, session: str | None) -> None:
        """Forget a session."""
        with self._lock:
            self._open.pop(session or "", None)

    def visitor(self, session: str | None) -> Visitor | None:
        """Who this session belongs to; nobody once it or its token has ended."""
        known = self._open.get(session or "")
        if known is None or known.ends <= time.monotonic():
            return None
        try:
            return self._house.members.visitor(known.token)
        except NotSignedIn:
            self.end(session)
            return None
