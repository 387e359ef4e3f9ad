"""A proxy between a curator and its PostgreSQL server; what becomes of the words of a client is said by its kinds."""

import socket
import threading
from pathlib import Path

__all__ = ["Proxy", "received"]


class Proxy:
    """Passes bytes of the server on; what a client says goes through ``say``, a thread for each connection."""

    def __init__(self, folder: Path, upstream: Path) -> None:
        self._upstream = str(upstream)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / ".s.PGSQL.5432"))
        self._listener.listen(64)
        threading.Thread(target=self._serve, daemon=True).start()

    def say(self, client: socket.socket, server: socket.socket) -> None:
        """Pass on what a client says until it ends."""
        raise NotImplementedError

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._upstream)
            threading.Thread(target=self.say, args=(client, server), daemon=True).start()
            threading.Thread(target=_pass_on, args=(server, client), daemon=True).start()


def received(source: socket.socket) -> bytes:
    """What came next; nothing where the connection is gone."""
    try:
        return source.recv(65536)
    except OSError:
        return b""


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    while data := received(source):
        try:
            target.sendall(data)
        except OSError:
            return
