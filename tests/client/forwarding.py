"""A small proxy that can cut connections in the middle of an answer."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

__all__ = ["Forwarder", "forwarding"]


class Forwarder:
    """Passes bytes on to a server; each connection delivers as many bytes of the answer as the next of ``cuts``."""

    def __init__(self, port: int, cuts: list[int]) -> None:
        self.cuts = list(cuts)
        self.connections = 0
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                here, _ = self._listener.accept()
                self.connections += 1
                most = self.cuts.pop(0) if self.cuts else None
                threading.Thread(target=self._pass_on, args=(here, most), daemon=True).start()

    def _pass_on(self, here: socket.socket, most: int | None) -> None:
        with here, suppress(OSError), socket.create_connection(("127.0.0.1", self._target)) as there:
            upstream = threading.Thread(target=_copy, args=(here, there, None), daemon=True)
            upstream.start()
            _copy(there, here, most)


def _copy(source: socket.socket, target: socket.socket, most: int | None) -> None:
    """Pass bytes on until there are no more, or ``most`` went through; then both ends are cut."""
    with suppress(OSError):
        while most is None or most > 0:
            data = source.recv(65536 if most is None else min(most, 65536))
            if not data:
                break
            target.sendall(data)
            most = None if most is None else most - len(data)
    for one in (source, target):
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)


@contextmanager
def forwarding(port: int, cuts: list[int]) -> Iterator[Forwarder]:
    """A proxy before the server at a port."""
    forwarder = Forwarder(port, cuts)
    try:
        yield forwarder
    finally:
        forwarder.close()
