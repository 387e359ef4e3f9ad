"""Who signed in at the console, in the service's database: every process knows it, also one that was started since.

The database has a hash of what the cookie says, and no secret. A session lives as long as its token does, and twelve
hours at most by the clock on the wall; one that would end later than any session does, because the clock was set back,
is over. Signing out, or taking the token back, ends it in every process at once.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable

from discreet.noise.source import fresh_id
from discreet.service.auth.members import Token
from discreet.service.auth.roles import MemberRole, Principal
from discreet.service.storage import ServiceStore
from discreet.storage.database import Database
from discreet.time_limits import SESSION

__all__ = ["MOST_SESSIONS", "KeptSessions", "end_all_sessions"]


MOST_SESSIONS = 50
"""Of each member; the oldest ends when there are more."""
_SLACK = 60.0
"""Seconds by which clocks may be set back without ending sessions."""
_PRINCIPAL = (
    "SELECT member.name, member.role, token.id FROM session JOIN token ON token.id = session.token"
    " JOIN member ON member.name = token.member"
    " WHERE session.hash = ? AND session.ends > ? AND session.ends <= ?"
    " AND token.revoked IS NULL AND token.once = 0 AND token.expires > ? AND member.removed IS NULL"
)
_TOO_MANY = (
    "DELETE FROM session WHERE member = ? AND hash NOT IN"
    " (SELECT hash FROM session WHERE member = ? ORDER BY ends DESC, hash LIMIT ?)"
)


class KeptSessions:
    """The sessions in a store."""

    def __init__(self, store: ServiceStore, clock: Callable[[], float] = time.time) -> None:
        """In ``store``; ``clock`` tells seconds since 1970."""
        self._store = store
        self._clock = clock

    def start(self, token: Token) -> str:
        """A new session of whoever holds this token: what its cookie says, which is kept nowhere."""
        secret, now = fresh_id(), self._clock()

        def part(database: Database) -> None:
            database.execute("DELETE FROM session WHERE ends <= ? OR ends > ?", (now, now + SESSION + _SLACK))
            database.execute(_TOO_MANY, (token.member, token.member, MOST_SESSIONS - 1))
            values = (_hash(secret), token.member, token.id, now + SESSION)
            database.execute("INSERT INTO session (hash, member, token, ends) VALUES (?, ?, ?, ?)", values)

        self._store.write(part)
        return secret

    def end(self, secret: str) -> None:
        """End a session."""
        statement = "DELETE FROM session WHERE hash = ?"
        self._store.write(lambda database: database.execute(statement, (_hash(secret),)), repeatable=True)

    def principal(self, secret: str) -> Principal | None:
        """Whose session it is; nobody's once it or its token has ended."""
        now = self._clock()
        rows = self._store.rows(_PRINCIPAL, (_hash(secret), now, now + SESSION + _SLACK, now))
        return Principal(rows[0][0], MemberRole(rows[0][1]), rows[0][2]) if rows else None


def end_all_sessions(store: ServiceStore) -> None:
    """End every session of everybody, as where a database was put back and those come back who had signed out."""
    store.write(lambda database: database.execute("DELETE FROM session"), repeatable=True)


def _hash(secret: str) -> str:
    """What cannot be guessed needs no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
