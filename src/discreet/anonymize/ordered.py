"""Hierarchies of ordered values: groups of neighbours, such as ``low – middle``.

>>> ordered(["low", "middle", "high", "extreme"], [2]).labels
(('low', 'middle', 'high', 'extreme'), ('low – middle', 'high – extreme'), ('*',))
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, repeat
from typing import Any

from discreet.anonymize.coded import label_of
from discreet.anonymize.domain import Values, completed, present_values
from discreet.anonymize.hierarchy import SUPPRESSED, Hierarchy
from discreet.errors import InvalidValue

__all__ = ["ordered"]


def ordered(values: Values, sizes: Sequence[int | Sequence[int]]) -> Hierarchy:
    """The hierarchy of values in the order given, with one level per size, and ``*`` on top.

    A size is how many values each group takes, or a list with the size of every group. A last group may be smaller.
    """
    present, has_missing = present_values(values)
    levels = [_level(present, size) for size in sizes]
    return completed(Hierarchy.of(present, [*levels, [SUPPRESSED] * len(present)]), has_missing)


def _level(values: Sequence[Any], size: int | Sequence[int]) -> list[str]:
    written = []
    start = 0
    for end in accumulate(_sizes(len(values), size)):
        group = values[start:end]
        label = label_of(group[0]) if len(group) == 1 else f"{label_of(group[0])} – {label_of(group[-1])}"
        written += [label] * len(group)
        start = end
    return written


def _sizes(count: int, size: int | Sequence[int]) -> list[int]:
    """The sizes of the groups, which sum to ``count``."""
    wrong = [one for one in ([size] if isinstance(size, int) else size) if one < 1]
    if wrong:
        raise InvalidValue("a group must take at least one value", wrong[0])
    if isinstance(size, int):
        full, rest = divmod(count, size)
        return [*repeat(size, full), *([rest] if rest else [])]
    if sum(size) != count:
        raise InvalidValue(f"the sizes of the groups must sum to the {count} values", list(size))
    return list(size)
