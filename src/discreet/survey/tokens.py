"""Secrets in links: whoever holds one may answer once, and whoever holds the owner's may see the results.

A token has 128 bits of the operating system's randomness, so that nobody guesses one. The store keeps its hash alone,
so that nobody who reads the store can answer in another's name.

>>> len(fresh_token()), is_token(fresh_token()), is_token("no")
(32, True, False)
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

from discreet.noise.source import fresh_id

__all__ = ["fresh_token", "hash_of", "is_token"]

_FORM = re.compile(r"[0-9a-f]{32}\Z")


def fresh_token() -> str:
    """A new token."""
    return fresh_id()


def is_token(found: Any) -> bool:
    """Whether this has the form of a token."""
    return isinstance(found, str) and _FORM.match(found) is not None


def hash_of(token: str) -> bytes:
    """What is stored of a token."""
    return hashlib.sha256(b"discreet survey " + token.encode()).digest()
