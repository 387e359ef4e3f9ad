"""Tables that hold the same rows as others, or whose names look alike. The owner who takes one in reads so.

Whoever asks two tables about the same people spends two budgets on them: what both tell about a person adds up, and
neither budget knows of the other.
"""

from __future__ import annotations

from collections.abc import Iterator

from discreet.catalog.catalog import Catalog
from discreet.catalog.names import skeleton
from discreet.catalog.table import Table
from discreet.engines.duckdb.manifest import Manifest, Stored

__all__ = ["describe_duplicates"]


def describe_duplicates(table: Table, catalog: Catalog, manifest: Manifest) -> list[str]:
    """What to tell an owner who has taken in ``table``, a sentence for each other table that it may be taken for."""
    return [*_alike_in_name(table, catalog), *_alike_in_rows(table, catalog, manifest)]


def _alike_in_name(table: Table, catalog: Catalog) -> Iterator[str]:
    own = skeleton(table.name)
    for other in sorted(one.name for one in catalog if one.name != table.name and skeleton(one.name) == own):
        yield (
            f"The name {table.name} looks like {other}, which is another table: {_letters(table.name)} against"
            f" {_letters(other)}. Whoever reads one may mean the other."
        )


def _letters(name: str) -> str:
    """A name whose letters of other alphabets can be told from Latin ones."""
    return name.encode("ascii", "backslashreplace").decode()


def _alike_in_rows(table: Table, catalog: Catalog, manifest: Manifest) -> Iterator[str]:
    own = manifest.find(table.name)
    for other in sorted(catalog, key=lambda one: one.name):
        stored = manifest.find(other.name)
        if own is None or stored is None or stored.name == own.name or not _has_same_rows(own, stored):
            continue
        if other.public or table.public:
            yield f"{table.name} has the rows of {other.name}, and one of the two is public: nothing in them is hidden."
        else:
            yield (
                f"{table.name} has the rows of {other.name}, too. Each has a budget of its own, so the people in them"
                f" can lose both: make the budgets so that their sum is what you mean."
            )


def _has_same_rows(one: Stored, other: Stored) -> bool:
    """Whether every column of the one with fewer is a column of the other, whatever they are called."""
    if one.native or other.native:  # rows that stay on a server are the same where their table is
        return bool(one.native and other.native) and one.file == other.file
    few, many = sorted((set(one.digests.values()), set(other.digests.values())), key=len)
    return bool(few) and few <= many
