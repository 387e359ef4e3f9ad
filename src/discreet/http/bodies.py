"""Bodies of requests within limits, on every route: a sender can keep a server neither full nor waiting.

What arrives is counted as it arrives, whatever the headers say about it, up to a size and within a time. JSON means one
thing: no key twice, no number that Python reads as infinity, no text that has no UTF-8. A body is read whole and
checked before an application sees it, so that no handler has to think of these. Request ids are short texts that fit
into an address as they are, which client and service check alike.

>>> check_request_id("monday-1")
'monday-1'
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

from fastapi import HTTPException, Request
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.errors import InvalidValue
from discreet.http.problems import problem
from discreet.time_limits import BODY

__all__ = ["LONGEST_ID", "BodyLimit", "StrictJson", "body_within", "check_json", "check_request_id", "has_many_values"]


_BYTES_A_SECOND = 10_000.0
_LONGEST_NUMBER = 18
_CLOSE = {"Connection": "close"}  # what is left of the body is not read


class BodyLimit:
    """Ends a request whose body is too long or too slow; whoever was reading it stops there."""

    def __init__(self, app: ASGIApp, most: Callable[[Scope], Awaitable[int]], seconds: float = BODY) -> None:
        """Around an application; ``most`` says how many bytes a request may have.

        A body must arrive within ``seconds`` and a second more for every 10,000 bytes.
        """
        self.app = app
        self._most = most
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, with a body that is watched."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = _LimitedBody(receive, await self._most(scope), self._seconds)
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            body.check_stated(Headers(scope=scope).get("content-length"))
            await self.app(scope, body.receive, watched)
        except _Refused as refusal:
            if begun:
                raise
            await problem(HTTPStatus(refusal.status_code), refusal.detail, _CLOSE)(scope, receive, send)


class _Refused(HTTPException):
    """A body that is not read to its end; a web application answers it as it answers all such exceptions."""

    def __init__(self, status: HTTPStatus, words: str) -> None:
        super().__init__(status.value, words, _CLOSE)


class _LimitedBody:
    def __init__(self, receive: Receive, most: int, seconds: float) -> None:
        self._receive = receive
        self._most = most
        self._seconds = seconds
        self._began = asyncio.get_running_loop().time()
        self._length = 0
        self._is_whole = False

    def check_stated(self, stated: str | None) -> None:
        """Refuse a body before any of it is here, where its sender says how long it is."""
        if stated is None:
            return
        if not stated.isdecimal() or len(stated) > _LONGEST_NUMBER or int(stated) > self._most:
            raise self._too_long()

    async def receive(self) -> Message:
        """The next part, in time."""
        if self._is_whole:  # what comes now is no part of the body
            return await self._receive()
        end = self._began + self._seconds + self._length / _BYTES_A_SECOND
        try:
            async with asyncio.timeout_at(end):
                message = await self._receive()
        except TimeoutError:
            words = f"A body must arrive within {self._seconds:g} seconds, and a second more for every 10,000 bytes."
            raise _Refused(HTTPStatus.REQUEST_TIMEOUT, words) from None
        self._length += len(message.get("body", b""))
        self._is_whole = not message.get("more_body", False)
        if self._length > self._most:
            raise self._too_long()
        return message

    def _too_long(self) -> _Refused:
        return _Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"The body must have at most {self._most:,} bytes.")


async def body_within(request: Request, most: int, seconds: float = BODY) -> bytes:
    """The whole body; one that is longer than ``most`` bytes or takes too long is refused before it is all here."""
    stated = request.headers.get("content-length", "0")
    if not stated.isdigit() or int(stated) > most:
        raise HTTPException(413, f"a submission must have at most {most} bytes")
    try:
        async with asyncio.timeout(seconds):
            return await _read(request, most)
    except TimeoutError:
        raise HTTPException(408, f"a submission must arrive within {seconds:g} seconds") from None


async def _read(request: Request, most: int) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise HTTPException(413, f"a submission must have at most {most} bytes")
    return bytes(body)


_DEEPEST = 30
_MOST_VALUES = 20_000
_TEXT = re.compile(r'"(?:[^"\\]++|\\.?)*+(?:"|\Z)', re.DOTALL)
"""A text of JSON, or what begins one and ends nowhere, so that no character is looked at twice."""
_LONGEST_JSON_NUMBER = 100


class StrictJson:
    """Lets through requests without a body, and bodies that are such JSON."""

    def __init__(self, app: ASGIApp, concerns: Callable[[Scope], bool]) -> None:
        """Around an application; requests that it does not concern pass as they are."""
        self.app = app
        self._concerns = concerns

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body, check it, and hand it on."""
        if scope["type"] != "http" or not self._concerns(scope):
            await self.app(scope, receive, send)
            return
        messages = await _body(receive)
        refusal = _refusal(Headers(scope=scope), b"".join(one.get("body", b"") for one in messages))
        if refusal is not None:
            await problem(*refusal)(scope, receive, send)
            return

        async def again() -> Message:
            return messages.pop(0) if messages else await receive()

        await self.app(scope, again, send)


