"""A proxy between a curator and its PostgreSQL server that cuts the connection once, at a moment of its choosing."""

import socket
import threading
from pathlib import Path


class CuttingProxy:
    """Passes bytes on, until the client sends ``word``: the server gets it, and the client never hears the answer."""

    def __init__(self, folder: Path, upstream: Path, word: bytes, after: int = 0) -> None:
        self.cuts = 0
        self._word, self._skip = word, after
        self._upstream = str(upstream)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / ".s.PGSQL.5432"))
        self._listener.listen(64)
        threading.Thread(target=self._serve, daemon=True).start()

    def arm(self, skip: int = 0) -> None:
        """Cut at the next ``word``, or at a later one."""
        self._skip = skip
        self.cuts -= 1

    def _serve(self) -> None:
        self.cuts = 1  # nothing is cut until it is armed
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._upstream)
            threading.Thread(target=self._up, args=(client, server), daemon=True).start()
            threading.Thread(target=_pass_on, args=(server, client), daemon=True).start()

    def _up(self, client: socket.socket, server: socket.socket) -> None:
        while data := _received(client):
            if self._word in data and self.cuts < 1:
                if self._skip == 0:
                    self.cuts += 1
                    client.shutdown(socket.SHUT_RDWR)  # it will not hear what becomes of its word
                    server.sendall(data)
                    _received(server)
                    break
                self._skip -= 1
            server.sendall(data)
        client.close()
        server.close()


def _received(source: socket.socket) -> bytes:
    try:
        return source.recv(65536)
    except OSError:
        return b""


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    while data := _received(source):
        try:
            target.sendall(data)
        except OSError:
            return
