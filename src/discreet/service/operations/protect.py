"""Protecting: tables are taken in under a policy, policies are drafted and checked, and owners say who may ask.

Owners may protect files on the server by path: those in the folders that the settings list, and no others. Links and
dots are followed first, and what lies elsewhere is refused in the same words whether or not it is there, so that nobody
looks around on the server by asking.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from discreet.catalog.budget import Budget
from discreet.catalog.policy.read import UnreadColumn, dumps, loads, unread_words
from discreet.catalog.policy.write import Schema, draft
from discreet.catalog.table import Table
from discreet.errors import (
    DiscreetError,
    InvalidInput,
    InvalidValue,
    LedgerError,
    NotFound,
    PolicyError,
    Problem,
    StoreError,
)
from discreet.service.auth.roles import MemberRole, Principal
from discreet.service.operations import uploads
from discreet.service.operations.tables import Balance, budget
from discreet.service.operations.uploads import ENDINGS, check_schema
from discreet.service.state import ServiceState

__all__ = [
    "Holding",
    "OnServer",
    "Protected",
    "Source",
    "Uploaded",
    "about_the_file",
    "allow",
    "check_policy",
    "disallow",
    "draft_policy",
    "holdings",
    "policy_text",
    "protect",
    "schema",
    "server_file",
]


_OWNERS = frozenset({MemberRole.OWNER})


def server_file(service: ServiceState, principal: Principal, path: str) -> Path:
    """The file that a path leads to."""
    principal.must_be(_OWNERS)
    if not path.lower().endswith(ENDINGS):
        raise InvalidValue("a table on the server must be a .csv, .tsv or .parquet file", path)
    try:
        found = Path(path).resolve(strict=True)
        is_fine = found.is_file() and _is_allowed(service, found)
    except (OSError, ValueError, RuntimeError):  # it is not there, no path at all, or leads in circles
        is_fine = False
    if not is_fine or not Path(path).is_absolute():
        rule = "a table on the server must be in one of the folders that the setting data_folders lists"
        raise InvalidValue(rule, path, "write its whole path, or upload it")
    return found


def _is_allowed(service: ServiceState, found: Path) -> bool:
    folders = [folder.resolve() for folder in service.settings.data_folders]
    is_own = found.is_relative_to(service.settings.folder.resolve())  # what the service keeps is no table to take in
    return not is_own and any(found.is_relative_to(folder) for folder in folders)


@dataclass(frozen=True)
class Uploaded:
    """A table that an owner sent."""

    id: str
    """The upload."""


@dataclass(frozen=True)
class OnServer:
    """A table that lies on the server."""

    path: str
    """Its whole path, inside one of the folders that the settings list."""


Source = Uploaded | OnServer
"""Where the rows of a table are."""


@dataclass(frozen=True)
class Protected:
    """A table that was taken in."""

    table: Table
    """Its policy."""
    unread: Mapping[str, int]
    """Per column, how many values could not be read as its type: exact, for the owner alone."""
    unread_words: tuple[str, ...]
    """The same in words, with what these values look like."""
    warnings: tuple[str, ...] = ()
    """Other tables that hold the same rows, or whose names look alike, in words: for the owner alone."""


@dataclass(frozen=True)
class Holding:
    """A table as its owner sees it."""

    table: Table
    """Its policy, with everybody who may ask and their caps."""
    version: str | None
    """Which ingest its rows came from; None while there are none."""
    is_stale: bool
    """Whether it must be taken in again, because the table that its people are found through was."""
    balances: tuple[Balance, ...]
    """What was granted, spent and left: first of the whole, then of those who may ask."""


# Before a table is taken in ---------------------------------------------------------------------------------------


def schema(service: ServiceState, principal: Principal, source: Source) -> Schema:
    """The names and types of a table's columns; no row is read."""
    return _opened(service, principal, source)[2]


def draft_policy(service: ServiceState, principal: Principal, source: Source) -> str:
    """A first policy from names and types alone, with blanks for what only the owner can say."""
    name, _, found = _opened(service, principal, source)
    return draft(name, found.columns, types_are_stated=found.types_are_stated)


def check_policy(service: ServiceState, principal: Principal, text: str) -> list[Problem]:
    """What is wrong with the text of a policy, each with its line and column; nothing when it can be used here."""
    principal.must_be(_OWNERS)
    curator = service.curator
    try:
        curator.check(loads(text))
    except PolicyError as refused:
        return list(refused.problems)
    except (InvalidInput, LedgerError) as refused:
        return [Problem(refused.rule, refused.value, refused.remedy)]
    return []


