"""Marks of who is there: seen by everybody, and gone with their process, however it ended."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Timer

import psycopg
import pytest

from discreet.storage.presence import FilePresence, Presence, ServerPresence
from tests.servers.fixtures import postgres_server, postgres_url

__all__ = ["postgres_server", "postgres_url"]

_HOLDER = """
import sys
from tests.storage.test_presence import made
presence = made(*sys.argv[1:3])
presence.hold("theirs")
print("held", flush=True)
sys.stdin.read()
"""


def made(kind: str, place: str) -> Presence:
    if kind == "file":
        return FilePresence(Path(place))
    return ServerPresence(lambda: psycopg.connect(place, autocommit=True), lambda one: not one.closed)


@pytest.fixture(params=["file", "server"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    kind = request.param
    return kind, str(tmp_path / "running") if kind == "file" else request.getfixturevalue("postgres_url")


@pytest.fixture
def several(place: tuple[str, str]) -> Iterator[Callable[[], Presence]]:
    """Marks as several processes have them."""
    found: list[Presence] = []

    def another() -> Presence:
        found.append(made(*place))
        return found[-1]

    yield another
    for one in found:
        one.close()


def test_what_is_held_is_seen_by_everybody_until_it_is_let_go(several: Callable[[], Presence]) -> None:
    own, other = several(), several()
    assert own.hold("a")
    assert own.hold("b")
    for one in (own, other):
        assert one.held(["a", "b", "c"]) == {"a", "b"}
        assert one.held(["a", "b", "c"]) == {"a", "b"}  # to look changes nothing
        assert one.held([]) == set()
        assert not one.hold("a")
    other.release("a")  # not theirs
    own.release("b")
    assert other.held(["a", "b"]) == {"a"}
    assert other.hold("b")
    own.close()
    assert several().held(["a", "b"]) == {"b"}


def test_a_killed_process_holds_nothing(place: tuple[str, str], several: Callable[[], Presence]) -> None:
    words = [sys.executable, "-c", _HOLDER, *place]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        own = several()
        assert own.held(["theirs"]) == {"theirs"}
        process.kill()
        process.wait()
        while own.held(["theirs"]):  # a server hears of it a moment later
            pass
    assert own.hold("theirs")


def test_a_forked_child_lets_go_of_nothing(several: Callable[[], Presence]) -> None:
    own = several()
    own.hold("a")
    child = os.fork()
    if child == 0:
        own.close()
        os._exit(0)
    os.waitpid(child, 0)
    assert several().held(["a"]) == {"a"}


def test_what_was_held_is_held_again_on_a_new_connection(postgres_url: str) -> None:
    own, other = made("server", postgres_url), made("server", postgres_url)
    assert isinstance(own, ServerPresence)
    own.hold("a")
    own._connection.close()
    own.hold("b")
    assert other.held(["a", "b"]) == {"a", "b"}
    own.close()
    other.close()


def test_what_a_lost_connection_still_holds_is_held_as_soon_as_it_has_ended(postgres_url: str) -> None:
    own, other = made("server", postgres_url), made("server", postgres_url)
    assert isinstance(own, ServerPresence)
    try:
        own.hold("a")
        lost, own._connection = own._connection, None  # the server has not seen yet that it is gone
        Timer(0.3, lost.close).start()
        own.hold("b")
        assert lost.closed
        assert other.held(["a", "b"]) == {"a", "b"}
    finally:
        own.close()
        other.close()
