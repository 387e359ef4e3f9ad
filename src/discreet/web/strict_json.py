"""JSON that means one thing: no key twice, no number that Python reads as infinity, no text that has no UTF-8.

A body is read whole and checked before an application sees it, so that no handler has to think of these.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.errors import InvalidValue
from discreet.web.problem import problem

__all__ = ["StrictJson", "check_json", "has_many_values"]

_DEEPEST = 30
_MOST_VALUES = 20_000
_TEXT = re.compile(r'"(?:[^"\\]++|\\.?)*+(?:"|\Z)', re.DOTALL)
"""A text of JSON, or what begins one and ends nowhere, so that no character is looked at twice."""
_LONGEST_NUMBER = 100


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
    if len(text) > _LONGEST_NUMBER:
        raise InvalidValue(f"a number must have at most {_LONGEST_NUMBER} characters", f"<{len(text)} of them>")
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
