"""A proxy between a curator and its PostgreSQL server that counts how often the curator waits for the server."""

import socket
import threading
from pathlib import Path

_STARTUP = 4
"""The first message of a connection has a length and no kind."""


class CountingProxy:
    """Passes bytes on, and counts what demands an answer: ``Q`` asks, ``H`` and ``S`` end what was sent ahead."""

    def __init__(self, folder: Path, upstream: Path) -> None:
        self.waits = 0
        self._upstream = str(upstream)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / ".s.PGSQL.5432"))
        self._listener.listen(64)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._upstream)
            threading.Thread(target=self._up, args=(client, server), daemon=True).start()
            threading.Thread(target=_down, args=(server, client), daemon=True).start()

    def _up(self, client: socket.socket, server: socket.socket) -> None:
        pending, is_new = b"", True
        while data := client.recv(65536):
            pending += data
            if is_new and len(pending) >= _STARTUP:
                pending, is_new = pending[int.from_bytes(pending[:_STARTUP]) :], False
            while len(pending) >= 5 and len(pending) > (length := int.from_bytes(pending[1:5])):
                self.waits += pending[:1] in (b"H", b"S", b"Q")
                pending = pending[1 + length :]
            server.sendall(data)
        server.close()


def _down(server: socket.socket, client: socket.socket) -> None:
    try:
        while data := server.recv(65536):
            client.sendall(data)
    except OSError:
        return