def _opened(service: ServiceState, principal: Principal, source: Source) -> tuple[str, Path, Schema]:
    """Its name, where its file is, and its columns."""
    if isinstance(source, Uploaded):
        kept = uploads.upload(service, principal, source.id)
        return kept.name, kept.path, kept.schema
    path = server_file(service, principal, source.path)
    return path.stem, path, check_schema(path)


# Tables -----------------------------------------------------------------------------------------------------------


def protect(
    service: ServiceState,
    principal: Principal,
    source: Source,
    policy: str,
    progress: Callable[[float], None] | None = None,
) -> Protected:
    """Take in the rows of a table under the text of a policy; ``progress`` is told the part that is done.

    An upload is gone when its rows are taken in. When that is refused it waits, so that the policy can be mended.
    """
    _, path, _ = _opened(service, principal, source)
    table = loads(policy)
    unread: dict[str, UnreadColumn] = {}
    digest = sha256(policy.encode("utf-8", "replace")).hexdigest()
    with service.trail.act("table protected", principal.name, table=table.name, policy=digest):
        try:
            made = service.curator.protect(path, table, progress, unread=unread.update)
        except (InvalidInput, StoreError) as refusal:
            raise about_the_file(refusal, path) from None
    if isinstance(source, Uploaded):
        uploads.discard(service, principal, source.id)
    counts = {name: one.count for name, one in unread.items() if one.count}
    return Protected(made, counts, tuple(unread_words(made, unread)), tuple(service.curator.find_duplicates(made.name)))


def about_the_file(refusal: InvalidInput | StoreError, path: Path) -> DiscreetError:
    """A refusal that is about the file says so, with its name in place of where it lies; others are as they are."""
    if isinstance(refusal, PolicyError):
        return refusal
    value = "" if refusal.value is None else str(refusal.value)
    is_unreadable = value.startswith("<line ") or "could not be taken in" in refusal.rule
    if str(path) not in f"{refusal.rule} {value}" and not (isinstance(refusal, StoreError) and is_unreadable):
        return refusal
    rule = refusal.rule.replace(str(path), path.name)
    return InvalidValue(rule, value.replace(str(path), path.name) or None, refusal.remedy)


def policy_text(service: ServiceState, principal: Principal, table: str) -> str:
    """The policy of a table as a file has it."""
    principal.must_be(_OWNERS)
    return dumps(_known(service, table))


def holdings(service: ServiceState, principal: Principal) -> list[Holding]:
    """Every table, by name, as its owner sees it."""
    principal.must_be(_OWNERS)
    balances, manifest = budget(service, principal), service.curator.engine.store.manifest()
    found = []
    for table in sorted(service.curator.catalog, key=lambda one: one.name):
        stored = manifest.find(table.name)
        own = tuple(balance for balance in balances if balance.table == table.name)
        is_stale = stored is not None and manifest.is_stale(stored)
        found.append(Holding(table, None if stored is None else stored.version, is_stale, own))
    return found


# Who may ask ------------------------------------------------------------------------------------------------------


def allow(service: ServiceState, principal: Principal, table: str, analyst: str, cap: Budget | None) -> Table:
    """Let a member ask about a table, up to a cap of their own or with the whole budget; or change their cap."""
    principal.must_be(_OWNERS)
    known = service.members.find(analyst)
    if known is None or known.removed is not None:
        raise NotFound("there must be such a member", analyst, "add them first")
    if known.role is not MemberRole.ANALYST:
        raise InvalidValue("only analysts are given leave to ask", f"<{known.role}>", "owners may ask anyway")
    name = _known(service, table).name
    words = "the whole budget" if cap is None else str(cap)
    with service.trail.act("analyst allowed", principal.name, table=name, analyst=analyst, cap=words):
        return service.curator.allow(name, analyst, cap, by=principal.name)


def disallow(service: ServiceState, principal: Principal, table: str, analyst: str) -> Table:
    """Let somebody ask no more about a table; what they spent stays counted."""
    principal.must_be(_OWNERS)
    name = _known(service, table).name
    with service.trail.act("analyst disallowed", principal.name, table=name, analyst=analyst):
        return service.curator.disallow(name, analyst, by=principal.name)


def _known(service: ServiceState, name: str) -> Table:
    found = service.curator.catalog.find(name)
    if found is None:
        raise NotFound("there must be such a table", name)
    return found
