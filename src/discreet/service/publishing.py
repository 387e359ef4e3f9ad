"""Publishing: tables that leave the house as they are, approved by name, checked and on record with an infinite loss.

What is stated about a release is checked on its own bytes before they are kept. It is not differential privacy, and
the ledger says so.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from discreet.catalog.names import checked_name, checked_text
from discreet.curator.publications import Publication
from discreet.errors import InvalidValue, NotFound, StoreError
from discreet.service import uploads
from discreet.service.house import House
from discreet.service.role import EVERYBODY, Role
from discreet.service.table_files import PARQUET
from discreet.service.uploads import Upload
from discreet.service.visitor import Visitor

if TYPE_CHECKING:
    from discreet.anonymize.models.model import Model
    from discreet.anonymize.roles import Roles

__all__ = ["LONGEST_WORDS", "Release", "publications", "publish", "release"]

LONGEST_WORDS = 2000
"""How many characters the reason for a publication may have."""
_OWNERS = frozenset({Role.OWNER})
_FOLDER = "publications"


@dataclass(frozen=True)
class Release:
    """The file of a publication."""

    publication: Publication
    """What is on record about it."""
    path: Path
    """Where its bytes are, which are those that were recorded."""
    file: str
    """A name for it."""
    media_type: str
    """What kind of file it is."""


def publish(
    house: House,
    visitor: Visitor,
    name: str,
    upload_id: str,
    roles: Roles,
    models: Sequence[Model],
    *,
    why: str,
    approved: bool,
    more: Mapping[str, Any] | None = None,
    reference: pa.Table | None = None,
) -> Publication:
    """Publish an upload that meets every one of ``models``, approved by the visitor for the reason ``why``.

    ``more`` is stated beside what was checked. Models that compare a class with the whole table compare it with the
    release, or with ``reference`` where rows were left out of it. The upload is gone when it is published.
    """
    from discreet.service.release_check import checked_facts  # noqa: PLC0415  the check loads much, for owners alone

    visitor.must_be(_OWNERS)
    checked_name(name, "a publication's name")
    _check_approval(why, approved)
    kept = uploads.upload(house, visitor, upload_id)
    facts = checked_facts(kept, roles, models, reference)
    sha256 = _hash(kept.path)
    statement = {**(more or {}), "why": why.strip(), **facts}
    target, is_new = _keep(house, kept, sha256)
    try:
        with house.trail.act("publication approved", visitor.name, publication=name, sha256=sha256):
            made = house.curator.record_publication(
                name=name, approved_by=visitor.name, sha256=sha256, statement=statement
            )
    except BaseException:
        if is_new and sha256 not in {one.sha256 for one in house.curator.publications()}:
            target.unlink(missing_ok=True)
        raise
    uploads.discard(house, visitor, upload_id)
    return made


def publications(house: House, visitor: Visitor) -> list[Publication]:
    """What was published, latest first: for everybody who is signed in."""
    visitor.must_be(EVERYBODY)
    return house.curator.publications()[::-1]


def release(house: House, visitor: Visitor, entry: int) -> Release:
    """The file of the publication at a place in the ledger; one whose bytes were changed since is not given out."""
    visitor.must_be(EVERYBODY)
    found = next((one for one in house.curator.publications() if one.entry == entry), None)
    if found is None:
        raise NotFound("there must be such a publication", entry)
    path = next(iter((house.settings.folder / _FOLDER).glob(f"{found.sha256}.*")), None)
    if path is None or _hash(path) != found.sha256:
        raise StoreError("the file of a publication must be the one that was recorded", None, "put it back")
    kind = "application/vnd.apache.parquet" if path.suffix in PARQUET else "text/csv"
    return Release(found, path, f"{found.name}{path.suffix}", kind)


def _check_approval(why: str, approved: bool) -> None:
    if approved is not True:
        rule = "a publication must be approved by the owner, for no ε bounds what it tells"
        raise InvalidValue(rule, "<not approved>", "read what an attacker can still do, and approve it")
    if not 0 < len(checked_text(why, "the reason").strip()) <= LONGEST_WORDS:
        rule = f"who approves a publication must say why, in at most {LONGEST_WORDS:,} characters"
        raise InvalidValue(rule, f"<{len(why.strip()):,}>", "say what it is for and who asked for it")


# Keeping ----------------------------------------------------------------------------------------------------------


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _keep(house: House, kept: Upload, sha256: str) -> tuple[Path, bool]:
    """The file under its hash, durably, and whether it was not there before."""
    folder = house.settings.folder / _FOLDER
    target = folder / f"{sha256}{kept.path.suffix}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        is_new = _linked(kept.path, target)
        for path in (target, folder):
            _make_durable(path)
    except OSError:
        raise StoreError(
            "the service's disk must have room for what is published", "<a disk that takes no more>"
        ) from None
    return target, is_new


def _linked(path: Path, target: Path) -> bool:
    try:
        os.link(path, target)
    except FileExistsError:
        return False
    return True


def _make_durable(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
