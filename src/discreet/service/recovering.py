"""Going on with an older book of members: what was revoked since is not known, so every token ends."""

from __future__ import annotations

import time

from discreet.books.book import Database
from discreet.curator.ledger import Ledger
from discreet.curator.trail_marks import record_mark
from discreet.errors import StoreError
from discreet.service.store import Store
from discreet.service.trail import COMMAND, Trail, note

__all__ = ["end_all_tokens", "recover"]


def recover(store: Store, ledger: Ledger) -> int | None:
    """End every token where the book is older than the ledger knows; how many ended, None where it is not older."""
    try:
        Trail(store).check(ledger)
    except StoreError as older:
        return end_all_tokens(store, ledger, f"an older book: {older.value}")
    return None


def end_all_tokens(store: Store, ledger: Ledger, why: str) -> int:
    """Take back every token of everybody, and let the ledger know of the trail as it is now; how many that were."""

    def part(database: Database) -> int:
        ended = "UPDATE token SET revoked = ? WHERE revoked IS NULL RETURNING id"
        count = len(database.execute(ended, (time.time(),)).fetchall())
        note(database, "all tokens revoked", COMMAND, count=count, because=why)
        return count

    count = store.write(part)
    record_mark(ledger, *Trail(store).head(), afresh=True)
    return count
