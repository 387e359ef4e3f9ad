"""Moving a ledger from its file to a PostgreSQL server, record by record, so that the chain goes on there.

At every moment one of the two can be written, never both: the file refuses further records before the folder says that
the server has them, and whoever still holds the file open hears so. A move that was interrupted is begun again.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from discreet.curator.ledger.chain import index_key
from discreet.curator.ledger.ledger import Ledger, server_storage
from discreet.curator.ledger.schema import MOVED
from discreet.curator.ledger.verify import verify
from discreet.errors import InvalidValue, LedgerError
from discreet.storage.database import Database, Row, copy_database
from discreet.storage.postgres import check_server, read_server, write_server
from discreet.storage.sqlite import SQLiteStorage

__all__ = ["move"]


_COLUMNS = {
    "account_2": "name, measure, places, cap, delta_cap, cap_pure, alpha, unit, spent, delta_spent, spent_pure, impure",
    "portion_2": "account, part, key, spent, spent_pure",
    "entry": "position, body, hash",
    "request": "id, body_hash, charge, answer, bytes",
}
"""In the order of their references."""


def move(folder: Path, url: str) -> int:
    """Move the ledger of ``folder`` to the server at ``url``; returns how many records went there."""
    check_server(url)
    if read_server(folder) is not None:
        raise InvalidValue("a ledger is moved from its file to a server", "<one on a server>", "it is there already")
    _check(folder)
    ledger = Ledger(folder)
    try:
        records = ledger.storage.write(lambda database: _moved(database, url))
    finally:
        ledger.close()
    write_server(folder, url)
    SQLiteStorage.put_aside(folder / "ledger.db")
    (folder / "ledger.witness").rename(folder / "ledger.witness.file")
    (folder / "ledger.checkpoint").unlink(missing_ok=True)
    _check(folder)
    return records


def _check(folder: Path) -> None:
    found = verify(folder)
    if not found.is_sound:
        raise LedgerError("the ledger must be sound", f"<{found.problems[0]}>", "see discreet ledger verify")


def _moved(database: Database, url: str) -> int:
    """While nobody else writes to the file: copy it, and close it for good once the copy is durable."""
    storage = server_storage(url)
    try:
        records = storage.write(lambda server: _copied(database, server))
    finally:
        storage.close()
    database.execute(MOVED)
    return records


def _copied(database: Database, server: Database) -> int:
    if not copy_database(database, server, _COLUMNS, _with_keys):
        rule = "the server must not hold another ledger"
        remedy = "name another database; after a move that was cut off, drop the schema discreet_ledger"
        raise LedgerError(rule, "<one with other records>", remedy)
    (records,) = database.execute("SELECT COUNT(*) FROM entry").fetchone()
    return int(records)


def _with_keys(table: str, rows: list[Row]) -> list[Row]:
    """A file may hold long texts as they are, from when they had no key yet; an index of the server does not."""
    if table == "portion_2":
        spent, pure = Counter[Row](), Counter[Row]()
        for account, part, key, units, beside in rows:
            place = (account, index_key(part), index_key(key))
            spent[place] += units
            pure[place] += beside
        return sorted((*place, units, pure[place]) for place, units in spent.items())
    return sorted((index_key(request), *known) for request, *known in rows) if table == "request" else rows
