"""Publishing: tables that leave the service as they are, approved by name, checked and on record with an infinite loss.

What is stated about a release is checked on its own bytes before they are kept. It is not differential privacy, and
the ledger says so.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from discreet.anonymize.check import CheckReport, check
from discreet.anonymize.models.model import Model
from discreet.anonymize.models.registry import RequestedModels
from discreet.anonymize.recode.recoding import refuse_other_columns
from discreet.anonymize.roles import Roles
from discreet.anonymize.table import arrow_table
from discreet.catalog.names import check_name, check_text
from discreet.catalog.policy.write import find_type
from discreet.curator.publications import PublicationRecord
from discreet.errors import DiscreetError, InvalidValue, NotFound, StoreError
from discreet.service.auth.roles import PEOPLE, MemberRole, Principal
from discreet.service.operations import uploads
from discreet.service.operations.uploads import PARQUET, Upload
from discreet.service.state import ServiceState

if TYPE_CHECKING:
    from discreet.anonymize.models.model import Model
    from discreet.anonymize.roles import Roles

__all__ = [
    "LARGEST_RELEASE",
    "LONGEST_WORDS",
    "PublishedFile",
    "check_facts",
    "publications",
    "publish",
    "release",
    "state_release",
]


LARGEST_RELEASE = 100_000_000
"""How many bytes a release may have: all of it is in memory while it is checked."""


def state_release(
    columns: Iterable[str], quasi: Sequence[str], sensitive: Sequence[str], letters: Mapping[str, Any]
) -> tuple[Roles, list[Model]]:
    """The roles of some columns, and the models that letters such as k and l stand for."""
    roles = Roles.of(columns, quasi=quasi, sensitive=sensitive)
    return roles, RequestedModels(**letters).models(roles)


def check_facts(
    kept: Upload, roles: Roles, models: Sequence[Model], reference: pa.Table | None = None
) -> dict[str, Any]:
    """What was checked about a release, as the ledger states it; one that does not meet its models is refused."""
    found = _checked(kept, roles, models, reference)
    named = {
        "quasi": found.roles.quasi,
        "sensitive": found.roles.sensitive,
        "identifying": found.roles.identifying,
        "insensitive": found.roles.insensitive,
    }
    return {
        "models": [verdict.model.name for verdict in found.verdicts],
        "roles": {role: list(names) for role, names in named.items() if names},
        "rows": found.rows,
        "classes": found.classes.count,
        "smallest_class": found.k,
        "file": kept.path.suffix.removeprefix("."),
        "bytes": kept.size,
    }


def _checked(kept: Upload, roles: Roles, models: Sequence[Model], reference: pa.Table | None) -> CheckReport:
    if not models:
        rule = "a publication must state a model that it meets"
        raise InvalidValue(rule, "<none>", "k-anonymity with k = 5, for example")
    table = _table(kept)
    identifying = [name for name in roles.identifying if name in table.column_names]
    if identifying:
        raise InvalidValue("a column that names people is never published", identifying[0], "drop it")
    left = replace(roles, identifying=())
    refuse_other_columns(table, left)
    found = check(table, left, models, reference=reference)
    for verdict in found.verdicts:
        if not verdict.holds:
            rule = f"a publication must meet what is stated about it, and {verdict.model.name} does not hold"
            got = f"<{verdict.violating_rows:,} rows in {verdict.violating_classes:,} classes that break it>"
            raise InvalidValue(rule, got, "recode it further, or state what it meets")
    return found


def _table(kept: Upload) -> pa.Table:
    if kept.size > LARGEST_RELEASE:
        raise InvalidValue(f"a release must have at most {LARGEST_RELEASE:,} bytes", kept.size)
    strange = [name for name, words in kept.schema.columns.items() if find_type(words) is None]
    if strange:
        raise InvalidValue("a release has columns of plain values", strange[0], "drop it, or write it as text")
    try:
        return arrow_table(kept.path)
    except DiscreetError as refusal:
        value = kept.path.name if refusal.value == str(kept.path) else refusal.value
        raise InvalidValue(refusal.rule.replace(str(kept.path), kept.path.name), value, refusal.remedy) from None
    except (pa.ArrowException, OSError, ValueError):
        raise InvalidValue("a release must be readable as a table", kept.path.name) from None


LONGEST_WORDS = 2000
"""How many characters the reason for a publication may have."""
_OWNERS = frozenset({MemberRole.OWNER})
_FOLDER = "publications"


@dataclass(frozen=True)
class PublishedFile:
    """The file of a publication."""

    publication: PublicationRecord
    """What is on record about it."""
    path: Path
    """Where its bytes are, which are those that were recorded."""
    file: str
    """A name for it."""
    media_type: str
    """What kind of file it is."""


def publish(
    service: ServiceState,
    principal: Principal,
    name: str,
    upload_id: str,
    roles: Roles,
    models: Sequence[Model],
    *,
    why: str,
    approved: bool,
    more: Mapping[str, Any] | None = None,
    reference: pa.Table | None = None,
) -> PublicationRecord:
    """Publish an upload that meets every one of ``models``, approved by the principal for the reason ``why``.

    ``more`` is stated beside what was checked. Models that compare a class with the whole table compare it with the
    release, or with ``reference`` where rows were left out of it. The upload is gone when it is published.
    """
    principal.must_be(_OWNERS)
    check_name(name, "a publication's name")
    _check_approval(why, approved)
    kept = uploads.upload(service, principal, upload_id)
    facts = check_facts(kept, roles, models, reference)
    sha256 = _hash(kept.path)
    statement = {**(more or {}), "why": why.strip(), **facts}
    target, is_new = _keep(service, kept, sha256)
    try:
        with service.trail.act("publication approved", principal.name, publication=name, sha256=sha256):
            made = service.curator.record_publication(
                name=name, approved_by=principal.name, sha256=sha256, statement=statement
            )
    except BaseException:
        if is_new and sha256 not in {one.sha256 for one in service.curator.publications()}:
            target.unlink(missing_ok=True)
        raise
    uploads.discard(service, principal, upload_id)
    return made


def publications(service: ServiceState, principal: Principal) -> list[PublicationRecord]:
    """What was published, latest first: for everybody who is signed in."""
    principal.must_be(PEOPLE)
    return service.curator.publications()[::-1]


def release(service: ServiceState, principal: Principal, entry: int) -> PublishedFile:
    """The file of the publication at a place in the ledger; one whose bytes were changed since is not given out."""
    principal.must_be(PEOPLE)
    found = next((one for one in service.curator.publications() if one.entry == entry), None)
    if found is None:
        raise NotFound("there must be such a publication", entry)
    path = next(iter((service.settings.folder / _FOLDER).glob(f"{found.sha256}.*")), None)
    if path is None or _hash(path) != found.sha256:
        raise StoreError("the file of a publication must be the one that was recorded", None, "put it back")
    kind = "application/vnd.apache.parquet" if path.suffix in PARQUET else "text/csv"
    return PublishedFile(found, path, f"{found.name}{path.suffix}", kind)


def _check_approval(why: str, approved: bool) -> None:
    if approved is not True:
        rule = "a publication must be approved by the owner, for no ε bounds what it tells"
        raise InvalidValue(rule, "<not approved>", "read what an attacker can still do, and approve it")
    if not 0 < len(check_text(why, "the reason").strip()) <= LONGEST_WORDS:
        rule = f"who approves a publication must say why, in at most {LONGEST_WORDS:,} characters"
        raise InvalidValue(rule, f"<{len(why.strip()):,}>", "say what it is for and who asked for it")


# Keeping ----------------------------------------------------------------------------------------------------------


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _keep(service: ServiceState, kept: Upload, sha256: str) -> tuple[Path, bool]:
    """The file under its hash, durably, and whether it was not there before."""
    folder = service.settings.folder / _FOLDER
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
