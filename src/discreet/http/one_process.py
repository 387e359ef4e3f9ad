"""Processes that listen: one socket, a clean end, and one of several processes for what only one can answer.

Several processes share a port, and the pages live in the memory of one of them. Whichever process a connection reaches
hands such a request on, message by message and over a socket that only this user reaches; sockets that stay open go
the same way. Nothing is written as HTTP again, so the one that answers sees the request as it came: address, scheme
and headers. Which process that is, a lock says: when its holder ends, however it ends, the next one answers at once,
and requests wait for it meanwhile.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import json
import os
import signal
import socket
import struct
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from threading import Thread
from typing import IO, Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.errors import InvalidValue
from discreet.http.problems import problem
from discreet.time_limits import HAND_OVER, HAND_OVER_END

__all__ = [
    "LOOPBACK",
    "QUIET",
    "MeetingPlace",
    "OneProcess",
    "end_by_signals",
    "format_address",
    "listening",
    "meeting_place",
]


LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
"""Addresses that only this computer reaches."""
QUIET: dict[str, Any] = {"access_log": False, "server_header": False}
"""Uvicorn's settings of every server of the service: no log of requests, no header that names the software."""


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens at an address; 0 takes a free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError) as fault:
        known = {
            errno.EADDRINUSE: "another program uses it; pass another --port",
            errno.EACCES: "pass a --port above 1023",
        }
        remedy = known.get(getattr(fault, "errno", None) or 0, "pass another --host or --port")
        raise InvalidValue("the server must be able to listen at its address", f"{host}:{port}", remedy) from None


def format_address(listener: socket.socket, scheme: str = "http") -> str:
    """Where a browser on this computer reaches it."""
    place, number = listener.getsockname()[:2]
    return f"{scheme}://{f'[{place}]' if ':' in place else place}:{number}"


@contextmanager
def end_by_signals(*signals: signal.Signals) -> Iterator[None]:
    """Until a server listens to signals itself, and after it has ended because of one, they mean a clean end."""

    def end(*_: object) -> None:
        raise SystemExit(0)

    before = {one: signal.signal(one, end) for one in signals}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


_TAKEN = b"+"
"""Says that a process will answer; before it comes, a request can be handed to another."""
_LENGTHS = struct.Struct("!II")
_BACKLOG = 1024
_LONGEST_PARENT = 70
"""Characters of the folder around that of a socket, whose whole path has about a hundred at most."""
_AHEAD = 4
"""Parts of a body that wait for whoever reads it."""
_ENDED, _RESTARTED = 1006, 1012
_SCOPE = (
    *("type", "asgi", "http_version", "server", "client", "scheme", "root_path", "path", "raw_path"),
    *("query_string", "headers", "method", "subprotocols", "extensions"),
)
_UNREACHABLE = "The process that draws pages is starting again; load the page again in a moment."
_LATER = {"Retry-After": "2"}


@dataclass(frozen=True)
class MeetingPlace:
    """Where processes of one command meet; it can be handed to processes that are started."""

    folder: Path
    """That nobody else may look into."""
    listener: socket.socket
    """On which whoever holds the lock answers; it outlives them all, so that what comes in between waits in it."""

    @property
    def path(self) -> str:
        """Where the listener is found."""
        return str(self.folder / "socket")

    @property
    def lock(self) -> Path:
        """The file that the one process holds."""
        return self.folder / "lock"


@contextmanager
def meeting_place() -> Iterator[MeetingPlace]:
    """A place for processes to meet, until all of them ended."""
    usual = tempfile.gettempdir()
    parent = usual if len(usual) < _LONGEST_PARENT else "/tmp"  # noqa: S108  the folder in it is ours alone
    with tempfile.TemporaryDirectory(prefix="discreet-", dir=parent) as name:
        folder, held = Path(name), os.open(name, os.O_RDONLY)
        fcntl.flock(held, fcntl.LOCK_SH)  # who tidies up old files leaves locked folders alone
        with closing(socket.socket(socket.AF_UNIX)) as listener:
            place = MeetingPlace(folder, listener)
            listener.bind(place.path)
            listener.listen(_BACKLOG)
            yield place
        os.close(held)


