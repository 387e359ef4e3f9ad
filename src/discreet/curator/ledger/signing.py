"""The curator's signature: an Ed25519 key that stays in its folder, and a public half that anybody may have.

Any 32 bytes are a key, so a file of which a bit was flipped is another key and not a broken one. A key is known by its
fingerprint, which the ledger records when the key begins to be used.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from discreet.errors import LedgerError
from discreet.storage.files import alone_in, write_whole

__all__ = ["KEY_FILE", "Signer", "fingerprint_key", "is_signed", "write_new_key"]


KEY_FILE = "signing.key"
"""The name of its file in the curator's folder."""


class Signer:
    """Signs with the key in a folder, making one on first use."""

    def __init__(self, folder: Path, name: str = KEY_FILE) -> None:
        """With the key in the file of this name."""
        path = folder / name
        if not path.exists():
            write_new_key(path)
        self._path, self._stamp = path, _stamp(path)
        try:
            self._key = Ed25519PrivateKey.from_private_bytes(path.read_bytes())
        except ValueError:
            remedy = "put it back; or remove it for a new one, where nobody needs to check older certificates"
            raise LedgerError("the signing key must be whole", str(path), remedy) from None

    @property
    def public_key(self) -> bytes:
        """What others need to check a signature."""
        return self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    @property
    def fingerprint(self) -> str:
        """What the key is known by."""
        return fingerprint_key(self.public_key)

    def is_current(self) -> bool:
        """Whether the file is the one that was read: another process may have put a new key in its place."""
        return _stamp(self._path) == self._stamp

    def sign(self, message: bytes) -> bytes:
        """The signature of ``message``."""
        return self._key.sign(message)


def write_new_key(path: Path) -> None:
    """A new key, which is there as a whole or not at all; who comes at the same moment takes the same one."""
    key = Ed25519PrivateKey.generate().private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
    try:
        with alone_in(path.parent):
            if not path.exists():
                write_whole(path, key)
    except OSError as fault:
        rule, remedy = "there must be room for the signing key", "look at the disk, then open the curator again"
        raise LedgerError(rule, f"<{type(fault).__name__}>", remedy) from None


def fingerprint_key(public_key: bytes) -> str:
    """The SHA-256 of a public key, in hexadecimal digits."""
    return hashlib.sha256(public_key).hexdigest()


def is_signed(message: bytes, signature: bytes, public_key: bytes) -> bool:
    """Whether the owner of ``public_key`` signed ``message``."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns
