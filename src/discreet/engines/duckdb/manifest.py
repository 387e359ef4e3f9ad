"""The manifest: which file holds the current version of each table.

It is one small file, replaced whole in one step of the file system. Who reads it sees everything before an ingest or
everything after it, whatever happens in between.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from discreet.engines.duckdb.growing import Growing, read_growing, write_growing
from discreet.engines.duckdb.stored_table import NAMES, Stored, read_stored, write_stored
from discreet.errors import InvalidValue, StoreError
from discreet.storage.database import check_version
from discreet.storage.files import write_whole

__all__ = ["FORMAT", "NAMES", "WITHOUT_GROWTH", "Manifest", "Stored"]


FORMAT = 3
"""Of the file: which fields it has. The first had no salts and no secret, the second no tables that grow."""
WITHOUT_GROWTH = 2
"""What is written where no table grows, so that earlier releases read it."""


@dataclass(frozen=True)
class Manifest:
    """All tables of a store. It does not change; an ingest writes another one."""

    ingests: int = 0
    """How many there have been."""
    tables: Mapping[str, Stored] = field(default_factory=dict)
    """By folded name."""
    secret: str = field(default="", repr=False)
    """What units' own orders are hashed with; never shown. Empty until the first table is taken in."""
    growing: Mapping[str, Growing] = field(default_factory=dict)
    """The tables that grow by periods, by folded name."""

    def find(self, name: str) -> Stored | None:
        """The table with this name, without regard to case; ``visits@2026-W07`` is a closed period of ``visits``."""
        folded = name.casefold()
        growing = self.growing.get(folded)
        if growing is not None:
            return growing.stored()
        return self.tables.get(folded) or self._period(folded)

    def _period(self, folded: str) -> Stored | None:
        table, _, period = folded.rpartition("@")
        growing = self.growing.get(table)
        return None if growing is None else growing.read(period)

    def shown(self) -> Iterator[Stored]:
        """Whatever questions may read: tables that were taken in whole, and the closed periods of others."""
        yield from self.tables.values()
        for growing in self.growing.values():
            yield from (one.rows for one in growing.periods)

    def shows_as(self, other: Manifest) -> bool:
        """Whether questions read the same rows by both: not every change is one that they see."""
        mine, theirs = (list(one.shown()) + [by.stored() for by in one.growing.values()] for one in (self, other))
        return self.secret == other.secret and mine == theirs

    def files(self) -> set[str]:
        """The names of all files that are needed."""
        found = {one.file for one in self.tables.values()}
        return found.union(*(one.files() for one in self.growing.values()))

    def with_table(self, stored: Stored) -> Manifest:
        """The manifest after one more ingest."""
        return replace(self, ingests=self.ingests + 1, tables={**self.tables, stored.name.casefold(): stored})

    def check_name(self, name: str, *, grows: bool) -> None:
        """Refuse a name that a table of the other kind has, or that a period of one could have."""
        folded = name.casefold()
        if folded in (self.tables if grows else self.growing):
            was, can = ("is taken in whole", "take it in again") if grows else ("grows by periods", "append to it")
            raise InvalidValue(f"{name}: a table that {was} stays so", None, f"{can}, or use another table name")
        before = folded.rpartition("@")[0]
        if before in self.growing or any(one.rpartition("@")[0] == folded for one in self.tables if grows):
            rule = "what follows @ in the name of a table that grows is a period"
            raise InvalidValue(rule, name, "use another table name")

    def with_growing(self, growing: Growing) -> Manifest:
        """The manifest in which a table that grows is as it is now."""
        return replace(self, growing={**self.growing, growing.name.casefold(): growing})

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
        tables = [write_stored(table) for table in self.tables.values()]
        body = {"format": FORMAT, "ingests": self.ingests, "secret": self.secret, "tables": tables}
        if self.growing:
            text = json.dumps(body | {"growing": [write_growing(one) for one in self.growing.values()]})
        else:  # as it was written before, also to the eye
            text = json.dumps(body | {"format": WITHOUT_GROWTH}, ensure_ascii=False, indent=1)
        write_whole(path, text.encode(), mode=0o666)


def _parsed(body: Any) -> Manifest:
    check_version("the store's manifest", int(body["format"]), FORMAT)
    tables = [read_stored(row) for row in body["tables"]]
    growing = [read_growing(row) for row in body.get("growing", [])]
    return Manifest(
        int(body["ingests"]),
        {one.name.casefold(): one for one in tables},
        str(body.get("secret", "")),
        {one.name.casefold(): one for one in growing},
    )