async def _body(receive: Receive) -> list[Message]:
    messages = [await receive()]
    while messages[-1].get("more_body", False):
        messages.append(await receive())
    return messages


def _refusal(headers: Headers, body: bytes) -> tuple[HTTPStatus, str] | None:
    if not body:
        return None
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" or headers.get("content-encoding", "identity") != "identity":
        return HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "The body must be JSON as it is: Content-Type: application/json."
    try:
        check_json(body)
    except InvalidValue as fault:
        return HTTPStatus.BAD_REQUEST, f"The body must be JSON that this service reads: {fault}."
    return None


def check_json(body: bytes) -> None:
    """Refuse bytes that are not JSON, or JSON that two readers may understand differently.

    >>> check_json(b'{"epsilon": 1, "epsilon": 2}')
    Traceback (most recent call last):
        ...
    discreet.errors.InvalidValue: a key must stand once in an object, got 'epsilon'
    """
    try:
        text = body.decode()
        if has_many_values(text):
            raise InvalidValue(f"it must hold at most {_MOST_VALUES:,} values", "<more>")
        found = json.loads(
            text, object_pairs_hook=_object, parse_int=_int, parse_float=_float, parse_constant=_constant
        )
    except UnicodeDecodeError:
        raise InvalidValue("it must be in UTF-8") from None
    except json.JSONDecodeError as fault:
        raise InvalidValue("it must be whole", f"<{fault.msg} at character {fault.pos + 1}>") from None
    except RecursionError:
        raise _too_deep() from None
    _check_depth(found)


def has_many_values(text: str) -> bool:
    """Whether JSON holds so many values that to read them would keep others waiting; texts may be as long as they are.

    >>> has_many_values('{"policy": "' + 30_000 * "," + '"}'), has_many_values("[" + 30_000 * "1," + "1]")
    (False, True)
    """
    return _TEXT.sub("", text).count(",") >= _MOST_VALUES


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise InvalidValue("a key must stand once in an object", key)
        found[key] = value
    return found


def _int(text: str) -> int:
    return int(_short(text))


def _float(text: str) -> float:
    number = float(_short(text))
    if not math.isfinite(number):
        raise InvalidValue("a number must be finite", f"<{text}>")
    return number


def _short(text: str) -> str:
    if len(text) > _LONGEST_JSON_NUMBER:
        raise InvalidValue(f"a number must have at most {_LONGEST_JSON_NUMBER} characters", f"<{len(text)} of them>")
    return text


def _constant(text: str) -> float:
    raise InvalidValue("a number must be finite", f"<{text}>")


def _check_depth(found: Any) -> None:
    """Level by level, so that no depth is too much for the check itself."""
    level = [found]
    for _ in range(_DEEPEST):
        _check_texts(level)
        level = [part for one in level for part in _parts(one)]
        if not level:
            return
    raise _too_deep()


def _parts(one: Any) -> list[Any]:
    if isinstance(one, dict):
        return [*one.keys(), *one.values()]
    return one if isinstance(one, list) else []


def _check_texts(values: list[Any]) -> None:
    try:
        for value in values:
            if isinstance(value, str):
                value.encode()
    except UnicodeEncodeError:
        raise InvalidValue("a text must be valid Unicode", "<half of a surrogate pair>") from None


def _too_deep() -> InvalidValue:
    return InvalidValue(f"it must be nested at most {_DEEPEST} deep", "<deeper>")


LONGEST_ID = 100
"""Characters of an id, at most."""
_FORM = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._~-]{{0,{LONGEST_ID - 1}}}\Z")


def check_request_id(value: object) -> str:
    """``value`` as an id, or a refusal."""
    if not isinstance(value, str) or not _FORM.match(value):
        rule = f"a request id has at most {LONGEST_ID} letters, digits, dots, dashes, underscores and tildes"
        raise InvalidValue(rule, value, "begin with a letter or a digit")
    return value
