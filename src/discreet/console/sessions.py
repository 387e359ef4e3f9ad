"""Sessions: who signed in at the console. They live in memory and end with the process, the token, or a sign-out.

A session owns the pages that were drawn for it: what a browser sends to a page counts only when it comes from the
session that the page was drawn for. A page takes memory for as long as it lives, so a session and a member have a
number of them; when it is reached, one gives way to the next: the oldest that no browser listens to, or the oldest.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from discreet.errors import NotSignedIn
from discreet.noise.source import fresh_id
from discreet.service import joining
from discreet.service.house import House
from discreet.service.visitor import Visitor

__all__ = ["COOKIE", "MOST_PAGES", "MOST_PAGES_OF_MEMBER", "Sessions"]

COOKIE = "discreet_session"
_SECONDS = 12 * 3600.0
_MOST = 50
"""Of each member; the oldest ends when there are more."""
MOST_PAGES = 16
"""That live at the same time for one session, which is one browser."""
MOST_PAGES_OF_MEMBER = 32
"""For all sessions of one member together."""


@dataclass
class _Session:
    member: str
    token: str
    ends: float
    unseen: str | None
    """A token that was made at this sign-in and that nobody has put in a safe place yet."""
    pages: dict[str, int] = field(default_factory=dict)
    """By their ids, the older the smaller."""


class Sessions:
    """The sessions of one process."""

    def __init__(self, house: House, clock: Callable[[], float] = time.monotonic) -> None:
        """Of visitors of ``house``; ``clock`` tells seconds that never run backwards."""
        self._house = house
        self._clock = clock
        self._open: dict[str, _Session] = {}
        self._drawn = 0
        """How many pages were ever drawn."""
        self._lock = Lock()

    def start(self, token: str, address: str) -> str:
        """The id of a new session for whoever shows this token at this address; one that is not valid is refused.

        A one-time token is used up, and the session holds the lasting one that it was exchanged for.
        """
        issued = joining.sign_in(self._house, token, address)
        member, lasting = issued.token.member, issued.secret
        now, found = self._clock(), fresh_id()
        with self._lock:
            living = {key: one for key, one in self._open.items() if one.ends > now}
            own = [key for key, one in living.items() if one.member == member]
            for key in own[: max(0, len(own) + 1 - _MOST)]:
                del living[key]
            living[found] = _Session(member, lasting, now + _SECONDS, None if lasting == token else lasting)
            self._open = living
        return found

    def unseen(self, session: str | None) -> str | None:
        """The lasting token that is to be shown, until somebody said that they have it."""
        known = self._open.get(session or "")
        return None if known is None else known.unseen

    def seen(self, session: str | None) -> None:
        """Show that token no more."""
        known = self._open.get(session or "")
        if known is not None:
            known.unseen = None

    def end(self, session: str | None) -> None:
        """Forget a session, and with it whose pages were whose."""
        with self._lock:
            self._open.pop(session or "", None)

    def visitor(self, session: str | None) -> Visitor | None:
        """Who this session belongs to; nobody once it or its token has ended."""
        known = self._open.get(session or "")
        if known is None or known.ends <= self._clock():
            return None
        try:
            return self._house.members.visitor(known.token)
        except NotSignedIn:
            self.end(session)
            return None

    def draw(self, session: str | None, page: str, listens: Callable[[str], bool]) -> list[str]:
        """Remember that a page was drawn for a session; the pages that give way to it.

        ``listens`` says of a page whether a browser listens to it.
        """
        with self._lock:
            known = self._open.get(session or "")
            if known is None:
                return []
            others = [one for one in self._open.values() if one.member == known.member and one is not known]
            around = {name: age for one in others for name, age in one.pages.items()}

            def first(pages: dict[str, int], most: int) -> list[str]:
                ordered = sorted(pages, key=lambda name: (listens(name), pages[name]))
                return ordered[: max(0, len(pages) + 1 - most)]

            gone = first(known.pages, MOST_PAGES)
            left = {name: age for name, age in (known.pages | around).items() if name not in gone}
            gone += first(left, MOST_PAGES_OF_MEMBER)
            self._drawn += 1
            known.pages[page] = self._drawn
        return gone

    def drop(self, session: str | None, page: str) -> None:
        """Forget a page that is gone."""
        known = self._open.get(session or "")
        if known is not None:
            known.pages.pop(page, None)

    def may_use(self, session: str | None, page: str) -> bool:
        """Whether this session is still valid and this page was drawn for it."""
        known = self._open.get(session or "")
        return known is not None and page in known.pages and self.visitor(session) is not None
