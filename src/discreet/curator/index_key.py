"""Texts as the index of any book takes them: PostgreSQL's takes 2,704 bytes of a row, and no text with NUL.

The records of the chain hold texts as they are; what is kept beside them to be found again has such a key.

>>> index_key("surgery")
'surgery'
>>> len(index_key("x" * 10_000))
71
"""

from __future__ import annotations

import hashlib

__all__ = ["index_key"]

_LONGEST = 700
"""Bytes, so that the name of an account and two texts fit."""


def index_key(text: str) -> str:
    """The text, or the hash of one that is long. Who spells such a hash is taken for both, and so charged for both."""
    spelled = text.encode()
    if len(spelled) <= _LONGEST and b"\0" not in spelled:
        return text
    return f"sha256:{hashlib.sha256(spelled).hexdigest()}"
