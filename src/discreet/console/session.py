"""Sessions of the console, and the pages that were drawn for each.

A session is kept in the service's database and known to every process; its pages live in the process that draws them. A
page belongs to its session: what a browser sends to it counts only when it comes from there. A page takes memory for
as long as it lives, so a session and a member have a number of them; when it is reached, one gives way to the next: the
oldest that no browser listens to, or the oldest.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from discreet.service.auth.roles import PEOPLE, Principal
from discreet.service.auth.sessions import KeptSessions
from discreet.service.operations import members as members_ops
from discreet.service.state import ServiceState

__all__ = ["COOKIE", "MOST_PAGES", "MOST_PAGES_OF_MEMBER", "Sessions"]


COOKIE = "discreet_session"
MOST_PAGES = 16
"""That live at the same time for one session, which is one browser."""
MOST_PAGES_OF_MEMBER = 32
"""For all sessions of one member together."""
_MOST_UNSEEN = 1000


@dataclass
class _Drawn:
    member: str
    pages: dict[str, int] = field(default_factory=dict)
    """By their ids, the older the smaller."""


class Sessions:
    """The sessions of a service, and the pages of this process."""

    def __init__(self, service: ServiceState, clock: Callable[[], float] = time.time) -> None:
        """Of principals of ``service``; ``clock`` tells seconds since 1970."""
        self._service = service
        self._kept = KeptSessions(service.store, clock)
        self._drawn: dict[str, _Drawn] = {}
        self._unseen: OrderedDict[str, str] = OrderedDict()
        """Tokens that were made at a sign-in and that nobody has put in a safe place yet: a secret stays in memory."""
        self._count = 0
        """How many pages were ever drawn."""
        self._lock = Lock()

    def start(self, token: str, address: str) -> str:
        """The id of a new session for whoever shows this token at this address; one that is not valid is refused.

        A one-time token is used up, and the session is that of the lasting one that it was exchanged for.
        """
        issued = members_ops.sign_in(self._service, token, address)
        found = self._kept.start(issued.token)
        principal = self._kept.principal(found)
        if principal is not None and principal.role not in PEOPLE:
            self._kept.end(found)
            principal.must_be(PEOPLE)
        if issued.secret != token:
            with self._lock:
                self._unseen[found] = issued.secret
                while len(self._unseen) > _MOST_UNSEEN:
                    self._unseen.popitem(last=False)
        return found

    def unseen(self, session: str | None) -> str | None:
        """The lasting token that is to be shown, until somebody said that they have it."""
        return self._unseen.get(session or "")

    def seen(self, session: str | None) -> None:
        """Show that token no more."""
        self._unseen.pop(session or "", None)

    def end(self, session: str | None) -> None:
        """End a session. Its pages count until they are gone: whoever signs in again and again has no more of them."""
        if not session:
            return
        self._unseen.pop(session, None)
        if self._kept.principal(session) is not None:  # or anybody could write to the database
            self._kept.end(session)

    def principal(self, session: str | None) -> Principal | None:
        """Who this session belongs to; nobody once it or its token has ended."""
        return self._kept.principal(session) if session else None

    def draw(self, session: str | None, page: str, listens: Callable[[str], bool]) -> list[str]:
        """Remember that a page was drawn for a session; the pages that give way to it.

        ``listens`` says of a page whether a browser listens to it.
        """
        principal = self.principal(session)
        if session is None or principal is None:
            return []
        with self._lock:
            known = self._drawn.setdefault(session, _Drawn(principal.name))
            others = [one for one in self._drawn.values() if one.member == principal.name and one is not known]
            around = {name: age for one in others for name, age in one.pages.items()}

            def first(pages: dict[str, int], most: int) -> list[str]:
                ordered = sorted(pages, key=lambda name: (listens(name), pages[name]))
                return ordered[: max(0, len(pages) + 1 - most)]

            gone = first(known.pages, MOST_PAGES)
            left = {name: age for name, age in (known.pages | around).items() if name not in gone}
            gone += first(left, MOST_PAGES_OF_MEMBER)
            self._count += 1
            known.pages[page] = self._count
        return gone

    def drop(self, session: str | None, page: str) -> None:
        """Forget a page that is gone."""
        with self._lock:
            known = self._drawn.get(session or "")
            if known is not None:
                known.pages.pop(page, None)
                if not known.pages:
                    self._drawn.pop(session or "")

    def may_use(self, session: str | None, page: str) -> bool:
        """Whether this session is still valid and this page was drawn for it."""
        return self.user(session, page) is not None

    def user(self, session: str | None, page: str) -> str | None:
        """The member whose page it is, in this session; nobody where it is another's, or the session has ended."""
        known = self._drawn.get(session or "")
        principal = self.principal(session) if known is not None and page in known.pages else None
        return None if principal is None else principal.name
