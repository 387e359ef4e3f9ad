"""Members and their tokens: names that are taken for good, secrets that are shown once and kept as argon2 hashes."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError

from discreet.catalog.names import checked_name
from discreet.errors import InvalidValue, NotFound, NotSignedIn
from discreet.noise.source import fresh_id
from discreet.service.role import Role
from discreet.service.store import Store
from discreet.service.visitor import Visitor

__all__ = ["Member", "Members", "Token"]

_FORM = re.compile(r"discreet_([0-9a-f]{16})_([0-9a-f]{64})\Z")
_DAY = 86_400.0


@dataclass(frozen=True)
class Member:
    """Somebody who may sign in."""

    name: str
    """Taken for good, also after they left."""
    role: Role
    """What they are to the house."""
    since: float
    """When they joined, in seconds since 1970."""
    removed: float | None
    """When they left; None while they are here."""


@dataclass(frozen=True)
class Token:
    """A token as it is kept: without its secret."""

    id: str
    """The public part."""
    member: str
    """Whose it is."""
    label: str
    """What it is for, in the owner's words."""
    once: bool
    """Whether it is used up by signing in."""
    made: float
    """When it was issued, in seconds since 1970."""
    expires: float
    """When it ends."""
    revoked: float | None
    """When it was taken back; None while it was not."""


class Members:
    """The members in a store."""

    def __init__(
        self, store: Store, clock: Callable[[], float] = time.time, hasher: PasswordHasher | None = None
    ) -> None:
        """In ``store``; ``clock`` tells seconds since 1970, and ``hasher`` is argon2id with costs of its own choice."""
        self._store = store
        self._clock = clock
        self._hasher = hasher or PasswordHasher()
        self._known: dict[bytes, str] = {}  # digests of tokens that were verified → their ids
        self._lock = Lock()

    def add(self, name: str, role: Role) -> Member:
        """A new member; a name that was ever taken is refused."""
        checked_name(name, "a member's name")
        with self._store.writing() as database:
            if database.execute("SELECT 1 FROM member WHERE name = ?", (name,)).fetchone():
                raise InvalidValue("a member's name must be new", name, "names of former members stay taken")
            made = Member(name, role, self._clock(), None)
            database.execute("INSERT INTO member (name, role, since) VALUES (?, ?, ?)", (name, role, made.since))
        return made

    def all(self) -> list[Member]:
        """Every member by name, also former ones."""
        rows = self._store.database.execute("SELECT name, role, since, removed FROM member ORDER BY name")
        return [Member(name, Role(role), since, removed) for name, role, since, removed in rows]

    def issue(self, member: str, *, label: str = "", days: float, once: bool = False) -> str:
        """A new token for a member, whole: it is not kept and cannot be shown again."""
        if member not in {one.name for one in self.all() if one.removed is None}:
            raise NotFound("there must be such a member", member)
        public, secret = fresh_id()[:16], fresh_id() + fresh_id()
        now = self._clock()
        with self._store.writing() as database:
            database.execute(
                "INSERT INTO token (id, member, hash, label, once, made, expires) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (public, member, self._hasher.hash(secret), label, int(once), now, now + days * _DAY),
            )
        return f"discreet_{public}_{secret}"

    def visitor(self, token: str) -> Visitor:
        """Who shows this token; one that is unknown, wrong, expired or taken back is refused in the same words."""
        found = _FORM.match(token)
        if found is None or not self._is_right(found[1], found[2]):
            raise _refusal()
        row = self._store.database.execute(
            "SELECT name, role FROM token JOIN member ON name = member"
            " WHERE id = ? AND revoked IS NULL AND removed IS NULL AND expires > ?",
            (found[1], self._clock()),
        ).fetchone()
        if row is None:
            raise _refusal()
        return Visitor(row[0], Role(row[1]), found[1])

    def _is_right(self, public: str, secret: str) -> bool:
        digest = hashlib.sha256(secret.encode()).digest()
        if self._known.get(digest) == public:
            return True
        row = self._store.database.execute("SELECT hash FROM token WHERE id = ?", (public,)).fetchone()
        if row is None:
            return False
        try:
            with self._lock:  # each takes much memory on purpose, so they go one by one
                self._hasher.verify(row[0], secret)
        except VerificationError:
            return False
        self._known[digest] = public
        return True


def _refusal() -> NotSignedIn:
    return NotSignedIn("a request must carry a valid token", "<another>", "ask an owner for a new one")
