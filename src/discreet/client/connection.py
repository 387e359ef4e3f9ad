"""A connection to a service: the same request is sent again until it is answered, and refusals are raised as they were.

Connections get lost, proxies time out, servers restart. Whatever is sent here may be sent twice: reading changes
nothing, and a question has a request id under which it is charged once.

A token travels to no address where others could read it.

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
import json
import math
import ssl
import time
import weakref
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Self, TypeVar
from urllib.parse import SplitResult, urlsplit

from discreet.curator.answers.plot import extra
from discreet.errors import DiscreetError, InvalidType, InvalidValue, Unreachable
from discreet.http.problems import choose_fault
from discreet.time_limits import CLIENT_ANSWER, CLIENT_CONNECT, CLIENT_FIRST_PAUSE, CLIENT_LONGEST_PAUSE
from discreet.version import __version__

if TYPE_CHECKING:
    import httpx

__all__ = ["Connection", "Reply", "checked_address", "is_encrypted", "understood"]


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


_API = "/api/v1"
_LARGEST = 512 * 2**20
"""Bytes of an answer, at most."""
_TRANSIENT = frozenset({502, 503, 504})
_REFUSED = 400
T = TypeVar("T")


class Reply:
    """What a service said."""

    def __init__(self, status: int, kind: str, data: bytes) -> None:
        """With a status, a media type and a body."""
        self.status = status
        self.kind = kind
        self.data = data

    def json(self) -> Any:
        """The body as JSON."""
        return understood(json.loads, self.data)

    def fault(self) -> DiscreetError:
        """The refusal that it is."""
        try:
            said = json.loads(self.data)
        except Exception:  # whatever stands between us and the service may speak another language
            said = None
        if not isinstance(said, Mapping) or "detail" not in said:
            return _foreign(f"<status {self.status}>")
        return choose_fault({**said, "status": self.status})


class Connection:
    """To the service at an address, in the name of a token."""

    def __init__(
        self, address: str, token: str, *, verify: ssl.SSLContext | bool, patience: float, wait: float
    ) -> None:
        """Nothing is sent yet. ``patience`` is how long to try, ``wait`` how long the service may hold a request."""
        self._httpx = extra("httpx", "client")
        self.address = address
        if not 0 <= patience < math.inf:
            raise InvalidValue("patience is a number of seconds", patience, "60, for example; 0 tries once")
        self._patience = patience
        headers = {"Authorization": f"Bearer {token}", "User-Agent": f"discreet/{__version__}"}
        self._client: httpx.Client = self._httpx.Client(
            base_url=address + _API,
            headers=headers,
            verify=verify,
            timeout=self._httpx.Timeout(CLIENT_CONNECT, read=wait + CLIENT_ANSWER),
            trust_env=is_encrypted(address),  # or a proxy would see the token of a service on this computer
        )
        weakref.finalize(self, self._client.close)  # notebooks close nothing

    def send(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        file: Callable[[], BinaryIO] | None = None,
        params: Mapping[str, Any] | None = None,
        accept: str = "application/json",
        request: str | None = None,
    ) -> Reply:
        """The reply; refusals raise. ``request`` is the id to name when the service cannot be reached.

        What is sent is a ``body`` of JSON, or a ``file``, which is opened again each time.
        """
        end, pause = time.monotonic() + self._patience, CLIENT_FIRST_PAUSE
        while True:
            reply, reason = self._try(method, path, body, file, params, accept)
            if reply is not None and reply.status not in _TRANSIENT:
                break
            if time.monotonic() + pause > end:
                raise self._given_up(reply, reason, request)
            time.sleep(pause)
            pause = min(2 * pause, CLIENT_LONGEST_PAUSE)
        if reply.status >= _REFUSED:
            raise reply.fault()
        return reply

    def close(self) -> None:
        """Let go of connections."""
        self._client.close()

    def _try(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        file: Callable[[], BinaryIO] | None,
        params: Mapping[str, Any] | None,
        accept: str,
    ) -> tuple[Reply | None, str]:
        """The reply, or None and why there is none."""
        if file is not None:
            with file() as opened:
                return self._exchange(method, path, opened, params, accept)
        return self._exchange(method, path, None if body is None else json.dumps(body).encode(), params, accept)

    def _exchange(
        self, method: str, path: str, content: bytes | BinaryIO | None, params: Mapping[str, Any] | None, accept: str
    ) -> tuple[Reply | None, str]:
        kind = "application/json" if content is None or isinstance(content, bytes) else "application/octet-stream"
        headers = {"Accept": accept, "Accept-Encoding": "identity", "Content-Type": kind}
        given = None if params is None else {name: value for name, value in params.items() if value is not None}
        try:
            with self._client.stream(method, path, content=content, params=given, headers=headers) as response:
                kind = response.headers.get("content-type", "").split(";")[0].strip().lower()
                return Reply(response.status_code, kind, _within(response)), ""
        except self._httpx.TransportError as fault:
            if _is_about_certificate(fault):
                rule = f"the certificate of {self.address} must be valid"
                raise Unreachable(rule, "<another>", "verify= names the file of a private authority") from None
            return None, f"<{type(fault).__name__}>"
        except self._httpx.HTTPError as fault:  # bytes that are no HTTP, or not in the encoding that they state
            raise _foreign(f"<{type(fault).__name__}>") from None

    def _given_up(self, reply: Reply | None, reason: str, request: str | None) -> DiscreetError:
        remedy = "it can be asked again" if request is None else f"ask again with request={request!r}: it costs once"
        if reply is not None and reply.kind == "application/problem+json":
            fault = reply.fault()
            fault.remedy = "; ".join(filter(None, [fault.remedy, remedy]))
            return fault
        rule = f"the service at {self.address} must be reachable"
        return Unreachable(rule, reason or f"<status {reply.status if reply else 0}>", remedy)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _is_about_certificate(fault: BaseException | None) -> bool:
    """Whether a failure comes from a certificate that could not be verified, which trying again does not mend."""
    while fault is not None:
        if isinstance(fault, ssl.SSLCertVerificationError):
            return True
        fault = fault.__cause__ or fault.__context__
    return False


def _within(response: httpx.Response) -> bytes:
    data = bytearray()
    for part in response.iter_bytes():
        data += part
        if len(data) > _LARGEST:
            raise _foreign(f"<more than {_LARGEST:,} bytes>")
    return bytes(data)


def understood(read: Callable[..., T], *said: Any) -> T:
    """What was said, read; whatever is not of the form that a service sends is refused in one sentence."""
    try:
        return read(*said)
    except Exception:  # a stranger's data can be wrong in any way
        raise _foreign("<something else>") from None


def _foreign(found: str) -> Unreachable:
    return Unreachable(
        "the service must answer as Discreet does", found, "check the address, and what stands before it"
    )
