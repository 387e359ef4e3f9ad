"""Upgrades: what an older release made becomes what this one makes, after a backup, one whole step at a time.

Everything that a release ever wrote is opened by later ones. An upgrade does at once, and with a backup at hand, what
would else be done when it is needed. Each step is one transaction: whoever is killed in between begins again, and what
was done is not done twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from discreet.curator.ledger.ledger import Ledger, has_ledger
from discreet.curator.ledger.schema import VERSION as LEDGER
from discreet.engines.duckdb.manifest import FORMAT as ROWS
from discreet.engines.duckdb.manifest import WITHOUT_GROWTH
from discreet.engines.duckdb.store import TableFiles as RowsStore
from discreet.errors import InvalidValue, StoreError
from discreet.service.maintenance.backup import back_up
from discreet.service.storage import ADDED, ServiceStore
from discreet.service.storage import VERSION as SERVICE
from discreet.storage.database import check_version
from discreet.storage.postgres import read_schema_version, read_server
from discreet.storage.sqlite import Snapshot, read_version
from discreet.survey.store import VERSION as SURVEY

__all__ = ["Upgrade", "UpgradedPart", "parts_of", "upgrade"]


@dataclass(frozen=True)
class UpgradedPart:
    """Something with a format of its own."""

    name: str
    """What it is."""
    found: int
    """The version that it has."""
    known: int
    """The latest that this release knows."""
    step: Callable[[Path], object] | None = None
    """What is to be done, in one transaction; None where it is as this release makes it."""
    does: str = ""
    """What that does, in words."""


@dataclass(frozen=True)
class Upgrade:
    """What an upgrade did."""

    parts: tuple[UpgradedPart, ...]
    """Everything that has a version, as it was before."""
    backup: Path | None
    """Where everything is as it was; None where nothing had to be done, or a server holds it. The file of an older
    ledger is there as ``ledger.db.before``."""

    @property
    def done(self) -> tuple[UpgradedPart, ...]:
        """What was changed."""
        return tuple(part for part in self.parts if part.step is not None)


def upgrade(folder: Path, *, dumped: bool = False) -> Upgrade:
    """Bring a curator's folder, or that of a survey, to the formats of this release, with a backup beside it first.

    A server's tables are saved by whoever keeps the server, who says that they were ``dumped``.
    """
    parts = parts_of(folder)
    steps = [part for part in parts if part.step is not None]
    if not steps:
        return Upgrade(parts, None)
    if read_server(folder) is not None and not dumped:
        rule = "the tables on the server must be saved before they are changed"
        raise InvalidValue(rule, "<no dump>", "run pg_dump, then discreet upgrade --dumped")
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%f")  # who was killed leaves one, and tries again at once
    kept = folder.resolve().with_name(f"{folder.resolve().name}.before-upgrade-{stamp}")
    with _ledger_as_it_is(folder) as before:
        back_up(folder, kept)
        if before is not None:
            before.write(kept / "ledger.db.before")
    for part in steps:
        assert part.step is not None  # noqa: S101  those are the steps
        part.step(folder)
    return Upgrade(parts, kept)


@contextmanager
def _ledger_as_it_is(folder: Path) -> Iterator[Snapshot | None]:
    """The file of an older ledger, for who wants to go back: whoever opens it, as a backup does, upgrades it."""
    file = folder / "ledger.db"
    if not file.exists() or read_version(file) == LEDGER:
        yield None
        return
    held = Snapshot(file)
    try:
        yield held
    finally:
        held.close()


def parts_of(folder: Path) -> tuple[UpgradedPart, ...]:
    """Everything in a folder that has a version; what a newer release made is refused, and nothing is changed."""
    if (folder / "survey.db").exists():
        return (_number("survey.db", read_version(folder / "survey.db"), SURVEY),)
    if not has_ledger(folder):
        raise InvalidValue("there must be a curator or a survey in the folder", str(folder), "name its folder")
    found = [_rows(folder)] if (folder / "store" / "manifest.json").exists() else []
    return (_ledger(folder), *found, *_service(folder))


def _number(name: str, found: int, known: int) -> UpgradedPart:
    check_version(name, found, known)
    return UpgradedPart(name, found, known)


def _rows(folder: Path) -> UpgradedPart:
    try:
        found = int(json.loads((folder / "store" / "manifest.json").read_text(encoding="utf-8"))["format"])
    except (ValueError, KeyError, TypeError):
        raise StoreError("the store's manifest must be whole", None, "restore it from a backup") from None
    check_version("the rows in store/", found, ROWS)
    part = UpgradedPart("the rows in store/", found, max(found, WITHOUT_GROWTH))
    does = "made a secret for the order of keys; take the tables in again, for marks of keys are made then"
    return replace(part, step=_with_secret, does=does) if found < WITHOUT_GROWTH else part


def _with_secret(folder: Path) -> None:
    rows = RowsStore(folder)
    rows.share(rows.secret())


def _service(folder: Path) -> list[UpgradedPart]:
    """The database of members: it is made on first use, so there may be none."""
    file = folder / "service.db"
    if read_server(folder) is not None:
        return _service_there(folder)
    if not file.exists():
        return []
    found = read_version(file)
    check_version("service.db", found, SERVICE)
    return [_with_all(found)] if found < SERVICE else [UpgradedPart("service.db", found, SERVICE)]


def _with_all(found: int) -> UpgradedPart:
    added = " and ".join(words for before, words in ADDED.items() if before >= found)
    return UpgradedPart("service.db", found, SERVICE, _open_store, f"added {added}")


def _service_there(folder: Path) -> list[UpgradedPart]:
    """On a server the version is read without opening the database, which would upgrade it."""
    server = read_server(folder)
    found = None if server is None else read_schema_version(server, "discreet_service")
    if found is None:
        return []
    check_version("the schema discreet_service", found, SERVICE)
    return [_with_all(found)] if found < SERVICE else [UpgradedPart("the schema discreet_service", found, SERVICE)]


def _open_store(folder: Path) -> None:
    ServiceStore(folder).close()


def _ledger(folder: Path) -> UpgradedPart:
    """The ledger; its version is read without opening it, which would upgrade it."""
    server = read_server(folder)
    found = read_version(folder / "ledger.db") if server is None else read_schema_version(server, "discreet_ledger")
    check_version("the ledger", found or 0, LEDGER)
    if found is None or found == LEDGER:
        return UpgradedPart("the ledger", LEDGER, LEDGER)
    does = "made accounts that count ε beside ρ, and know whose people they are about"
    return UpgradedPart("the ledger", found, LEDGER, _open_ledger, does)


def _open_ledger(folder: Path) -> None:
    Ledger(folder).close()