class OneProcess:
    """Answers here what any process can, and what one alone can where this is the one; hands the rest on."""

    def __init__(self, app: ASGIApp, place: MeetingPlace, is_anybodys: Callable[[str], bool]) -> None:
        """Around an application that every process has; ``is_anybodys`` says of a path whether any of them answers."""
        self.app = app
        self._place = place
        self._is_anybodys = is_anybodys
        self._lock: IO[bytes] | None = None
        self._server: asyncio.Server | None = None
        self._answering: set[asyncio.Task[None]] = set()

    @property
    def is_here(self) -> bool:
        """Whether this is the process that answers."""
        return self._server is not None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or hand on."""
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
        elif self.is_here or self._is_anybodys(scope["path"]):
            await self.app(scope, receive, send)
        else:
            await _hand_on(self._place.path, scope, receive, send)

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Wait for the lock from the start of the application on, and give it up before its end."""
        loop = asyncio.get_running_loop()

        async def received() -> Message:
            message = await receive()
            if message["type"] == "lifespan.shutdown":
                await self._give_up()
            return message

        async def sent(message: Message) -> None:
            if message["type"] == "lifespan.startup.complete":
                Thread(target=self._wait_for_lock, args=(loop,), daemon=True).start()
            await send(message)

        await self.app(scope, received, sent)

    def _wait_for_lock(self, loop: asyncio.AbstractEventLoop) -> None:
        lock = self._place.lock.open("ab")
        fcntl.lockf(lock, fcntl.LOCK_EX)  # of the process alone: what it forks does not hold it
        with suppress(RuntimeError):  # the loop has ended
            asyncio.run_coroutine_threadsafe(self._take_over(lock), loop)

    async def _take_over(self, lock: IO[bytes]) -> None:
        self._lock = lock
        self._server = await asyncio.start_unix_server(self._answered, sock=self._place.listener.dup())

    async def _answered(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  a coroutine runs in one
        self._answering.add(task)
        try:
            await _answer(self.app, reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass  # the process that handed it on has ended
        finally:
            self._answering.discard(task)
            writer.close()

    async def _give_up(self) -> None:
        """Answer no more; what is under way has a moment, and sockets that stay open are ended."""
        if self._server is None:
            return
        self._server.close()
        self._server = None
        if self._answering:
            await asyncio.wait(self._answering, timeout=HAND_OVER_END)
        for task in self._answering:
            task.cancel()
        if self._lock is not None:
            self._lock.close()


# From the process that was reached.


async def _hand_on(path: str, scope: Scope, receive: Receive, send: Send) -> None:
    try:
        async with asyncio.timeout(HAND_OVER):
            reader, writer = await _reached(path)
    except (OSError, TimeoutError):
        await _say_unreachable(scope, receive, send)
        return
    _write(writer, {name: scope[name] for name in _SCOPE if name in scope})
    sending = asyncio.create_task(_send_all(receive, writer))
    try:
        await _Forwarded(scope, receive, send).relay(reader)
    finally:
        sending.cancel()
        writer.close()


async def _reached(path: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to the process that answers, which has taken it."""
    while True:
        reader, writer = await asyncio.open_unix_connection(path)
        try:
            await reader.readexactly(len(_TAKEN))
        except (OSError, asyncio.IncompleteReadError):  # it ended in this moment, and nothing was said yet
            writer.close()
        except asyncio.CancelledError:
            writer.close()
            raise
        else:
            return reader, writer


async def _send_all(receive: Receive, writer: asyncio.StreamWriter) -> None:
    """Hand on what a principal sends, until they have gone."""
    with suppress(OSError):
        while True:
            message = await receive()
            _write(writer, message)
            await writer.drain()
            if message["type"].endswith(".disconnect"):
                return


class _Forwarded:
    """What a principal is told of what another process says."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope, self._receive, self._send = scope, receive, send
        self._begun = self._over = False

    async def relay(self, reader: asyncio.StreamReader) -> None:
        """Tell all of it; if it breaks off, the principal hears that, too."""
        with suppress(OSError, asyncio.IncompleteReadError):
            while True:
                message = await _read(reader)
                self._note(message)
                await self._send(message)
        if not self._over:
            await self._break_off()

    def _note(self, message: Message) -> None:
        self._begun = True
        kind = message["type"]
        last_part = kind.endswith("response.body") and not message.get("more_body", False)
        self._over = self._over or last_part or kind == "websocket.close"

    async def _break_off(self) -> None:
        if self._scope["type"] == "websocket" and self._begun:
            with suppress(OSError, RuntimeError):  # the principal has gone, too
                await self._send({"type": "websocket.close", "code": _RESTARTED})
        elif not self._begun:
            await _say_unreachable(self._scope, self._receive, self._send)


async def _say_unreachable(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": _RESTARTED})
    else:
        await problem(HTTPStatus.SERVICE_UNAVAILABLE, _UNREACHABLE, _LATER)(scope, receive, send)


# In the process that answers.


async def _answer(app: ASGIApp, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(_TAKEN)
    scope: Scope = dict(await _read(reader))
    for name in ("client", "server"):
        scope[name] = scope[name] and tuple(scope[name])
    scope["headers"] = [tuple(pair) for pair in scope["headers"]]
    messages: asyncio.Queue[Message] = asyncio.Queue(_AHEAD)
    reading_ahead = asyncio.create_task(_read_ahead(reader, messages, scope["type"]))
    gone: Message | None = None

    async def receive() -> Message:
        nonlocal gone
        message = gone or await messages.get()
        if message["type"].endswith(".disconnect"):
            gone = message
        return message

    async def send(message: Message) -> None:
        try:
            _write(writer, message)
            await writer.drain()
        except OSError:
            if scope["type"] == "websocket":
                raise  # as servers do; of a request without a reader they say nothing

    try:
        await app(scope, receive, send)
    finally:
        reading_ahead.cancel()


async def _read_ahead(reader: asyncio.StreamReader, messages: asyncio.Queue[Message], kind: str) -> None:
    """Read ahead a little: an application may stop waiting for a message, and none may be lost by that."""
    with suppress(OSError, asyncio.IncompleteReadError):
        while True:
            await messages.put(await _read(reader))
    await messages.put({"type": f"{kind}.disconnect", "code": _ENDED})


# Messages: their lengths, what is not bytes as JSON, and a body as it is.


def _write(writer: asyncio.StreamWriter, message: Message | Scope) -> None:
    name = next((one for one in ("body", "bytes") if isinstance(message.get(one), bytes)), None)
    head = {key: value for key, value in message.items() if key != name}
    written = json.dumps([head, name], default=_plain).encode()
    body = b"" if name is None else message[name]
    writer.write(_LENGTHS.pack(len(written), len(body)) + written + body)


async def _read(reader: asyncio.StreamReader) -> Message:
    length, more = _LENGTHS.unpack(await reader.readexactly(_LENGTHS.size))
    head, name = json.loads(await reader.readexactly(length), object_hook=_bytes)
    body = await reader.readexactly(more)
    message: dict[str, Any] = head
    return message if name is None else message | {name: body}


def _plain(value: Any) -> dict[str, str]:
    """Bytes, as headers and addresses are, in a form that JSON knows."""
    if isinstance(value, bytes | bytearray | memoryview):
        return {"latin-1": bytes(value).decode("latin-1")}
    raise TypeError(type(value).__name__)


def _bytes(value: dict[str, Any]) -> Any:
    return value["latin-1"].encode("latin-1") if value.keys() == {"latin-1"} else value
