"""Strangers who send without end, or never end what they began, keep nobody out and take no memory."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest
import uvicorn

from discreet.http.guard import GUARDED, GuardedProtocol

LARGE = b"x" * 2**24
"""More than the system keeps for somebody who does not read."""
HALF = b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: "
WHOLE = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


async def application(scope: Any, receive: Any, send: Any) -> None:
    while (await receive()).get("more_body"):
        pass
    body = LARGE if scope["path"] == "/large" else b"ok"
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    for start in range(0, len(body), 2**16):
        more = start + 2**16 < len(body)
        await send({"type": "http.response.body", "body": body[start : start + 2**16], "more_body": more})


Connect = Callable[[], socket.socket]


@pytest.fixture
def connect() -> Iterator[Connect]:
    """A server with short deadlines and few connections, and what connects to it."""

    class Short(GuardedProtocol):
        header_seconds, body_seconds, least_pace, most_connections, unread_seconds = 1.5, 1.5, 100_000, 20, 1.5

    with closing(socket.create_server(("127.0.0.1", 0), backlog=200)) as listener, ExitStack() as opened:
        config = uvicorn.Config(application, log_config=None, lifespan="off", **(GUARDED | {"http": Short}))
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()

        def connected() -> socket.socket:
            return opened.enter_context(socket.create_connection(listener.getsockname(), timeout=10))

        yield connected
        opened.close()
        server.should_exit = True
        thread.join()


def heard(one: socket.socket) -> bytes:
    """What the server says, or that it has hung up."""
    try:
        return one.recv(4096)
    except ConnectionError:
        return b""


def test_headers_have_an_end(connect: Connect) -> None:
    one = connect()
    one.sendall(HALF)
    sent = 0
    try:
        for _ in range(64):
            one.sendall(b"x" * 2**16)
            sent += 2**16
    except ConnectionError:
        pass
    assert heard(one) == b"" or sent < 2**22
    assert b"200 OK" in _asked(connect)


def _asked(connect: Connect) -> bytes:
    one = connect()
    one.sendall(WHOLE)
    return heard(one)


def test_headers_that_never_end_are_given_up(connect: Connect) -> None:
    one, began = connect(), time.monotonic()
    one.sendall(HALF)
    assert heard(one) == b""
    assert time.monotonic() - began > 1


def test_nor_does_a_byte_now_and_then_help(connect: Connect) -> None:
    one, left = connect(), 40
    one.sendall(HALF)
    one.settimeout(0.2)
    while left:
        left -= 1
        try:
            one.sendall(b"x")
            if one.recv(1) == b"":
                break
        except TimeoutError:
            continue
        except ConnectionError:
            break
    assert left


def test_connections_that_say_nothing_are_given_up(connect: Connect) -> None:
    assert heard(connect()) == b""


def test_bodies_that_trickle_are_given_up(connect: Connect) -> None:
    one = connect()
    one.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n")
    assert heard(one) == b""


def test_a_large_body_at_a_fair_pace_is_read(connect: Connect) -> None:
    one, size = connect(), 600_000
    one.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % size)
    for _ in range(30):
        one.sendall(b"x" * (size // 30))
        time.sleep(0.1)
    assert b"200 OK" in heard(one)


def test_whoever_waits_gives_way_to_whoever_asks(connect: Connect) -> None:
    waiting = [connect() for _ in range(120)]
    for one in waiting:
        try:
            one.sendall(HALF)
        except ConnectionError:
            continue
    for _ in range(30):
        assert b"200 OK" in _asked(connect)


def test_a_connection_that_is_kept_serves_several_requests(connect: Connect) -> None:
    one = connect()
    for _ in range(3):
        one.sendall(WHOLE)
        assert b"200 OK" in heard(one)
        time.sleep(0.8)  # more than the deadline in all, and none of it while a request is sent


def test_a_second_request_has_a_deadline_too(connect: Connect) -> None:
    one = connect()
    one.sendall(WHOLE)
    said = heard(one)
    while not said.endswith(b"ok"):  # head and body may come one by one
        said += one.recv(4096)
    one.sendall(HALF)
    assert heard(one) == b""


def _unread(connect: Connect) -> socket.socket:
    one = connect()
    one.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
    return one


def test_answers_that_nobody_reads_keep_nobody_out(connect: Connect) -> None:
    held = [_unread(connect) for _ in range(40)]
    assert all(b"200 OK" in _asked(connect) for _ in range(10))
    assert len(held) == 40


def test_an_answer_that_nobody_reads_is_given_up_and_one_that_is_read_slowly_is_not(connect: Connect) -> None:
    slow, idle = _unread(connect), _unread(connect)
    read = 0
    for _ in range(12):  # three seconds, twice as long as one who reads nothing has
        read += len(slow.recv(2**20))
        time.sleep(0.25)
    while part := slow.recv(2**20):
        read += len(part)
        if read > len(LARGE):
            break
    assert read > len(LARGE)
    found = 0
    try:
        while part := idle.recv(2**20):
            found += len(part)
    except ConnectionError:
        pass
    assert found < len(LARGE)
