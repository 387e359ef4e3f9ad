"""A backup of a folder while questions are asked and charged: one moment of the ledger, the members and the policies.

While nobody can write to the ledger, which takes a moment, its file and that of the service are held as they are, and
the small files are copied: witness, keys, policies, where the databases are. What was held is copied afterwards, while
others go on. Files of rows never change once they have a name, so they get a second name where the disk allows it, and
are copied elsewhere. The backup is verified before it has its name: it is there as a whole, or not at all.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from discreet.curator.ledger.ledger import Ledger, has_ledger
from discreet.curator.ledger.verify import verify
from discreet.curator.policies import Policies
from discreet.engines.duckdb.store import TableFiles as Rows
from discreet.errors import DiscreetError, InvalidValue, LedgerError, StoreError
from discreet.service.audit_trail import COMMAND, Trail
from discreet.service.storage import ServiceStore
from discreet.storage.database import check_version
from discreet.storage.postgres import read_server
from discreet.storage.sqlite import Snapshot, write_anew
from discreet.version import __version__

__all__ = ["CONTENTS", "Backup", "back_up", "make_durable", "read_backup", "sync"]


CONTENTS = "backup.json"
"""The file of a backup that says what is in it."""
_FORMAT = 1
_DATABASES = ("ledger.db", "service.db", "survey.db")
_APART = ("uploads", "store", "publications")
"""Folders that are copied in their own way, or wait to be taken in and are sent again."""


@dataclass(frozen=True)
class Backup:
    """A backup, and what is in it."""

    folder: Path
    """Where it is."""
    made: str
    """When, in universal time."""
    position: int | None
    """The last record of its ledger; None where it has none of its own."""
    head: bytes
    """The hash of that record."""
    files: dict[str, str]
    """The hash of every file."""
    on_server: bool
    """Whether the ledger is on a server, and so is not in it."""


def back_up(folder: Path, target: Path) -> Backup:
    """Copy a curator's folder, or that of a survey, to ``target``, which must not be there yet."""
    if target.exists():
        raise InvalidValue("a backup goes to a folder that is not there yet", str(target), "name another one")
    draft = target.with_name(f".{target.name}.partial")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        draft.mkdir(mode=0o700, parents=True)
        _copied(folder, draft)
        position, head = _checked(draft)
        facts = {"format": _FORMAT, "discreet": __version__, "made": datetime.now(UTC).isoformat(timespec="seconds")}
        facts |= {"ledger": None if position is None else {"position": position, "head": head.hex()}}
        facts |= {"files": {name: _hash(draft / name) for name in _files(draft)}}
        (draft / CONTENTS).write_text(json.dumps(facts, indent=1), encoding="utf-8")
        make_durable(draft)
        draft.rename(target)
        sync(target.parent)
    except OSError as fault:
        remedy = "nothing was changed; make room or name another place"
        raise StoreError("a backup must have room and be writable", f"<{type(fault).__name__}>", remedy) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    _note(folder, target)
    return read_backup(target)


def read_backup(folder: Path) -> Backup:
    """The backup in a folder; one of which a file is missing or damaged is refused."""
    try:
        facts: dict[str, Any] = json.loads((folder / CONTENTS).read_text(encoding="utf-8"))
        check_version("the backup", facts["format"], _FORMAT)
        ledger = facts["ledger"] or {"position": None, "head": ""}
        head, on_server = bytes.fromhex(ledger["head"]), read_server(folder) is not None
        found = Backup(folder, facts["made"], ledger["position"], head, dict(facts["files"]), on_server)
    except (OSError, ValueError, KeyError, TypeError):
        raise InvalidValue("there must be a backup in the folder", str(folder), "discreet backup makes one") from None
    for name, digest in found.files.items():
        if not (folder / name).is_file() or _hash(folder / name) != digest:
            raise StoreError("every file of a backup must be as it was made", name, "take another backup")
    return found


# Copying ------------------------------------------------------------------------------------------------------------


def _copied(folder: Path, draft: Path) -> None:
    """Copy everything, of one moment."""
    if not has_ledger(folder):
        _copy_survey(folder, draft)
        return
    rows = Rows(folder)
    with rows.writing(), Policies(folder).changing():  # nobody takes in rows meanwhile, nor changes a policy
        _copy_rows(rows.root, draft / "store")
        _link_all(folder / "publications", draft / "publications")
        ledger = Ledger(folder)
        try:
            held = ledger.storage.write(lambda _: _held(folder, draft))
        finally:
            ledger.close()
    try:
        for snapshot in held:
            snapshot.write(draft / snapshot.path.name)
    finally:
        for snapshot in held:
            snapshot.close()


def _held(folder: Path, draft: Path) -> list[Snapshot]:
    """While nobody writes to the ledger: hold the databases as they are, and copy the small files."""
    _copy_small(folder, draft)
    return [Snapshot(folder / name) for name in _DATABASES if (folder / name).exists()]


def _copy_small(folder: Path, draft: Path) -> None:
    for path in folder.iterdir():
        is_of_a_process = path.suffix == ".lock" or path.name.startswith("running.")  # marks that come and go
        is_kept_apart = is_of_a_process or path.name.startswith((".", *_DATABASES)) or path.name in _APART
        if path.is_dir() and not is_kept_apart:
            shutil.copytree(path, draft / path.name, dirs_exist_ok=True)
        elif path.is_file() and not is_kept_apart:
            shutil.copy2(path, draft / path.name)


def _copy_survey(folder: Path, draft: Path) -> None:
    """A survey is written anew, so that the copy does not show in which order people answered."""
    if not (folder / "survey.db").exists():
        raise InvalidValue("there must be a curator or a survey in the folder", str(folder), "name its folder")
    _copy_small(folder, draft)
    write_anew(folder / "survey.db", draft / "survey.db")


def _copy_rows(root: Path, target: Path) -> None:
    target.mkdir(mode=0o700)
    for path in root.iterdir():
        if path.name.startswith(("rows-", "open-")):
            _link(path, target / path.name)
        elif path.is_file() and path.suffix not in (".lock", ".new"):
            shutil.copy2(path, target / path.name)


def _link_all(folder: Path, target: Path) -> None:
    if folder.is_dir():
        target.mkdir(mode=0o700)
        for path in folder.iterdir():
            _link(path, target / path.name)


def _link(path: Path, target: Path) -> None:
    """A second name for a file that never changes; a copy where the disk is another one."""
    try:
        os.link(path, target)
    except OSError:
        shutil.copy2(path, target)


def _checked(draft: Path) -> tuple[int | None, bytes]:
    """Position and hash of the last record of the copy, which must be sound; None where it has no ledger file."""
    if not (draft / "ledger.db").exists():
        return None, b""
    found = verify(draft)
    if not found.is_sound:
        rule = "a backup is made of a ledger that is sound"
        raise LedgerError(rule, f"<{found.problems[0]}>", "see discreet ledger verify")
    return found.entries, found.head


def _note(folder: Path, target: Path) -> None:
    """The audit trail says that there is a copy of everything, where there is a trail."""
    if (folder / "service.db").exists():
        with suppress(DiscreetError):
            store = ServiceStore(folder)
            Trail(store).write("backup made", COMMAND, backup=target.name)
            store.close()


def _files(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != CONTENTS and not path.name.endswith(("-wal", "-shm")):
            yield str(path.relative_to(folder))


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def make_durable(folder: Path) -> None:
    """Wait until every file and folder below this one is on the disk."""
    for path in (folder, *folder.rglob("*")):
        sync(path)


def sync(path: Path) -> None:
    """Wait until a file or a folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
