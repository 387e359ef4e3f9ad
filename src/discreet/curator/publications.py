"""Publications: tables that left the service without differential privacy, recorded as what they are.

A table that was recoded to be k-anonymous, or published as it is, has no finite loss: what it tells about a person is
bounded by no ε. So it takes nothing from a budget and stands in the ledger with an infinite loss and the name of who
approved it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.catalog.names import check_name, check_text
from discreet.curator.ledger.chain import canonical
from discreet.curator.ledger.ledger import Entry, Ledger
from discreet.errors import InvalidType, InvalidValue

__all__ = ["PublicationRecord", "publications_in", "record_publication"]


_SHA256 = re.compile(r"[0-9a-f]{64}")
_LONGEST_STATEMENT = 1_000_000


@dataclass(frozen=True)
class PublicationRecord:
    """A table that was published."""

    entry: int
    """Its position in the ledger."""
    time: str
    """When it was recorded, in UTC."""
    name: str
    """What it is called."""
    sha256: str
    """The hash of the published bytes."""
    approved_by: str
    """Who answers for it."""
    statement: Mapping[str, Any]
    """What was said about it, such as the models that it meets."""
    loss: str = "infinite"
    """What it costs in privacy: no ε bounds it."""


def record_publication(
    ledger: Ledger, name: str, approved_by: str, sha256: str, statement: Mapping[str, Any]
) -> PublicationRecord:
    """Write a publication down; the same bytes under the same name are recorded once, with the first statement."""
    check_name(name, "a publication's name")
    check_name(approved_by, "the name of who approves")
    if not _SHA256.fullmatch(check_text(sha256, "a SHA-256")):
        raise InvalidValue("a SHA-256 must be 64 lower-case hexadecimal digits", sha256)
    if not isinstance(statement, Mapping):
        raise InvalidType("a statement must be a mapping", f"<a {type(statement).__name__}>")
    try:
        size = len(canonical(statement))
    except (TypeError, ValueError, RecursionError):
        raise InvalidValue("a statement must be made of what JSON can write", "<something else>") from None
    if size > _LONGEST_STATEMENT:
        raise InvalidValue(f"a statement must have at most {_LONGEST_STATEMENT:,} bytes", f"<{size:,}>")
    return _publication(ledger.publish(name, sha256, approved_by, statement))


def publications_in(ledger: Ledger) -> list[PublicationRecord]:
    """What was published, from the first on."""
    return [_publication(entry) for entry in ledger.publications()]


def _publication(entry: Entry) -> PublicationRecord:
    facts = {name: entry.body[name] for name in ("time", "name", "sha256", "approved_by", "statement", "loss")}
    return PublicationRecord(entry.position, **facts)
