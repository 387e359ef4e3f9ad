"""Members and their tokens: names that are taken for good, secrets that are shown once and kept as argon2 hashes.

Whether a token is still good is read from the database at every request, so that one which is taken back in one process
ends in all of them. A token expires by the clock on the wall; that it was taken back does not depend on any clock.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

from argon2 import PasswordHasher

from discreet.catalog.names import check_name, check_text
from discreet.errors import InvalidValue, NotFound, NotSignedIn
from discreet.noise.source import fresh_id
from discreet.service.audit_trail import COMMAND, note
from discreet.service.auth.password import StoredHash, Verifier
from discreet.service.auth.roles import MemberRole, Principal
from discreet.service.storage import ServiceStore
from discreet.storage.database import Database

__all__ = ["FIRST_OWNER", "LEAST_DAYS", "LONGEST_DAYS", "Issued", "Member", "Members", "Token"]


FIRST_OWNER = "owner"
"""The name of the member that a service without owners starts with."""
LONGEST_DAYS = 3650.0
"""No token lives longer."""
LEAST_DAYS = 1 / 1440
"""A minute: a token that lives shorter is over before it is copied."""
_FORM = re.compile(r"discreet_([0-9a-f]{16})_([0-9a-f]{64})\Z")
_DAY = 86_400.0
_LONGEST_LABEL = 100
_MOST_TOKENS = 50
"""That one member may have at the same time."""
_ENDED_KEPT = 50
"""Of each member: the latest that ended are kept for the record, so that the database does not grow without end."""
_TOKEN = "SELECT id, member, label, once, made, expires, revoked FROM token"  # noqa: S105  no secret
_MEMBER = "SELECT name, role, since, removed FROM member"
_GOOD = "revoked IS NULL AND expires > ?"
_GOOD_TOKENS = f"SELECT count(*) FROM token WHERE member = ? AND {_GOOD}"  # noqa: S608  words of our own
_OTHER_OWNERS = "SELECT count(*) FROM member WHERE role = 'owner' AND removed IS NULL AND name <> ?"


@dataclass(frozen=True)
class Member:
    """Somebody who may sign in."""

    name: str
    """Taken for good, also after they left."""
    role: MemberRole
    """What they are to the service."""
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
    """What it is for, in the words of whoever issued it."""
    once: bool
    """Whether it is used up by signing in."""
    made: float
    """When it was issued, in seconds since 1970."""
    expires: float
    """When it ends."""
    revoked: float | None
    """When it was taken back or used up; None while it was not."""


@dataclass(frozen=True)
class Issued:
    """A token that was issued, and its secret."""

    secret: str
    """The whole token, to be shown once: it is kept nowhere."""
    token: Token
    """What is kept of it."""


class Members:
    """The members in a store."""

    def __init__(
        self, store: ServiceStore, clock: Callable[[], float] = time.time, hasher: PasswordHasher | None = None
    ) -> None:
        """In ``store``; ``clock`` tells seconds since 1970, and ``hasher`` is argon2id with costs of its own choice."""
        self._store = store
        self._clock = clock
        self._verifier = Verifier(hasher)

    # Members.

    def all(self, after: str | None = None, limit: int | None = None) -> list[Member]:
        """Every member by name, also former ones; or ``limit`` of those behind a name."""
        part = "" if limit is None else f" LIMIT {limit:d}"
        rows = self._store.rows(f"{_MEMBER} WHERE name > ? ORDER BY name{part}", (after or "",))
        return [_member(row) for row in rows]

    def find(self, name: str) -> Member | None:
        """The member of this name, also a former one; None where nobody ever had it."""
        rows = self._store.rows(f"{_MEMBER} WHERE name = ?", (name,))
        return _member(rows[0]) if rows else None

    def add(self, name: str, role: MemberRole, by: str | None = None) -> Member:
        """A new member; a name that was ever taken is refused. ``by`` whom stands in the audit trail."""
        check_name(name, "a member's name")
        made = Member(name, role, self._clock(), None)

        def part(database: Database) -> None:
            if database.execute("SELECT 1 FROM member WHERE name = ?", (name,)).fetchone():
                raise InvalidValue("a member's name must be new", name, "names of former members stay taken")
            _insert_member(database, made)
            note(database, "member added", by or COMMAND, member=name, role=str(role))

        self._store.write(part)
        return made

    def remove(self, name: str, by: str | None = None) -> None:
        """Let a member go; all their tokens end at once, and their name stays taken."""
        now = self._clock()

        def part(database: Database) -> None:
            if _role(database, name) == MemberRole.OWNER and _count(database, _OTHER_OWNERS, name) == 0:
                raise InvalidValue("a service must keep an owner", name, "add another owner first")
            database.execute("UPDATE member SET removed = ? WHERE name = ?", (now, name))
            database.execute("UPDATE token SET revoked = ? WHERE member = ? AND revoked IS NULL", (now, name))
            note(database, "member removed", by or COMMAND, member=name)

        self._store.write(part)
        for token in self.tokens(name):
            self._verifier.forget(token.id)

    def start(self) -> Issued | None:
        """The one-time token of the first owner, who joins now; None where there is an owner."""
        public, secret = _fresh()
        kept = self._verifier.kept(secret)
        now = self._clock()

        def part(database: Database) -> Token | None:
            if _count(database, _OTHER_OWNERS, "") > 0:
                return None
            first = Member(_free_name(database), MemberRole.OWNER, now, None)
            token = Token(public, first.name, "the first sign-in", True, now, now + _DAY, None)
            _insert_member(database, first)
            _insert_token(database, token, kept)
            note(database, "member added", COMMAND, member=first.name, role=str(first.role), token=public)
            return token

        token = self._store.write(part)
        return None if token is None else Issued(_whole(public, secret), token)

    # Tokens.

    def tokens(self, member: str) -> list[Token]:
        """The tokens of a member, latest first, also some that have ended."""
        rows = self._store.rows(f"{_TOKEN} WHERE member = ? ORDER BY made DESC, id", (member,))
        return [_token(row) for row in rows]

    def token(self, public: str) -> Token:
        """The token with this public part."""
        rows = self._store.rows(f"{_TOKEN} WHERE id = ?", (public,))
        if not rows:
            raise NotFound("there must be such a token", public)
        return _token(rows[0])

    def is_good(self, token: Token) -> bool:
        """Whether the token was neither taken back nor has expired."""
        return token.revoked is None and token.expires > self._clock()

    @staticmethod
    def check_days(days: float) -> None:
        """Refuse a time that no token may live for."""
        if isinstance(days, bool) or not LEAST_DAYS <= days <= LONGEST_DAYS:
            raise InvalidValue(f"a token must live for a minute at least, and {LONGEST_DAYS:g} days at most", days)

    def issue(self, member: str, *, label: str = "", days: float, once: bool = False, by: str | None = None) -> str:
        """A new token for a member, whole: it is not kept and cannot be shown again."""
        return self.issued(member, label=label, days=days, once=once, by=by).secret

    def issued(self, member: str, *, label: str = "", days: float, once: bool = False, by: str | None = None) -> Issued:
        """A new token for a member, and what is kept of it."""
        _check_label(label)
        self._check_few(self._store.rows(_GOOD_TOKENS, (member, self._clock()))[0][0])  # before the work of hashing
        made, kept = self._made(member, label, days, once)

        def part(database: Database) -> None:
            _role(database, member)
            self._forget_ended(database, member)
            _insert_token(database, made.token, kept)
            note(database, "token made", by or COMMAND, member=member, token=made.token.id, label=label, once=once)

        self._store.write(part)
        return made

    def revoke(self, public: str, by: str | None = None) -> None:
        """Take a token back; one that has ended stays as it is."""
        whose = self.token(public).member

        def part(database: Database) -> None:
            ended = "UPDATE token SET revoked = ? WHERE id = ? AND revoked IS NULL RETURNING id"
            if database.execute(ended, (self._clock(), public)).fetchone() is not None:
                note(database, "token revoked", by or COMMAND, member=whose, token=public)

        self._store.write(part, repeatable=True)
        self._verifier.forget(public)

    # Signing in.

    def principal(self, token: str) -> Principal:
        """Who shows this token; one that is unknown, wrong, expired or taken back is refused in the same words."""
        public, name, role, once = self._shown(token)
        if once:
            remedy = "exchange it first: POST /api/v1/sign-in, or sign in at the console"
            raise NotSignedIn("a one-time token is good for signing in alone", "<a one-time token>", remedy)
        return Principal(name, role, public)

    def is_once(self, token: str) -> bool:
        """Whether this is a one-time token; one that is not good is refused."""
        return self._shown(token)[3]

    def exchange(self, token: str, days: float) -> str:
        """Use up a one-time token for one that lasts ``days``; of two who try at once, one succeeds."""
        public, name, _, once = self._shown(token)
        if not once:
            raise InvalidValue("only a one-time token is exchanged", "<a lasting one>", "use it as it is")
        made, kept = self._made(name, "signed in with a one-time token", days, once=False)
        now = self._clock()

        def part(database: Database) -> None:
            used = database.execute(
                "UPDATE token SET revoked = ? WHERE id = ? AND revoked IS NULL AND expires > ?"
                " AND EXISTS (SELECT 1 FROM member WHERE member.name = token.member AND removed IS NULL) RETURNING id",
                (now, public, now),
            )
            if used.fetchone() is None:
                raise _refusal()
            self._forget_ended(database, name)
            _insert_token(database, made.token, kept)
            note(database, "token exchanged", name, token=made.token.id, used=public)

        self._store.write(part)
        self._verifier.forget(public)
        return made.secret

    def _shown(self, token: str) -> tuple[str, str, MemberRole, bool]:
        """The public part, the member, their role and whether it is good for once, of a token that is good."""
        form = _FORM.match(token)
        if form is None or not self._verifier.is_right(form[1], form[2], lambda: self._kept(form[1])):
            raise _refusal()
        found = self._good(form[1])  # also after the secret was verified, which takes a while
        if found is None:
            raise _refusal()
        name, role, once, *_ = found
        return form[1], name, MemberRole(role), bool(once)

    def _kept(self, public: str) -> StoredHash | None:
        found = self._good(public)
        return None if found is None else StoredHash(*found[3:])

    def _good(self, public: str) -> tuple[Any, ...] | None:
        rows = self._store.rows(
            "SELECT name, role, once, mark, hash FROM token JOIN member ON member.name = token.member"
            " WHERE id = ? AND revoked IS NULL AND removed IS NULL AND expires > ?",
            (public, self._clock()),
        )
        return rows[0] if rows else None

    def _made(self, member: str, label: str, days: float, once: bool) -> tuple[Issued, StoredHash]:
        """A token that is not in the database yet, and what is kept of its secret."""
        self.check_days(days)
        public, secret = _fresh()
        now = self._clock()
        token = Token(public, member, label, once, now, now + days * _DAY, None)
        return Issued(_whole(public, secret), token), self._verifier.kept(secret)

    def _forget_ended(self, database: Database, member: str) -> None:
        """Refuse one token too many, and forget those that ended long ago."""
        self._check_few(_count(database, _GOOD_TOKENS, member, self._clock()))
        database.execute(
            f"DELETE FROM token WHERE member = ? AND NOT ({_GOOD}) AND id NOT IN"  # noqa: S608
            f" (SELECT id FROM token WHERE member = ? AND NOT ({_GOOD}) ORDER BY made DESC LIMIT {_ENDED_KEPT})",
            (member, self._clock()) * 2,
        )

    @staticmethod
    def _check_few(good: int) -> None:
        if good >= _MOST_TOKENS:
            raise InvalidValue(f"a member may have {_MOST_TOKENS} tokens", "<one more>", "revoke one that is not used")


def _fresh() -> tuple[str, str]:
    return fresh_id()[:16], fresh_id() + fresh_id()


def _whole(public: str, secret: str) -> str:
    return f"discreet_{public}_{secret}"


def _member(row: tuple[Any, ...]) -> Member:
    name, role, since, removed = row
    return Member(name, MemberRole(role), since, removed)


def _token(row: tuple[Any, ...]) -> Token:
    public, member, label, once, made, expires, revoked = row
    return Token(public, member, label, bool(once), made, expires, revoked)


def _free_name(database: Database) -> str:
    """A name for the first owner that nobody ever had."""
    taken = {name for (name,) in database.execute("SELECT name FROM member")}
    names = (FIRST_OWNER if number == 1 else f"{FIRST_OWNER} {number}" for number in count(1))
    return next(name for name in names if name not in taken)


def _insert_member(database: Database, made: Member) -> None:
    database.execute("INSERT INTO member (name, role, since) VALUES (?, ?, ?)", (made.name, str(made.role), made.since))


def _insert_token(database: Database, made: Token, kept: StoredHash) -> None:
    database.execute(
        "INSERT INTO token (id, member, mark, hash, label, once, made, expires) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (made.id, made.member, kept.mark, kept.hash, made.label, int(made.once), made.made, made.expires),
    )


def _role(database: Database, name: str) -> str:
    """The role of a member; whoever is none, or left, is not found."""
    found = database.execute("SELECT role FROM member WHERE name = ? AND removed IS NULL", (name,)).fetchone()
    if found is None:
        raise NotFound("there must be such a member", name)
    return str(found[0])


def _count(database: Database, statement: str, *values: str | float) -> int:
    return int(next(iter(database.execute(statement, values)))[0])


def _check_label(label: str) -> None:
    check_text(label, "a label")
    if len(label) > _LONGEST_LABEL or not label.isprintable():
        raise InvalidValue(f"a label must have at most {_LONGEST_LABEL} characters, all printable", label)


def _refusal() -> NotSignedIn:
    remedy = "it may have expired or been taken back: ask an owner for a new one"
    return NotSignedIn("a request must carry a valid token", "<another>", remedy)
