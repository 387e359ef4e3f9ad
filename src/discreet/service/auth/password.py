"""Verifying secrets against their argon2 hashes, one at a time, and remembering those that were right.

A secret has 256 random bits, so what protects it is that nobody can guess them, and not what a guess costs: the costs
of argon2 are small, so that a crowd who signs in after a restart does not wait. So that nobody can keep all others
waiting by sending wrong secrets, a few bits of another hash are kept as well: they tell a wrong secret from the right
one at once, but for one in four thousand million. Whoever steals the database still has 224 bits to guess.
"""

from __future__ import annotations

import hashlib
import hmac
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHash, VerificationError

__all__ = ["StoredHash", "Verifier"]


_REMEMBERED = 10_000
_PASSES, _KIBIBYTES = 1, 1024
"""What a verification costs: less than a millisecond."""
_MARK = 8  # hexadecimal digits


@dataclass(frozen=True)
class StoredHash:
    """What is kept of a secret."""

    mark: str
    """The first digits of its SHA-256."""
    hash: str
    """Its argon2id hash."""


class Verifier:
    """What was verified in this process."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        """With argon2id at small costs, or those of ``hasher``."""
        self._hasher = hasher or PasswordHasher(_PASSES, _KIBIBYTES, parallelism=1)
        self._right: OrderedDict[bytes, str] = OrderedDict()  # digests of whole tokens → their public parts
        self._at_work = Lock()
        self._lock = Lock()

    def kept(self, secret: str) -> StoredHash:
        """What to keep of a secret."""
        with self._at_work:
            return StoredHash(_mark(secret), self._hasher.hash(secret))

    def is_right(self, public: str, secret: str, found: Callable[[], StoredHash | None]) -> bool:
        """Whether the secret is that of a token; ``found`` tells what is kept of it, None where the token has ended."""
        digest = hashlib.sha256(f"{public} {secret}".encode()).digest()
        if self._remembers(digest):
            return True
        kept = found()
        if kept is None or not hmac.compare_digest(kept.mark, _mark(secret)):
            return False
        with self._at_work:  # whoever waited here for the same token finds it remembered
            return self._remembers(digest) or self._verified(digest, public, secret, kept)

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

    def _verified(self, digest: bytes, public: str, secret: str, kept: StoredHash) -> bool:
        try:
            self._hasher.verify(kept.hash, secret)
        except (VerificationError, InvalidHash):
            return False
        with self._lock:
            self._right[digest] = public
            while len(self._right) > _REMEMBERED:
                self._right.popitem(last=False)
        return True


def _mark(secret: str) -> str:
    return hashlib.sha256(b"discreet token " + secret.encode()).hexdigest()[:_MARK]
