"""The service's own book: members, tokens and requests, beside the ledger: in a file, or on the ledger's server.

The ledger alone says what was spent. What is here could be lost without a budget being passed: an answer that is kept
here is one that the ledger has, made readable.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from discreet.books.book import Book, Database, Part
from discreet.books.place import server_of
from discreet.books.postgres import PostgresBook
from discreet.books.presence import Presence
from discreet.books.sqlite import SQLiteBook
from discreet.books.versions import check_version
from discreet.errors import StoreError
from discreet.service.store_schema import POSTGRES, SQLITE, UPGRADES, VERSION

__all__ = ["Store", "file_book", "server_book"]

Result = TypeVar("Result")


class Store:
    """The file ``service.db`` in the curator's folder, or tables on the server that holds its ledger."""

    def __init__(self, folder: Path) -> None:
        """Open the book of ``folder``, or start one there."""
        self.path = folder / "service.db"
        server = server_of(folder)
        self._book = file_book(self.path) if server is None else server_book(server)

    @property
    def presence(self) -> Presence:
        """What processes hold while they live."""
        return self._book.presence

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """What a question to the book finds."""
        with self._book.reading() as database:
            return database.execute(statement, values).fetchall()

    def write(self, part: Part[Result], *, repeatable: bool = False) -> Result:
        """Do ``part`` in a transaction, durably; where it raises, nothing of it was done."""
        return self._book.write(part, repeatable=repeatable)

    def close(self) -> None:
        """Let go of the file or the server."""
        self._book.close()


def _refusal(what: str) -> StoreError:
    return StoreError("the service's database must be readable and writable", f"<{what}>")


def file_book(path: Path) -> Book:
    """The book in a file, which is made where there is none."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as fault:
        raise _refusal(type(fault).__name__) from None
    book = SQLiteBook(path, _refusal)
    try:
        book.write(_made)
    except StoreError:
        book.close()
        raise
    return book


def _made(database: Database) -> None:
    """Make the tables of a file that has none; whoever comes at the same moment finds them made."""
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version == 0:
        database.execute(SQLITE)
        database.execute(f"PRAGMA user_version = {VERSION}")
    check_version("service.db", version, VERSION)
    for before in range(version, VERSION) if version else ():
        database.execute(UPGRADES["sqlite"][before])
        database.execute(f"PRAGMA user_version = {before + 1}")


def server_book(server: str) -> Book:
    """The book on a server, whose tables are made where there are none."""
    return PostgresBook(server, "discreet_service", POSTGRES, VERSION, _refusal, UPGRADES["postgres"])
