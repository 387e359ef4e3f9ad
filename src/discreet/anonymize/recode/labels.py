"""Writing the classes of a tree: as ranges, as sets of values, or as groups of a hierarchy.

Tight labels tell what the rows of a class have: ``[17, 25]``, ``{Nurse, Surgeon}`` or the smallest group of the
hierarchy that holds them all. Labels of regions tell what the cuts allow, so that they cover every value there can be:
``≤25``, ``(25, 40]``, ``>40``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from discreet.anonymize.hierarchies.hierarchy import SUPPRESSED
from discreet.anonymize.recode.axes import Axis
from discreet.anonymize.recode.partition_tree import Flags, Front, LeafLabels, PairCover, SpanCover, Whole
from discreet.anonymize.table import MISSING

__all__ = ["group_labels", "range_labels", "region_labels", "region_sets", "set_labels"]


def range_labels(axis: Axis, front: Front, place: int) -> LeafLabels:
    """The smallest and the largest value of every leaf, and whether some are missing."""
    codes = front.codes[place]
    absent = (codes == len(axis.values) - 1) & axis.ends_missing
    first = front.start[:-1]
    low = np.minimum.reduceat(np.where(absent, len(axis.values), codes), first).astype(np.int64)
    high = np.maximum.reduceat(np.where(absent, -1, codes), first).astype(np.int64)
    missing = np.logical_or.reduceat(absent, first)

    def written(low: int, high: int, missing: int) -> str:
        ends = [axis.label(code) for code in dict.fromkeys([low, high])] if low <= high else []
        return _with_missing(f"[{', '.join(ends)}]" if len(ends) > 1 else "".join(ends), missing)

    text, number = _write([low, high, missing], written)
    share = (np.maximum(high - low + 1, 0) + missing) / len(axis.values)
    return LeafLabels(text, number, share, SpanCover(2 * low, 2 * high, missing, _missing_position(axis)))


def set_labels(axis: Axis, front: Front, place: int) -> LeafLabels:
    """All values of every leaf."""
    width = len(axis.values)
    owner = np.repeat(np.arange(front.count), front.sizes)
    pairs = np.unique(owner * width + front.codes[place])
    leaf, code = np.divmod(pairs, width)
    counts = np.bincount(leaf, minlength=front.count)
    numbers: dict[bytes, int] = {}
    ends = np.cumsum(counts)
    lists = [code[end - count : end] for end, count in zip(ends.tolist(), counts.tolist(), strict=True)]
    number = np.array([numbers.setdefault(one.tobytes(), len(numbers)) for one in lists])
    texts = [_as_set(axis, np.frombuffer(key, dtype=code.dtype).tolist()) for key in numbers]
    text, merged = _deduplicate(texts)
    return LeafLabels(text, merged[number], counts / width, PairCover(pairs, width))


def group_labels(axis: Axis, low: npt.NDArray[np.integer], high: npt.NDArray[np.integer]) -> LeafLabels:
    """The smallest group of the hierarchy that holds the codes from ``low`` to ``high``, of every leaf."""
    levels = axis.levels
    if levels is None:
        raise TypeError(f"'{axis.name}' has no hierarchy")
    level = levels.shared(low, high)
    group = levels.group[level, low]
    text, number = _write([level, group], levels.hierarchy.label)
    first, last = levels.spans()
    cover = SpanCover(2 * first[level, group], 2 * last[level, group], np.zeros(len(low), dtype=np.bool_))
    return LeafLabels(text, number, levels.leaves[level, group] / len(axis.values), cover)


def region_labels(axis: Axis, low: Whole, high: Whole) -> LeafLabels:
    """The ends of the region of every leaf, from position ``low`` to position ``high``."""
    known = len(axis.values) - axis.ends_missing
    missing = (high >= 2 * known) & axis.ends_missing
    top = np.minimum(high, 2 * known - 1)

    def written(low: int, top: int, missing: int) -> str:
        return _with_missing(_region(axis, low, top, known), missing)

    text, number = _write([low, top, missing], written)
    share = (_known_between(low, top) + missing) / len(axis.values)
    return LeafLabels(text, number, share, SpanCover(low, top, missing, _missing_position(axis)))


def region_sets(axis: Axis, low: Whole, high: Whole) -> LeafLabels:
    """All known values in the region of every leaf, from position ``low`` to position ``high``."""
    first, last = (low + 1) // 2, np.minimum(high // 2, len(axis.values) - 1)

    def written(first: int, last: int) -> str:
        return _as_set(axis, list(range(first, last + 1)))

    text, number = _write([first, last], written)
    cover = SpanCover(2 * first, 2 * last, np.zeros(len(low), dtype=np.bool_), known_only=True)
    return LeafLabels(text, number, (last - first + 1) / len(axis.values), cover)


# How labels are written --------------------------------------------------------------------------------------------


def _region(axis: Axis, low: int, top: int, known: int) -> str:
    if low > top:
        return ""
    below = None if low < 0 else axis.label(low // 2)
    above = None if top >= 2 * known - 1 else axis.label(top // 2)
    closed = low % 2 == 0
    if below is None or above is None:
        if below is not None:
            return f"≥{below}" if closed else f">{below}"
        return SUPPRESSED if above is None else f"≤{above}"
    return below if closed and below == above else f"{'[' if closed else '('}{below}, {above}]"


def _with_missing(present: str, missing: int) -> str:
    if not missing or present == SUPPRESSED:
        return present
    return f"{present} or {MISSING}" if present else MISSING


def _as_set(axis: Axis, codes: Sequence[int]) -> str:
    if len(codes) == 1:
        return axis.label(codes[0])
    if len(codes) == len(axis.values):
        return SUPPRESSED
    return "{" + ", ".join(axis.label(code) for code in codes) + "}"


def _missing_position(axis: Axis) -> int | None:
    return 2 * (len(axis.values) - 1) if axis.ends_missing else None


def _known_between(low: Whole, high: Whole) -> Whole:
    """How many even numbers there are from ``low`` to ``high``."""
    return np.asarray(np.maximum(high // 2 - (low + 1) // 2 + 1, 0), dtype=np.int64)


def _write(keys: Sequence[npt.NDArray[np.integer] | Flags], write: Callable[..., str]) -> tuple[tuple[str, ...], Whole]:
    """The labels of all leaves, each written once, and the number of every leaf's."""
    distinct, number = np.unique(np.stack([key.astype(np.int64) for key in keys]), axis=1, return_inverse=True)
    text, merged = _deduplicate([write(*key) for key in distinct.T.tolist()])
    return text, merged[number]


def _deduplicate(texts: Sequence[str]) -> tuple[tuple[str, ...], Whole]:
    """Labels that read the same are one, whatever they stand for: nobody can tell their rows apart."""
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    return tuple(numbers), np.array([numbers[text] for text in texts], dtype=np.int64)
