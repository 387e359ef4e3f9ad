"""The service and a survey as real processes under attack: they stay reachable, and their memory stays as it was."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.service import serving
from tests.survey.serving import Serving, made

FEW = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024));"
PROGRAM = f"{FEW} from discreet.cli.main import app; app()"
HALF = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
BODY = b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n{"
SLACK = 30_000
"""Kilobytes by which memory may grow for reasons of its own."""


class Target:
    """A server with 1,024 descriptors, and what can be done to it."""

    def __init__(self, pid: int, port: int, page: str, sends: str) -> None:
        self.pid, self.port = pid, port
        self.page, self.sends = page, sends
        self.opened = ExitStack()

    def connect(self) -> socket.socket:
        found = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        self.opened.callback(found.close)
        return found

    def asked(self, sent: bytes) -> bytes:
        """All that is answered to some bytes, or nothing where the connection is given up."""
        found = b""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as one, suppress(ConnectionError):
            one.sendall(sent)
            while part := one.recv(65_536):
                found += part
        return found

    def is_reachable(self) -> bool:
        head = f"GET {self.page} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        return self.asked(head.encode()).startswith(b"HTTP/1.1 200")

    def kilobytes(self) -> int:
        found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.pid}/status").read_text())
        assert found is not None
        return int(found[1])


@pytest.fixture(scope="module", params=["service", "survey"])
def target(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    folder = tmp_path_factory.mktemp("attacked") / "folder"
    if request.param == "service":
        with serving.Serving("--folder", folder, "--no-console", program=PROGRAM) as one:
            yield Target(one.process.pid, one.port, "/health/live", "/api/v1/sign-in")
    else:
        with Serving(made(folder).folder, program=PROGRAM) as two:
            yield Target(two.process.pid, two.port, "/", "/reports")


@pytest.fixture(autouse=True)
def closed(target: Target) -> Iterator[None]:
    assert target.is_reachable()
    yield
    target.opened.close()


@pytest.mark.some(1)
def test_headers_without_end_take_no_memory(target: Target) -> None:
    before, sent = target.kilobytes(), [0] * 6

    def pour(number: int) -> None:
        with suppress(OSError):
            one = target.connect()
            one.sendall(HALF)
            for _ in range(640):
                one.sendall(b"x" * 2**16)
                sent[number] += 2**16

    threads = [threading.Thread(target=pour, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    assert target.is_reachable()
    for thread in threads:
        thread.join()
    assert max(sent) < 640 * 2**16
    assert target.kilobytes() < before + SLACK


def _piled_up(target: Target, sent: bytes, count: int) -> None:
    for _ in range(count):
        with suppress(ConnectionError):
            target.connect().sendall(sent)


def test_requests_that_are_never_finished_keep_nobody_out(target: Target) -> None:
    before = target.kilobytes()
    _piled_up(target, HALF, 1100)
    assert all(target.is_reachable() for _ in range(20))
    assert target.kilobytes() < before + SLACK


def test_bodies_that_trickle_keep_nobody_out(target: Target) -> None:
    before = target.kilobytes()
    _piled_up(target, BODY % target.sends.encode(), 1100)
    assert all(target.is_reachable() for _ in range(20))
    assert target.kilobytes() < before + 2 * SLACK


def test_a_body_at_a_fair_pace_does_not_give_way(target: Target) -> None:
    size, body = 120_000, b"[" + b" " * 119_998 + b"]"
    one = target.connect()
    one.sendall(BODY.replace(b"9000", b"%d" % size)[:-1] % target.sends.encode() + body[:100_000])
    time.sleep(0.5)
    _piled_up(target, BODY % target.sends.encode(), 700)
    for start in range(100_000, size, 5_000):
        one.sendall(body[start : start + 5_000])
    assert one.recv(4096).startswith(b"HTTP/1.1 4")  # it was read to its end, and is no submission


UNREADABLE = {
    "no HTTP at all": b"hello\r\n\r\n",
    "a request line with a word too many": b"GET / now HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "bytes that are no text": b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "a length that is no number": b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: many\r\n\r\n",
    "two lengths": b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "another encoding": b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n",
    "too many headers": b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 200_000,
    "a header without a name": b"GET / HTTP/1.1\r\nHost: localhost\r\n: x\r\n\r\n",
    "a chunk that is none": b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_what_is_no_http_is_a_problem(target: Target, what: str) -> None:
    answer = target.asked(UNREADABLE[what].replace(b"%s", target.sends.encode()))
    head, _, body = answer.partition(b"\r\n\r\n")
    found = json.loads(body)
    assert head.startswith(b"HTTP/1.1 %d " % found["status"])
    assert found["status"] in (400, 431, 501)
    assert b"application/problem+json" in head.lower()
    assert b"nosniff" in head
    assert set(found) == {"type", "title", "status", "detail"}
    assert target.is_reachable()
