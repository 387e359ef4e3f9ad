"""A chain of records in which each one carries the hash of the one before it.

Changing, removing or reordering a record changes every hash after it, so knowing the last hash is knowing that
nothing before it was touched.

>>> first = link(GENESIS, {"kind": "start"})
>>> link(first, {"b": 1, "a": 2}) == link(first, {"a": 2, "b": 1})
True
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

__all__ = ["GENESIS", "canonical", "link"]

GENESIS = bytes(32)
"""What the first record carries in place of a hash."""


def canonical(record: Mapping[str, Any]) -> bytes:
    """The one spelling of a record that is hashed."""
    text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode()


def link(previous: bytes, record: Mapping[str, Any] | bytes) -> bytes:
    """The hash of a record and everything before it."""
    body = record if isinstance(record, bytes) else canonical(record)
    return hashlib.sha256(previous + body).digest()
