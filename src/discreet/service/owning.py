"""Owning: tables are taken in under a policy, policies are drafted and checked, and owners say who may ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from discreet.catalog.budget import Budget
from discreet.catalog.draft import draft
from discreet.catalog.policy_file import dumps, loads
from discreet.catalog.schema import Schema
from discreet.catalog.table import Table
from discreet.catalog.unread_values import UnreadColumn, unread_words
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
from discreet.service import uploads
from discreet.service.house import House
from discreet.service.role import Role
from discreet.service.server_files import server_file
from discreet.service.table_files import checked_schema
from discreet.service.telling import Balance, budget
from discreet.service.visitor import Visitor

__all__ = [
    "Holding",
    "OnServer",
    "Protected",
    "Source",
    "Uploaded",
    "allow",
    "check_policy",
    "disallow",
    "draft_policy",
    "holdings",
    "policy_text",
    "protect",
    "schema",
]

_OWNERS = frozenset({Role.OWNER})


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


def schema(house: House, visitor: Visitor, source: Source) -> Schema:
    """The names and types of a table's columns; no row is read."""
    return _opened(house, visitor, source)[2]


def draft_policy(house: House, visitor: Visitor, source: Source) -> str:
    """A first policy from names and types alone, with blanks for what only the owner can say."""
    name, _, found = _opened(house, visitor, source)
    return draft(name, found.columns, types_are_stated=found.types_are_stated)


def check_policy(house: House, visitor: Visitor, text: str) -> list[Problem]:
    """What is wrong with the text of a policy, each with its line and column; nothing when it can be used here."""
    visitor.must_be(_OWNERS)
    curator = house.curator
    try:
        curator.check(loads(text))
    except PolicyError as refused:
        return list(refused.problems)
    except (InvalidInput, LedgerError) as refused:
        return [Problem(refused.rule, refused.value, refused.remedy)]
    return []


def _opened(house: House, visitor: Visitor, source: Source) -> tuple[str, Path, Schema]:
    """Its name, where its file is, and its columns."""
    if isinstance(source, Uploaded):
        kept = uploads.upload(house, visitor, source.id)
        return kept.name, kept.path, kept.schema
    path = server_file(house, visitor, source.path)
    return path.stem, path, checked_schema(path)


# Tables -----------------------------------------------------------------------------------------------------------


def protect(
    house: House, visitor: Visitor, source: Source, policy: str, progress: Callable[[float], None] | None = None
) -> Protected:
    """Take in the rows of a table under the text of a policy; ``progress`` is told the part that is done.

    An upload is gone when its rows are taken in. When that is refused it waits, so that the policy can be mended.
    """
    _, path, _ = _opened(house, visitor, source)
    table = loads(policy)
    unread: dict[str, UnreadColumn] = {}
    digest = sha256(policy.encode("utf-8", "replace")).hexdigest()
    with house.trail.act("table protected", visitor.name, table=table.name, policy=digest):
        try:
            made = house.curator.protect(path, table, progress, unread=unread.update)
        except (InvalidInput, StoreError) as refusal:
            raise _about_the_file(refusal, path) from None
    if isinstance(source, Uploaded):
        uploads.discard(house, visitor, source.id)
    counts = {name: one.count for name, one in unread.items() if one.count}
    return Protected(made, counts, tuple(unread_words(made, unread)), tuple(house.curator.twins(made.name)))


def _about_the_file(refusal: InvalidInput | StoreError, path: Path) -> DiscreetError:
    """A refusal that is about the file says so, with its name in place of where it lies; others are as they are."""
    if isinstance(refusal, PolicyError):
        return refusal
    value = "" if refusal.value is None else str(refusal.value)
    is_unreadable = value.startswith("<line ") or "could not be taken in" in refusal.rule
    if str(path) not in f"{refusal.rule} {value}" and not (isinstance(refusal, StoreError) and is_unreadable):
        return refusal
    rule = refusal.rule.replace(str(path), path.name)
    return InvalidValue(rule, value.replace(str(path), path.name) or None, refusal.remedy)


def policy_text(house: House, visitor: Visitor, table: str) -> str:
    """The policy of a table as a file has it."""
    visitor.must_be(_OWNERS)
    return dumps(_known(house, table))


def holdings(house: House, visitor: Visitor) -> list[Holding]:
    """Every table, by name, as its owner sees it."""
    visitor.must_be(_OWNERS)
    balances, manifest = budget(house, visitor), house.curator.engine.store.manifest()
    found = []
    for table in sorted(house.curator.catalog, key=lambda one: one.name):
        stored = manifest.find(table.name)
        own = tuple(balance for balance in balances if balance.table == table.name)
        is_stale = stored is not None and manifest.is_stale(stored)
        found.append(Holding(table, None if stored is None else stored.version, is_stale, own))
    return found


# Who may ask ------------------------------------------------------------------------------------------------------


def allow(house: House, visitor: Visitor, table: str, analyst: str, cap: Budget | None) -> Table:
    """Let a member ask about a table, up to a cap of their own or with the whole budget; or change their cap."""
    visitor.must_be(_OWNERS)
    known = house.members.find(analyst)
    if known is None or known.removed is not None:
        raise NotFound("there must be such a member", analyst, "add them first")
    if known.role is not Role.ANALYST:
        raise InvalidValue("only analysts are given leave to ask", f"<{known.role}>", "owners may ask anyway")
    name = _known(house, table).name
    words = "the whole budget" if cap is None else str(cap)
    with house.trail.act("analyst allowed", visitor.name, table=name, analyst=analyst, cap=words):
        return house.curator.allow(name, analyst, cap, by=visitor.name)


def disallow(house: House, visitor: Visitor, table: str, analyst: str) -> Table:
    """Let somebody ask no more about a table; what they spent stays counted."""
    visitor.must_be(_OWNERS)
    name = _known(house, table).name
    with house.trail.act("analyst disallowed", visitor.name, table=name, analyst=analyst):
        return house.curator.disallow(name, analyst, by=visitor.name)


def _known(house: House, name: str) -> Table:
    found = house.curator.catalog.find(name)
    if found is None:
        raise NotFound("there must be such a table", name)
    return found
