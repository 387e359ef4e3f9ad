"""The curator's signature: an Ed25519 key that stays in its folder, and a public half that anybody may have."""

from __future__ import annotations

import os
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from discreet.errors import LedgerError

__all__ = ["Signer", "is_signed"]


class Signer:
    """Signs with the key in a folder, making one on first use."""

    def __init__(self, folder: Path) -> None:
        path = folder / "signing.key"
        if not path.exists():
            key = Ed25519PrivateKey.generate().private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
            file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            try:
                os.write(file, key)
                os.fsync(file)
            finally:
                os.close(file)
        try:
            self._key = Ed25519PrivateKey.from_private_bytes(path.read_bytes())
        except ValueError:
            raise LedgerError("the signing key must be whole", str(path), "put it back") from None

    @property
    def public_key(self) -> bytes:
        """What others need to check a signature."""
        return self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    def sign(self, message: bytes) -> bytes:
        """The signature of ``message``."""
        return self._key.sign(message)


def is_signed(message: bytes, signature: bytes, public_key: bytes) -> bool:
    """Whether the owner of ``public_key`` signed ``message``."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True
