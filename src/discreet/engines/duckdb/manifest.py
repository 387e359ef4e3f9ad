"""The manifest: which file holds the current version of each table.

It is one small file, replaced whole in one step of the file system. Who reads it sees everything before an ingest or
everything after it, whatever happens in between.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from discreet.catalog.column import ColumnType
from discreet.errors import StoreError
from discreet.storage.database import check_version
from discreet.storage.files import write_whole

__all__ = ["FORMAT", "NAMES", "Manifest", "Stored"]


FORMAT = 2
"""Of the file: which fields it has. The first had no salts and no secret."""


@dataclass(frozen=True)
class Stored:
    """One table as it was taken in."""

    name: str
    """As its policy spells it."""
    version: str
    """Which ingest it came from; says nothing about the rows."""
    file: str
    """Where the rows are: a file beside the manifest, or the name of a table on a server."""
    columns: Mapping[str, str]
    """The declared columns and their types, in order."""
    domain: str | None
    """What kind of unit its ids number; None for a public table."""
    parent: str | None = None
    """The table in which the units of its rows were looked up."""
    parent_version: str | None = None
    """Which version of the parent that was."""
    constant: Sequence[str] = ()
    """The columns that were seen to have one value per unit."""
    unit: str | None = None
    """For a table that stays on a server: the declared column that names the unit; None where every row is one."""
    counted: bool = False
    """Whether every row says, as ``_n``, how many rows of this table its unit has."""
    limits: Mapping[str, str] = field(default_factory=dict)
    """The columns that are also kept within limits, and within which."""
    steps: Mapping[str, str] = field(default_factory=dict)
    """The columns that are also kept in steps of a grid, and of which."""
    held: Mapping[str, int] = field(default_factory=dict)
    """The columns whose keys are marked, and how many keys a unit makes visible by the marks."""
    salted: bool = False
    """Whether every row has, as ``_salt``, the salt of its unit; see `discreet.engines.bounded_keys`."""
    alike: Mapping[str, str] = field(default_factory=dict)
    """The columns of which rows say how many of their unit have the same key, and within which limits of the values."""
    complete: Sequence[str] = ()
    """The columns in which no value is missing, as was seen when the rows were taken in; on a server nobody sees."""
    native: Mapping[str, str] = field(default_factory=dict)
    """For a table that stays on a server: its columns there and their types, as they were when it was protected."""

    sources: Sequence[str] = ()
    """For a table that grows, of which some periods are read: the names under which a snapshot shows these."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """Per column, what its values come to in any order: the same for the same rows. None where they are on a server."""

    def types(self) -> dict[str, ColumnType]:
        """The declared columns and their types, in order."""
        return {name: ColumnType(word) for name, word in self.columns.items()}


NAMES = {
    "name": "name",
    "version": "version",
    "file": "file",
    "columns": "columns",
    "domain": "domain",
    "parent": "parent",
    "parent_version": "parent_version",
    "constant": "constant",
    "unit": "unit",
    "counted": "counted",
    "limits": "limits",
    "steps": "steps",
    "held": "held",
    "salted": "salted",
    "alike": "alike",
    "complete": "complete",
    "native": "native",
    "digests": "digests",
}
"""The fields of a stored table and what the file calls them, in its order: a field may be renamed, a name may not."""


@dataclass(frozen=True)
class Manifest:
    """All tables of a store. It does not change; an ingest writes another one."""

    ingests: int = 0
    """How many there have been."""
    tables: Mapping[str, Stored] = field(default_factory=dict)
    """By folded name."""
    secret: str = field(default="", repr=False)
    """What units' own orders are hashed with; never shown. Empty until the first table is taken in."""

    def find(self, name: str) -> Stored | None:
        """The table with this name, without regard to case."""
        return self.tables.get(name.casefold())

    def with_table(self, stored: Stored) -> Manifest:
        """The manifest after one more ingest."""
        return replace(self, ingests=self.ingests + 1, tables={**self.tables, stored.name.casefold(): stored})

    def is_stale(self, stored: Stored) -> bool:
        """Whether the units of a table were looked up in rows that have since been replaced, here or further up."""
        if stored.parent is None:
            return False
        parent = self.find(stored.parent)
        return parent is None or parent.version != stored.parent_version or self.is_stale(parent)

    @staticmethod
    def read(path: Path) -> Manifest:
        """The manifest in a file; an empty one when there is no file."""
        try:
            return _parsed(json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return Manifest()
        except (ValueError, TypeError, KeyError, AttributeError):
            raise StoreError("the store's manifest must be whole", str(path), "restore it, or take in again") from None

    def write(self, path: Path) -> None:
        """Replace the file in one step; after this returns, a power cut does not undo it."""
        tables = [{name: getattr(table, has) for has, name in NAMES.items()} for table in self.tables.values()]
        body = {"format": FORMAT, "ingests": self.ingests, "secret": self.secret, "tables": tables}
        write_whole(path, json.dumps(body, ensure_ascii=False, indent=1).encode(), mode=0o666)


def _parsed(body: Any) -> Manifest:
    check_version("the store's manifest", int(body["format"]), FORMAT)
    tables = [_stored(row) for row in body["tables"]]
    for table in tables:
        table.types()  # unknown types are refused here, not in the middle of a question
    by_name = {table.name.casefold(): table for table in tables}
    return Manifest(int(body["ingests"]), by_name, str(body.get("secret", "")))


def _stored(row: Mapping[str, Any]) -> Stored:
    """The table that a row of the file tells of; older files say less, and a name that is not known is refused."""
    fields = {name: has for has, name in NAMES.items()}
    return Stored(**{fields[name]: value for name, value in row.items()})
