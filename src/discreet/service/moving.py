"""Moving a house to a PostgreSQL server: its members, tokens and requests, and the ledger.

Nobody may serve the folder meanwhile: the ledger refuses late records by itself, but a member who joins at the wrong
moment would stay behind.
"""

from __future__ import annotations

from pathlib import Path

from discreet.books.book import Database
from discreet.books.copying import copied
from discreet.books.place import checked_server, server_of
from discreet.books.sqlite import SQLiteBook
from discreet.curator.moving import move as move_ledger
from discreet.errors import StoreError
from discreet.service.store import file_book, server_book

__all__ = ["move"]

_COLUMNS = {
    "member": "name, role, since, removed",
    "token": "id, member, mark, hash, label, once, made, expires, revoked",
    "request": "member, id, wish, price, made, state, lease, settled, entry, answer, problem",
    "event": "position, body, hash",
}
"""In the order of their references."""


def move(folder: Path, url: str) -> int:
    """Move the books of ``folder`` to the server at ``url``; returns how many records of the ledger went there."""
    file = folder / "service.db"
    if file.exists() and server_of(folder) is None:
        _move_members(file, checked_server(url))
    records = move_ledger(folder, url)
    if file.exists():
        SQLiteBook.put_aside(file)
    return records


def _move_members(file: Path, url: str) -> None:
    book, server = file_book(file), server_book(url)
    try:
        book.write(lambda database: server.write(lambda there: _copied(database, there)))
    finally:
        book.close()
        server.close()


def _copied(database: Database, server: Database) -> None:
    if not copied(database, server, _COLUMNS):
        remedy = "name another database; after a move that was cut off, drop the schema discreet_service"
        raise StoreError("the server must not hold the members of another service", "<others>", remedy)
