"""Whether a lattice can be searched: its size is known before anything is done."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.lattice import Lattice
from discreet.anonymize.lattice_search import LARGEST_LATTICE
from discreet.errors import InvalidType, InvalidValue, OutOfReach

__all__ = ["refuse_endless"]


def refuse_endless(hierarchies: Mapping[str, Hierarchy], seconds: float | None) -> None:
    """Refuse a search that nobody would wait for, before it begins."""
    if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, (int, float))):
        raise InvalidType("seconds must be a number", seconds)
    if seconds is not None and not seconds >= 0:
        raise InvalidValue("seconds must be at least 0", seconds)
    nodes = Lattice(tuple(hierarchy.height for hierarchy in hierarchies.values())).nodes
    if seconds is None and nodes > LARGEST_LATTICE:
        rule = f"without a time limit there must be at most {LARGEST_LATTICE:,} recodings to search"
        remedy = "pass seconds=60 for the best that is found in a minute and its gap, or use taxonomy_mondrian"
        raise OutOfReach(rule, f"<{len(hierarchies)} columns with {nodes:,} recodings>", remedy)
