"""HTTP for strangers: limits on the size and the time of what somebody sends before anything is known of them.

Headers have a size and a deadline, bodies a least pace, and there is a number of connections. When it is reached,
whoever has waited longest without a whole request, or does not read the answer, gives way to the next, and who sends a
body at a fair pace comes last, so that connections which only wait or trickle keep nobody out. What is no HTTP is
answered in the shape of all problems. Behind a proxy all of it holds, too, of the proxy's connections.
"""

from __future__ import annotations

import asyncio
import resource
import sys
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from discreet.http.problems import problem
from discreet.http.security import HEADERS
from discreet.time_limits import BODY_LOOK

__all__ = ["GUARDED", "GuardedProtocol", "share_connections"]


_LARGEST_HEADERS = 2**16
_LEAST_CONNECTIONS = 16
_UNREADABLE = {
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: f"The headers must have at most {_LARGEST_HEADERS:,} bytes.",
    HTTPStatus.NOT_IMPLEMENTED: "A body must come with its length, or in chunks.",
}
"""What is said about requests that cannot be read, by the status that fits them."""


class GuardedProtocol(H11Protocol):
    """One connection."""

    header_seconds = 15.0
    """How long a request may take to name what it wants."""
    body_seconds = 30.0
    """How long a body may take, besides what its size allows."""
    least_pace = 10_000
    """Bytes of a body in a second, below which nobody is waited for."""
    unread_seconds = 30.0
    """How long an answer waits for a reader who takes nothing of it."""
    most_connections = max(min(resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2, 1000), _LEAST_CONNECTIONS)
    """Of one process; as many descriptors stay free for files and databases."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection in, if need be in the place of one that waits."""
        super().connection_made(transport)
        self._began, self._received = self.loop.time(), 0
        self._look: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._watch()
        if len(self.connections) > self.most_connections:
            self._close_longest_waiting()

    def _close_longest_waiting(self) -> None:
        idle = [one for one in self.connections if isinstance(one, GuardedProtocol) and one.is_waiting]
        first = min(idle, key=lambda one: (one._is_fair(), one._began), default=self)
        first.transport.abort()
        self.connections.discard(first)

    @property
    def is_waiting(self) -> bool:
        """Whether no whole request is there to be answered, or nobody reads the answer."""
        cycle: Any = self.cycle  # None before the first request, whatever its type says
        return (
            self.flow.write_paused
            or cycle is None
            or bool(cycle.response_complete)
            or self.conn.their_state is h11.SEND_BODY
        )

    def _is_fair(self) -> bool:
        """Whether a body comes so fast that its sender shall not give way to somebody new."""
        spent = self.loop.time() - self._began
        return self.conn.their_state is h11.SEND_BODY and self._received > self.least_pace * (1 + spent)

    def data_received(self, data: bytes) -> None:
        """Read on; a deadline begins with the first byte of a request, and another with its body."""
        before = self.conn.their_state
        if before is h11.IDLE and self._look is None:
            self._began, self._received = self.loop.time(), 0
        super().data_received(data)
        if before is h11.IDLE and self.conn.their_state is not h11.IDLE:
            self._began, self._received = self.loop.time(), 0
        self._received += len(data)
        self._watch()

    def _watch(self) -> None:
        """Look again in a moment, as long as something is still to come."""
        if self._look is None and self._is_sending():
            self._look = self.loop.call_later(BODY_LOOK, self._looked)

    def _is_sending(self) -> bool:
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY) and not self.transport.is_closing()

    def _looked(self) -> None:
        self._look = None
        if self.timeout_keep_alive_task is not None:
            return  # nothing was sent since the last answer, which has a deadline of its own
        if self._is_late() and not self.flow.read_paused:
            self.transport.abort()
        else:
            self._watch()

    def _is_late(self) -> bool:
        spent = self.loop.time() - self._began
        if self.conn.their_state is h11.IDLE:
            return spent > self.header_seconds
        return spent > self.body_seconds + self._received / self.least_pace

    def pause_writing(self) -> None:
        """Wait for a reader, for a while."""
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(self.unread_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Write on."""
        self._forget_reader()
        super().resume_writing()

    def _forget_reader(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadlines."""
        self._forget()
        self._forget_reader()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """A socket that stays open has no deadline."""
        self._forget()
        self._forget_reader()
        super().handle_websocket_upgrade(event)

    def send_400_response(self, msg: str) -> None:
        """Say that a request cannot be read, if nothing was answered yet; the connection ends."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            for part in _refusal(sys.exception()):
                self.transport.write(self.conn.send(part) or b"")
        cycle: Any = self.cycle
        if cycle is not None and not cycle.response_complete:  # whoever reads the body hears that it ended
            cycle.disconnected = True
            cycle.message_event.set()
        self.transport.close()

    def _forget(self) -> None:
        if self._look is not None:
            self._look.cancel()
            self._look = None


def _refusal(fault: BaseException | None) -> tuple[h11.Response, h11.Data, h11.EndOfMessage]:
    """A problem that says what is wrong with a request, and nothing of what was sent."""
    hint = fault.error_status_hint if isinstance(fault, h11.RemoteProtocolError) else HTTPStatus.BAD_REQUEST
    status = HTTPStatus(hint) if hint in _UNREADABLE else HTTPStatus.BAD_REQUEST
    refusal = problem(status, _UNREADABLE.get(status, "The request must be HTTP/1.1 as it is written."))
    headers = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
    headers += [*refusal.raw_headers, (b"connection", b"close")]
    response = h11.Response(status_code=status.value, headers=headers, reason=status.phrase.encode())
    return response, h11.Data(data=bytes(refusal.body)), h11.EndOfMessage()


def share_connections(processes: int) -> None:
    """Let this process have its share of connections, where one of several may have to answer on those of all."""
    GuardedProtocol.most_connections = max(GuardedProtocol.most_connections // processes, _LEAST_CONNECTIONS)


GUARDED: dict[str, Any] = {"http": GuardedProtocol, "h11_max_incomplete_event_size": _LARGEST_HEADERS}
"""Uvicorn's settings of every server that strangers reach."""
