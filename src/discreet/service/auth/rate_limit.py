"""Limits on how often: each principal has a number of requests a minute, and each address a number of failed sign-ins.

Every process counts for itself and forgets when it ends. A valid token is never refused for the failures of others.
"""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from discreet.errors import TooManyRequests
from discreet.service.auth.roles import Principal

__all__ = ["Limits", "TokenBucket"]


_FAILURES = 30
_TOKENS = 60
_MINUTE, _HOUR = 60.0, 3600.0
_HOME = 64  # bits of an IPv6 address that belong to one household or host


class TokenBucket:
    """A token bucket per key: a burst of ``most``, refilled over ``seconds``.

    >>> rates = TokenBucket(2, 60, clock=lambda: 0.0)
    >>> rates.take("ana"), rates.take("ana"), rates.wait("ana"), rates.wait("ben")
    (True, True, 30.0, 0.0)
    """

    def __init__(
        self, most: int, seconds: float, *, keys: int = 10_000, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """At most ``keys`` keys are remembered; the one that was not seen for longest is forgotten first."""
        self._each = seconds / most
        self._seconds = seconds
        self._keys = keys
        self._clock = clock
        self._paid: OrderedDict[str, float] = OrderedDict()  # per key, when everything it took will be given back
        self._lock = Lock()

    def wait(self, key: str) -> float:
        """Seconds until the key may do it again; 0 where it may now."""
        with self._lock:
            return self._wait(key, self._clock())

    def take(self, key: str) -> bool:
        """Do it once more; False, and nothing taken, where it must wait."""
        with self._lock:
            now = self._clock()
            if self._wait(key, now) > 0:
                return False
            self._paid[key] = max(self._paid.get(key, now), now) + self._each
            self._paid.move_to_end(key)
            while len(self._paid) > self._keys:
                self._paid.popitem(last=False)
            return True

    def _wait(self, key: str, now: float) -> float:
        return max(0.0, self._paid.get(key, now) + self._each - now - self._seconds)


class Limits:
    """The limits of one service."""

    def __init__(self, requests_per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        """For principals who may each send so many requests a minute."""
        self._most = requests_per_minute
        self._requests = TokenBucket(requests_per_minute, _MINUTE, clock=clock)
        self._failures = TokenBucket(_FAILURES, _MINUTE, clock=clock)
        self._tokens = TokenBucket(_TOKENS, _HOUR, clock=clock)

    def request(self, principal: Principal) -> None:
        """Count a request of a principal, whichever of their tokens they showed; one too many is refused."""
        if not self._requests.take(principal.name):
            rule = f"a client may send {self._most} requests a minute"
            raise TooManyRequests(rule, "<more>", "wait a little", after=self._requests.wait(principal.name))

    def token(self, principal: Principal) -> None:
        """Count a token that somebody makes for themselves: each stays in the audit trail, so there is a limit."""
        if not self._tokens.take(principal.name):
            rule = f"a member may make {_TOKENS} tokens an hour"
            raise TooManyRequests(rule, "<more>", "use one that you have", after=self._tokens.wait(principal.name))

    def failure(self, address: str) -> None:
        """Count a sign-in that failed; one too many from the same address is refused in words of its own."""
        key = _client_network(address)
        if not self._failures.take(key):
            rule = f"an address may show a wrong token {_FAILURES} times a minute"
            raise TooManyRequests(rule, "<more>", "wait, and check the token", after=self._failures.wait(key))


def _client_network(address: str) -> str:
    """The address, or its network where one host owns a whole network of addresses."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if found.version == 4:
        return address
    return str(ipaddress.ip_network((found.packed, _HOME), strict=False))
