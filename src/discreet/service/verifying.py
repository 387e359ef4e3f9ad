"""Verifying secrets against their argon2 hashes, one at a time, and remembering those that were right.

Each verification takes much memory and time on purpose. So that nobody can keep all others waiting, a token with which
wrong secrets were tried a few times is not tried again for a while; the right one, once verified, is not concerned.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHash, VerificationError

from discreet.errors import TooManyRequests
from discreet.service.limits import Rates

__all__ = ["Verifier"]

_REMEMBERED = 10_000
_TRIES = 5
_SECONDS = 60.0


class Verifier:
    """What was verified in this process."""

    def __init__(self, hasher: PasswordHasher | None = None, tries: Rates | None = None) -> None:
        """With argon2id of its own costs where ``hasher`` is given, and ``tries`` of wrong secrets for each token."""
        self._hasher = hasher or PasswordHasher()
        self._tries = tries or Rates(_TRIES, _SECONDS)
        self._right: OrderedDict[bytes, str] = OrderedDict()  # digests of whole tokens → their public parts
        self._at_work = Lock()
        self._lock = Lock()

    def hash(self, secret: str) -> str:
        """What is kept of a secret."""
        with self._at_work:
            return self._hasher.hash(secret)

    def is_right(self, public: str, secret: str, kept: Callable[[], str | None]) -> bool:
        """Whether the secret belongs to the token; ``kept`` finds its hash, or None where the token has ended."""
        digest = hashlib.sha256(f"{public} {secret}".encode()).digest()
        if self._remembers(digest):
            return True
        with self._at_work:  # whoever waited here for the same token finds it remembered
            return self._remembers(digest) or self._verified(digest, public, secret, kept())

    def forget(self, public: str) -> None:
        """Forget what was verified of a token."""
        with self._lock:
            for digest in [digest for digest, known in self._right.items() if known == public]:
                del self._right[digest]

    def _remembers(self, digest: bytes) -> bool:
        with self._lock:
            if digest not in self._right:
                return False
            self._right.move_to_end(digest)
            return True

    def _verified(self, digest: bytes, public: str, secret: str, kept: str | None) -> bool:
        if kept is None:
            return False
        wait = self._tries.wait(public)
        if wait > 0:
            rule = f"a wrong secret may be tried {_TRIES} times a minute"
            raise TooManyRequests(rule, "<more>", "wait, and check the token", after=wait)
        try:
            self._hasher.verify(kept, secret)
        except (VerificationError, InvalidHash):
            self._tries.take(public)
            return False
        self._remember(digest, public)
        return True

    def _remember(self, digest: bytes, public: str) -> None:
        with self._lock:
            self._right[digest] = public
            while len(self._right) > _REMEMBERED:
                self._right.popitem(last=False)
