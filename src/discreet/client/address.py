"""The address of a service, and whether a token may travel there.

>>> checked_address("https://data.example.org/", insecure=False)
'https://data.example.org'
>>> checked_address("http://data.example.org", insecure=False)
Traceback (most recent call last):
    ...
discreet.errors.InvalidValue: a token must not travel unencrypted to another computer, got 'http://data.example.org'; \
use https, or insecure=True where nobody listens
"""

from __future__ import annotations

import ipaddress
from urllib.parse import SplitResult, urlsplit

from discreet.errors import InvalidType, InvalidValue

__all__ = ["checked_address", "is_encrypted"]


def checked_address(url: str, *, insecure: bool) -> str:
    """The address without a slash at its end."""
    if not isinstance(url, str):
        raise InvalidType("the address of a service must be text", url)
    parts = _parts(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidValue("the address of a service begins with https://", url)
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise InvalidValue("the address of a service has no name, question mark or # in it", "<another>")
    if parts.scheme == "http" and not insecure and not _is_loopback(parts.hostname):
        rule = "a token must not travel unencrypted to another computer"
        raise InvalidValue(rule, url, "use https, or insecure=True where nobody listens")
    return url.rstrip("/")


def is_encrypted(address: str) -> bool:
    """Whether it is reached over TLS."""
    return address.startswith("https:")


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port  # a port that is none raises here
    except ValueError:
        raise InvalidValue("the address of a service must be a web address", url) from None
    return parts


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
