"""A proxy between a curator and its PostgreSQL server that cuts the connection once, at a moment of its choosing."""

import socket
from pathlib import Path

from tests.servers.proxy import Proxy, received


class CuttingProxy(Proxy):
    """Passes bytes on, until the client sends ``word``: the server gets it, and the client never hears the answer."""

    def __init__(self, folder: Path, upstream: Path, word: bytes, after: int = 0) -> None:
        self.cuts = 1  # nothing is cut until it is armed
        self._word, self._skip = word, after
        super().__init__(folder, upstream)

    def arm(self, skip: int = 0) -> None:
        """Cut at the next ``word``, or at a later one."""
        self._skip = skip
        self.cuts -= 1

    def say(self, client: socket.socket, server: socket.socket) -> None:
        while data := received(client):
            if self._word in data and self.cuts < 1:
                if self._skip == 0:
                    self.cuts += 1
                    client.shutdown(socket.SHUT_RDWR)  # it will not hear what becomes of its word
                    server.sendall(data)
                    received(server)
                    break
                self._skip -= 1
            server.sendall(data)
        client.close()
        server.close()
