"""The certificates that httpx trusts, read once: each client that is not told reads them again, which takes 40 ms."""

from __future__ import annotations

import ssl
from functools import cache

import httpx


@cache
def trusted() -> ssl.SSLContext:
    """What ``verify`` is by default."""
    return httpx.create_ssl_context()
