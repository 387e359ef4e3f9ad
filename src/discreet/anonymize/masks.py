"""Hierarchies that hide characters: ``13053``, ``1305*``, ``130**`` and so on, from the end or from the start.

>>> masked(["13053", "13068"], hidden=[2, 5]).labels
(('13053', '13068'), ('130**',), ('*',))
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from discreet.anonymize.coded import label_of
from discreet.anonymize.domain import Values, completed, present_values
from discreet.anonymize.hierarchy import SUPPRESSED, Hierarchy
from discreet.errors import InvalidValue

__all__ = ["masked"]


def masked(
    values: Values,
    *,
    side: Literal["suffix", "prefix"] = "suffix",
    hidden: Sequence[int] | None = None,
) -> Hierarchy:
    """The hierarchy that hides ``hidden[0]`` characters at level 1, ``hidden[1]`` at level 2, up to all of them.

    Without ``hidden`` it hides one more at every level. A suffix is counted as if shorter values were filled up at
    the end, a prefix as if they were filled up at the start. Numbers are masked as they are written.
    """
    present, has_missing = present_values(values)
    written = [label_of(value) for value in present]
    length = max(map(len, written), default=1)
    if side not in ("suffix", "prefix"):
        raise InvalidValue("a mask must hide a suffix or a prefix", side)
    levels = [[_masked(text, length - hide, hide, side) for text in written] for hide in _steps(hidden, length)]
    return completed(Hierarchy.of(present, levels), has_missing)


def _steps(hidden: Sequence[int] | None, length: int) -> list[int]:
    """How many characters are hidden at each level; all of them at the last one."""
    steps = list(range(1, length + 1)) if hidden is None else list(hidden)
    if any(low >= high for low, high in pairwise([0, *steps])) or any(step > length for step in steps):
        rule = f"the hidden characters must grow from level to level, from 1 to at most {length}"
        raise InvalidValue(rule, steps)
    return steps if steps and steps[-1] == length else [*steps, length]


def _masked(text: str, keep: int, hide: int, side: str) -> str:
    if keep == 0:
        return SUPPRESSED
    return text[:keep] + SUPPRESSED * hide if side == "suffix" else SUPPRESSED * hide + text[-keep:]
