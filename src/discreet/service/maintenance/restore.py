"""Restoring a backup without handing back budget.

A restored ledger knows nothing of what was answered after the backup, and those answers were seen. So a restore is an
act of the owner that stands in the ledger, and it charges what was lost:

- Where the witness of the lost folder is there, it tells how far the ledger had come before an answer left. If that is
  where the backup ends, nothing was lost. If a signed head knows the accounts at that point or later, they are charged
  to what it says.
- Where there is no witness, the owner must say that nothing was charged after the backup, or nothing after the newest
  head. A head that says otherwise is believed, and the owner is not.
- Else all that is left of every budget is used up.

Tokens that were revoked after the backup would come back, so all tokens end, unless nothing was lost. So would people
who signed out at the console, so everybody signs in there again.

An owner may also go on with an older database of members: what was revoked since is not known, so every token ends.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from discreet.curator.ledger.ledger import Ledger
from discreet.curator.ledger.maintenance import record_mark, record_restore
from discreet.curator.ledger.signed_head import check_form
from discreet.curator.ledger.signing import Signer
from discreet.curator.ledger.verify import verify
from discreet.curator.ledger.witness import Witness
from discreet.errors import InvalidValue, LedgerError, StoreError
from discreet.service.audit_trail import COMMAND, Trail, note
from discreet.service.auth.sessions import end_all_sessions
from discreet.service.maintenance.backup import CONTENTS, Backup, make_durable, read_backup, sync
from discreet.service.storage import ServiceStore
from discreet.storage.database import Database
from discreet.storage.postgres import read_server

__all__ = ["Restoration", "RestoreStatement", "end_all_tokens", "recover", "restore"]


def recover(store: ServiceStore, ledger: Ledger) -> int | None:
    """End every token where the database is older than the ledger knows; how many ended, None where it is not older."""
    try:
        Trail(store).check(ledger)
    except StoreError as older:
        return end_all_tokens(store, ledger, f"an older database: {older.value}")
    return None


def end_all_tokens(store: ServiceStore, ledger: Ledger, why: str) -> int:
    """Take back every token of everybody, and let the ledger know of the trail as it is now; how many that were."""

    def part(database: Database) -> int:
        ended = "UPDATE token SET revoked = ? WHERE revoked IS NULL RETURNING id"
        count = len(database.execute(ended, (time.time(),)).fetchall())
        note(database, "all tokens revoked", COMMAND, count=count, because=why)
        return count

    count = store.write(part)
    record_mark(ledger, *Trail(store).head(), afresh=True)
    return count


class RestoreStatement(Enum):
    """What the owner says about the time after a backup."""

    NOTHING = "nothing"
    """Nothing: only a witness can tell."""
    NOTHING_LOST = "nothing was charged after the backup"
    """No question was answered since."""
    UNTIL_HEAD = "nothing was charged after the newest head"
    """No question was answered since the newest head that is named."""
    USE_UP = "nobody knows what was charged after the backup"
    """All that is left is used up."""


@dataclass(frozen=True)
class Restoration:
    """What a restore did."""

    record: int | None
    """Where the ledger says so; None for a survey, which has none."""
    charged: tuple[str, ...]
    """The accounts that were charged for what was lost."""
    lost: int | None
    """The last record that is known to be lost, or the last of the backup where none is; None: nobody knows."""
    tokens: int | None
    """How many tokens have ended; None where none had to."""


@dataclass(frozen=True)
class _Head:
    """A signed head that was kept elsewhere."""

    position: int
    head: bytes
    accounts: Mapping[str, Mapping[str, Any]]


def restore(
    source: Path,
    folder: Path,
    *,
    said: RestoreStatement = RestoreStatement.NOTHING,
    old: Path | None = None,
    heads: Sequence[Path] = (),
) -> Restoration:
    """Put a backup into ``folder``, which must not be there; ``old`` is the folder that was lost, with its witness.

    Where nothing proves or says what became of the time after the backup, it is refused.
    """
    backup = read_backup(source)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        rule, remedy = (
            "a backup is restored into a folder that is empty or not there",
            "move it aside, and name it --old",
        )
        raise InvalidValue(rule, str(folder), remedy)
    draft = folder.with_name(f".{folder.name}.restoring")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        shutil.copytree(source, draft, ignore=shutil.ignore_patterns(CONTENTS))
        draft.chmod(0o700)
        found = _charge_lost(draft, backup, said, old, heads)
        make_durable(draft)
        if folder.exists():
            folder.rmdir()
        draft.rename(folder)
        sync(folder.parent)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return found


def _charge_lost(
    draft: Path, backup: Backup, said: RestoreStatement, old: Path | None, heads: Sequence[Path]
) -> Restoration:
    if backup.position is None and not backup.on_server:
        return Restoration(None, (), None, None)
    seen = [*_read_witnesses(old), *(_read_witnesses(draft) if backup.on_server else ())]
    if backup.on_server:
        _put_aside(draft)
    else:
        _check_sound(draft)
    key = Signer(draft).public_key.hex()
    ledger = Ledger(draft)
    try:
        end = ledger.head()
        known = [_read_head(path, key) for path in heads]
        _check_same(ledger, end[0], [*seen, *((one.position, one.head) for one in known)])
        lost, newest = _lost(end[0], old is not None, [one for one, _ in seen], known, said)
        before = ledger.accounts()
        record = record_restore(ledger, end, lost, {} if newest is None else newest.accounts, said.value)
        charged = [name for name, one in ledger.accounts().items() if one != before.get(name)]
        tokens = _end_tokens(draft, ledger, record if lost != end[0] else None)
        return Restoration(record, tuple(sorted(charged)), lost, tokens)
    finally:
        ledger.close()


def _lost(
    end: int, is_witnessed: bool, seen: list[int], heads: list[_Head], said: RestoreStatement
) -> tuple[int | None, _Head | None]:
    """Up to which record was lost what is paid for by which head; None where all that is left is used up."""
    newest = max(heads, key=lambda one: one.position, default=None)
    last = max([end, *seen, *(one.position for one in heads)])
    if said is RestoreStatement.USE_UP:
        return None, newest
    if last == end and (is_witnessed or said is RestoreStatement.NOTHING_LOST):
        return end, None
    if newest is not None and newest.position == last and (is_witnessed or said is RestoreStatement.UNTIL_HEAD):
        return last, newest
    raise _refusal(end, last, said)


def _refusal(end: int, last: int, said: RestoreStatement) -> LedgerError:
    if last > end:
        rule = f"a restore must not hand back budget: the backup ends at record {end}"
        remedy = "name a signed head of that record with --head and say --until-head, or say --use-up"
        return LedgerError(rule, f"<record {last} was seen>", remedy)
    rule = "a restore must account for what was charged after the backup"
    remedy = "name the lost folder with --old, or say --nothing-lost, --until-head with --head, or --use-up"
    return LedgerError(rule, f"<{said.value} is known>" if said is RestoreStatement.NOTHING else "<no head>", remedy)


def _read_witnesses(folder: Path | None) -> list[tuple[int, bytes]]:
    """What the witnesses of a folder saw; one that is not there is refused, for it would prove that nothing was."""
    if folder is None:
        return []
    files = [path for path in sorted(folder.glob("ledger.witness*")) if path.is_file()]
    if not files:
        raise InvalidValue("the lost folder must have its witness", str(folder), "without it, leave --old out")
    return [one for path in files for one in Witness(path).attested().items()]


def _check_same(ledger: Ledger, end: int, seen: Sequence[tuple[int, bytes]]) -> None:
    """Refuse a witness or a head of another ledger: it proves nothing about this one."""
    for position, head in seen:
        entry = ledger.entry(position) if 0 < position <= end else None
        if entry is not None and entry.hash != head:
            rule = f"record {position} of the backup must be the one that was seen"
            raise LedgerError(rule, "<another one>", "the backup, the witness or the head is of another ledger")


def _read_head(path: Path, key: str) -> _Head:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        stated = check_form(document, key)
        accounts = document["accounts"]
    except (OSError, ValueError, KeyError, TypeError):
        stated, accounts = None, {}
    if stated is None:
        raise InvalidValue("a head must be signed by the curator of the backup", str(path))
    return _Head(*stated, accounts)


def _put_aside(draft: Path) -> None:
    """Witnesses and checkpoints of a server's ledger saw one that is gone; this host starts anew behind the restore."""
    for path in [*draft.glob("ledger.witness*"), *draft.glob("ledger.checkpoint*")]:
        path.rename(path.with_name(f"before-restore-{path.name}"))


def _check_sound(draft: Path) -> None:
    found = verify(draft)
    if not found.is_sound:
        raise LedgerError("the ledger of a backup must be sound", f"<{found.problems[0]}>", "take another backup")


def _end_tokens(draft: Path, ledger: Ledger, record: int | None) -> int | None:
    """End all sessions, and all tokens where a record says that something was lost."""
    if not (draft / "service.db").exists() and read_server(draft) is None:
        return None
    store = ServiceStore(draft)
    try:
        end_all_sessions(store)
        return (
            None
            if record is None
            else end_all_tokens(store, ledger, f"restored from a backup: record {record} of the ledger")
        )
    finally:
        store.close()
