"""Requests that reach a process which cannot answer them: the one that can does, and nobody notices."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from discreet.http import one_process
from discreet.http.one_process import MeetingPlace, OneProcess, meeting_place

HEADERS = [(b"x-odd", bytes(range(32, 256))), (b"cookie", b"a=1"), (b"cookie", b"b=2")]
Work = Callable[[MeetingPlace], Awaitable[Any]]


def run(work: Work) -> Any:
    """In a loop of its own, whatever loop this thread has."""

    async def within() -> Any:
        with meeting_place() as place:
            async with asyncio.timeout(60):
                return await work(place)

    with ThreadPoolExecutor(1) as aside:
        return aside.submit(lambda: asyncio.run(within())).result()


class Living:
    """A process that answers, from its start to its end."""

    def __init__(self, app: Any, place: MeetingPlace) -> None:
        self.process = OneProcess(app, place, lambda path: path.startswith("/api/"))
        self._told: asyncio.Queue[Any] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> OneProcess:
        async def send(_: Any) -> None:
            pass

        await self._told.put({"type": "lifespan.startup"})
        self._task = asyncio.create_task(self.process({"type": "lifespan"}, self._told.get, send))
        while not self.process.is_here:
            await asyncio.sleep(0.01)
        return self.process

    async def __aexit__(self, *_: object) -> None:
        await self._told.put({"type": "lifespan.shutdown"})
        assert self._task is not None
        await self._task


def lifespan(app: Any) -> Any:
    """An application that also starts and ends."""

    async def whole(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
        else:
            await app(scope, receive, send)

    return whole


def scope_of(kind: str = "http", path: str = "/page") -> dict[str, Any]:
    found = {"type": kind, "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "https", "root_path": ""}
    found |= {"path": path, "raw_path": path.encode(), "query_string": b"a=%ff", "headers": HEADERS, "state": object()}
    found |= {"client": ("203.0.113.9", 1234), "server": ("127.0.0.1", 443)}
    return found | ({"method": "POST"} if kind == "http" else {"subprotocols": []})


async def other(place: MeetingPlace, scope: Any, messages: list[Any]) -> list[Any]:
    """What a principal of another process hears."""
    heard: list[Any] = []
    waiting = list(messages)
    gone = asyncio.Event()

    async def receive() -> Any:
        if not waiting:
            await gone.wait()
        return waiting.pop(0)

    async def send(message: Any) -> None:
        heard.append(message)

    async def none(*_: Any) -> None:
        raise AssertionError("it cannot answer")

    await OneProcess(none, place, lambda path: path.startswith("/api/"))(scope, receive, send)
    return heard


def test_a_request_arrives_as_it_was_sent_and_its_answer_as_it_was_given() -> None:
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope)
        body = b""
        while (part := await receive())["type"] == "http.request":
            body += part["body"]
            if not part["more_body"]:
                break
        await send({"type": "http.response.start", "status": 201, "headers": [(b"x-odd", b"\xff\x00")]})
        await send({"type": "http.response.body", "body": body[::-1], "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    large = bytes(range(256)) * 4000
    sent = [
        {"type": "http.request", "body": large, "more_body": True},
        {"type": "http.request", "body": b"\x00\xff", "more_body": False},
    ]

    async def work(place: MeetingPlace) -> Any:
        async with Living(lifespan(app), place):
            return await other(place, scope_of(), sent)

    start, *parts = run(work)
    assert (start["status"], [tuple(one) for one in start["headers"]]) == (201, [(b"x-odd", b"\xff\x00")])
    assert b"".join(one["body"] for one in parts) == (large + b"\x00\xff")[::-1]
    assert {name: value for name, value in scope_of().items() if name != "state"} == seen[0]


def test_words_of_a_socket_go_both_ways_until_it_is_closed() -> None:
    async def app(_: Any, receive: Any, send: Any) -> None:
        assert (await receive())["type"] == "websocket.connect"
        await send({"type": "websocket.accept", "subprotocol": None, "headers": []})
        while (message := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", **{key: message[key] for key in ("text", "bytes") if key in message}})

    words = [{"type": "websocket.connect"}, {"type": "websocket.receive", "text": "é\u0000"}]
    words += [{"type": "websocket.receive", "bytes": b"\xff"}, {"type": "websocket.disconnect", "code": 1001}]

    async def work(place: MeetingPlace) -> Any:
        async with Living(lifespan(app), place):
            return await other(place, scope_of("websocket"), words)

    heard = run(work)
    assert heard[1:3] == [{"type": "websocket.send", "text": "é\u0000"}, {"type": "websocket.send", "bytes": b"\xff"}]


def test_a_process_that_ends_in_the_middle_is_heard_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_process, "HAND_OVER_END", 0.1)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        if scope["type"] == "websocket":
            await send({"type": "websocket.accept"})
        reached.set()
        await asyncio.Event().wait()

    async def work(place: MeetingPlace) -> Any:
        nonlocal reached
        found = []
        for kind, first in (("http", "http.request"), ("websocket", "websocket.connect")):
            reached = asyncio.Event()
            async with Living(lifespan(app), place):
                principal = asyncio.create_task(other(place, scope_of(kind), [{"type": first, "body": b""}]))
                await reached.wait()
            found.append(await principal)
        return found

    reached = asyncio.Event()
    request, words = run(work)
    assert [one.get("status") for one in request] == [503, None]
    assert words[-1] == {"type": "websocket.close", "code": 1012}


def test_a_request_waits_for_the_process_that_is_starting_and_hears_after_a_while_that_there_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def app(_: Any, __: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"late"})

    async def work(place: MeetingPlace) -> Any:
        early = asyncio.create_task(other(place, scope_of(), []))
        await asyncio.sleep(0.1)
        async with Living(lifespan(app), place):
            found = await early
        monkeypatch.setattr(one_process, "HAND_OVER", 0.2)
        return found, await other(place, scope_of(), [])

    late, never = run(work)
    assert [one.get("status") for one in late] == [200, None]
    assert never[0]["status"] == 503


def test_who_leaves_is_no_longer_waited_for() -> None:
    async def app(_: Any, receive: Any, __: Any) -> None:
        while (message := await receive())["type"] != "http.disconnect":
            pass
        left.append(message)
        left.append(await receive())  # said as often as somebody listens

    left: list[Any] = []
    sent = [{"type": "http.request", "body": b"", "more_body": False}, {"type": "http.disconnect"}]

    async def work(place: MeetingPlace) -> Any:
        async with Living(lifespan(app), place):
            return await other(place, scope_of(), sent)

    run(work)
    assert [one["type"] for one in left] == ["http.disconnect"] * 2


def test_what_anybody_answers_is_answered_where_it_arrives() -> None:
    async def app(*_: Any) -> None:
        pass

    async def work(place: MeetingPlace) -> Any:
        async with Living(lifespan(app), place):
            with pytest.raises(AssertionError, match="it cannot answer"):
                await other(place, scope_of(path="/api/v1/me"), [])

    run(work)
