"""A proxy between a curator and its PostgreSQL server that counts how often the curator waits for the server."""

import socket
from pathlib import Path

from tests.servers.proxy import Proxy, received

_STARTUP = 4
"""The first message of a connection has a length and no kind."""


class CountingProxy(Proxy):
    """Passes bytes on, and counts what demands an answer: ``Q`` asks, ``H`` and ``S`` end what was sent ahead."""

    def __init__(self, folder: Path, upstream: Path) -> None:
        self.waits = 0
        super().__init__(folder, upstream)

    def say(self, client: socket.socket, server: socket.socket) -> None:
        pending, is_new = b"", True
        while data := received(client):
            pending += data
            if is_new and len(pending) >= _STARTUP:
                pending, is_new = pending[int.from_bytes(pending[:_STARTUP]) :], False
            while len(pending) >= 5 and len(pending) > (length := int.from_bytes(pending[1:5])):
                self.waits += pending[:1] in (b"H", b"S", b"Q")
                pending = pending[1 + length :]
            server.sendall(data)
        server.close()
