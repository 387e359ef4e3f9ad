"""A connection to PostgreSQL that does not wait for ever: a server that says nothing for too long is given up.

A server whose processes are frozen still holds its connections, and its kernel answers for it, so neither the network
nor the server itself ever reports a fault. Only whoever waits can tell. A long result is no silence: every part of it
that arrives begins the wait anew.
"""

from __future__ import annotations

import select
from collections.abc import Generator
from contextlib import suppress
from typing import Any, TypeVar

import psycopg
from psycopg.waiting import Ready, Wait

from discreet.time_limits import LEDGER_SILENCE

__all__ = ["AttentiveConnection", "SilentServer"]


T = TypeVar("T")
_EVENTS = {Wait.R: select.POLLIN, Wait.W: select.POLLOUT, Wait.RW: select.POLLIN | select.POLLOUT}


class AttentiveConnection(psycopg.Connection[Any]):
    """One that ends when the server is silent."""

    silence = LEDGER_SILENCE
    """How long a server may say nothing while it is asked something, in seconds."""

    def wait(self, gen: Generator[Any, Any, T], *_: Any, **__: Any) -> T:
        """What comes of ``gen``, which says what it waits for; after a silence the connection is closed."""
        try:
            wanted = next(gen)
            while True:
                wanted = gen.send(self._ready(wanted, gen))
        except StopIteration as ended:
            found: T = ended.value
            return found

    def _ready(self, wanted: Wait, gen: Generator[Any, Any, Any]) -> Ready:
        """What can be done now; where that cannot be waited for, the connection is gone, and ``gen`` hears of it."""
        try:
            return self._poll(wanted)
        except BaseException as fault:
            self.close()  # what was asked is still under way there
            with suppress(Exception):
                gen.throw(fault)
            raise

    def _poll(self, wanted: Wait) -> Ready:
        poll = select.poll()
        poll.register(self.pgconn.socket, _EVENTS[wanted])
        found = poll.poll(self.silence * 1000)
        if not found:
            raise SilentServer("the server said nothing for too long")
        event = found[0][1]
        if not event & (select.POLLIN | select.POLLOUT):  # it hung up: whoever reads finds out how
            return Ready.R if wanted is Wait.R else Ready.W
        can_read, can_write = bool(event & select.POLLIN), bool(event & select.POLLOUT)
        return Ready.RW if can_read and can_write else Ready.R if can_read else Ready.W


class SilentServer(psycopg.OperationalError):
    """A server that does not answer, although nobody can say that it is gone."""
