"""The different outcomes that were drawn, as things to count and as numbers to compare.

Outcomes of one kind of number are kept as one array; all others as objects. `numbers` sees both as coordinates.

What is said of an outcome depends on this outcome alone, and on how wide and of what kind the learned outcomes are:
never on outcomes that only the proving draws saw. So an event that was chosen without those draws stays the same event.

A tally says how often each outcome was drawn, in each of several groups of draws.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.audit.canonical import NotANumber, OutcomeKind, Raised, key_of
from discreet.audit.draws import Piece, as_objects, joined
from discreet.mechanisms.distribution import Many

__all__ = ["OutcomeTally", "Outcomes", "tally"]


_MOST_COORDINATES = 32
_TOO_LARGE = 2**62


@dataclass(frozen=True)
class Outcomes:
    """Different outcomes in a fixed order."""

    listed: npt.NDArray[Any] | Sequence[Any]
    """One entry, or one row of an array, per outcome."""
    known: npt.NDArray[np.bool_] | None = None
    """Which of them the learning draws saw; without it, all."""

    def __len__(self) -> int:
        return len(self.listed)

    def __getitem__(self, index: int) -> Any:
        found = self.listed[index]
        if isinstance(found, np.ndarray):
            return tuple(found.tolist())
        return found.item() if isinstance(found, np.generic) else found

    @property
    def learned(self) -> npt.NDArray[np.bool_]:
        """Which outcomes the learning draws saw."""
        return np.ones(len(self), np.bool_) if self.known is None else self.known

    @cached_property
    def numbers(self) -> npt.NDArray[np.float64]:
        """One row per outcome, one column per coordinate; NaN where an outcome has no such number."""
        if isinstance(self.listed, np.ndarray):
            return self.listed.reshape(len(self.listed), -1)[:, :_MOST_COORDINATES].astype(np.float64)
        rows = [_coordinates(outcome) for outcome in self.listed]
        width = min(max((len(rows[k]) for k in np.flatnonzero(self.learned)), default=0), _MOST_COORDINATES)
        found = np.full((len(rows), width), np.nan)
        for index, row in enumerate(rows):
            kept = row[:width]
            found[index, : len(kept)] = kept
        return found

    @cached_property
    def integers(self) -> npt.NDArray[np.int64] | None:
        """The coordinates as integers; None where a learned outcome is not made of as many as the other learned ones.

        Other outcomes that are not made so count as zeros.
        """
        if isinstance(self.listed, np.ndarray):
            return self._whole_array(self.listed.reshape(len(self.listed), -1))
        rows = [_whole(outcome) for outcome in self.listed]
        widths = {len(row) if row is not None else -1 for row in (rows[k] for k in np.flatnonzero(self.learned))}
        if len(widths) != 1 or -1 in widths:
            return None
        width = widths.pop()
        fitting = [row if row is not None and len(row) == width else (0,) * width for row in rows]
        return np.asarray(fitting, np.int64).reshape(len(rows), width)[:, :_MOST_COORDINATES]

    def _whole_array(self, rows: npt.NDArray[Any]) -> npt.NDArray[np.int64] | None:
        if rows.dtype.kind not in "biu":
            return None
        is_large = np.asarray((np.abs(rows.astype(np.float64)) >= _TOO_LARGE).any(axis=1))
        if is_large[self.learned].any():
            return None
        return np.where(is_large[:, None], 0, rows).astype(np.int64)[:, :_MOST_COORDINATES]

    @cached_property
    def widths(self) -> npt.NDArray[np.float64]:
        """How many parts each outcome has; NaN where it is no list."""
        if isinstance(self.listed, np.ndarray):
            width = float(self.listed.shape[1]) if self.listed.ndim > 1 else math.nan
            return np.full(len(self.listed), width)
        return np.asarray([float(len(o)) if isinstance(o, (tuple, str, bytes)) else math.nan for o in self.listed])

    @cached_property
    def kinds(self) -> list[str]:
        """The kind of each outcome in words: a whole number, a ValueError, a list of 3, …"""
        if not isinstance(self.listed, np.ndarray):
            return [str(OutcomeKind.of(outcome)) for outcome in self.listed]
        if not len(self):
            return []
        if self.listed.ndim > 1 or self.listed.dtype.kind != "f":
            return [str(OutcomeKind.of(self[0]))] * len(self)
        return np.where(np.isnan(self.listed), str(OutcomeKind.of(math.nan)), str(OutcomeKind.of(0.0))).tolist()  # type: ignore[no-any-return]


def _whole(outcome: Any) -> tuple[int, ...] | None:
    """An outcome as integers that an array can hold, where it is made of nothing else."""
    row = outcome if isinstance(outcome, tuple) else (outcome,)
    return row if all(isinstance(part, int) and abs(part) < _TOO_LARGE for part in row) else None


def _coordinates(outcome: Any) -> list[float]:
    """The numbers of an outcome from left to right, those inside of lists included."""
    if isinstance(outcome, tuple):
        return [number for part in outcome for number in _coordinates(part)]
    return [_number(outcome)]


def _number(part: Any) -> float:
    if isinstance(part, (NotANumber, Raised)) or not isinstance(part, (int, float)):
        return math.nan
    try:
        return float(part)
    except OverflowError:
        return math.inf if part > 0 else -math.inf


Counts = npt.NDArray[np.int64]
Array = npt.NDArray[Any]

_MOST_CELLS = 2**22
_MOST_CODES = 2**62


@dataclass(frozen=True)
class OutcomeTally:
    """Counts of the different outcomes."""

    outcomes: Outcomes
    """Every outcome that some group drew."""
    counts: Counts
    """One row per group, one column per outcome."""


def tally(groups: Sequence[Sequence[Piece]]) -> OutcomeTally:
    """Count what each group drew."""
    sizes = [len(group) for group in groups]
    flat = [one for group in groups for one in group]
    if not any(map(len, flat)):
        return OutcomeTally(Outcomes([]), np.zeros((len(groups), 0), np.int64))
    form = joined(flat)[0]
    if isinstance(form, Many):
        return _of_counted([_counted_places(group) for group in groups])
    if isinstance(form, list):
        return _of_counted([_count([x for one in group for x in as_objects(one)]) for group in groups])
    ends = np.cumsum([0, *sizes])
    empty = form[:0]
    arrays = [np.concatenate([empty, *(one for one in flat[start:stop] if len(one))]) for start, stop in pairwise(ends)]
    return _of_rows(arrays) if arrays[0].ndim > 1 else _of_scalars(arrays)


def _of_counted(counters: list[dict[Any, tuple[Any, int]]]) -> OutcomeTally:
    places: dict[Any, int] = {}
    listed: list[Any] = []
    for counter in counters:
        for key, (outcome, _) in counter.items():
            if key not in places:
                places[key] = len(listed)
                listed.append(outcome)
    counts = np.zeros((len(counters), len(listed)), np.int64)
    for row, counter in enumerate(counters):
        for key, (_, count) in counter.items():
            counts[row, places[key]] = count
    return OutcomeTally(Outcomes(listed), counts)


def _counted_places(group: Sequence[Piece]) -> dict[Any, tuple[Any, int]]:
    """Outcomes and counts by key, of pieces in which few are different."""
    found: dict[Any, tuple[Any, int]] = {}
    for one in group:
        if isinstance(one, Many):
            times = np.bincount(one.places, minlength=len(one.different))
            for place in np.flatnonzero(times).tolist():
                outcome = one.different[place]
                key = key_of(outcome)
                found[key] = (outcome, int(times[place]) + (found[key][1] if key in found else 0))
    return found


def _count(group: list[Any]) -> dict[Any, tuple[Any, int]]:
    """Outcomes and counts by key; where no two kinds can be equal they are counted first, which is much faster."""
    if _is_unambiguous(group):
        return {key_of(outcome): (outcome, count) for outcome, count in Counter(group).items()}
    found: dict[Any, tuple[Any, int]] = {}
    for key, outcome in zip(map(key_of, group), group, strict=True):
        found[key] = (outcome, found[key][1] + 1 if key in found else 1)
    return found


def _is_unambiguous(group: list[Any]) -> bool:
    """Whether outcomes are texts, or flat lists of texts and one kind of number: 1 and True are equal in Python."""
    kinds = set(map(type, group))
    inner = set(map(type, chain.from_iterable(group))) if kinds == {tuple} else kinds
    return kinds <= {str, tuple} and inner <= {str, bool, int} and not inner >= {bool, int}


def _of_scalars(arrays: list[Array]) -> OutcomeTally:
    if arrays[0].dtype.kind in "bi":
        low, high = _ends(arrays)
        if high - low < _MOST_CELLS:
            return _of_small_integers(arrays, low, high)
    pairs = [np.unique(_bits(array), return_counts=True) for array in arrays]
    listed = np.unique(np.concatenate([values for values, _ in pairs]))
    counts = np.zeros((len(arrays), len(listed)), np.int64)
    for row, (values, times) in enumerate(pairs):
        counts[row, np.searchsorted(listed, values)] = times
    return OutcomeTally(Outcomes(listed.view(arrays[0].dtype)), counts)


def _bits(array: Array) -> Array:
    """Floats by their bits, which tell 0.0 from -0.0; all kinds of NaN as one."""
    if array.dtype.kind != "f":
        return array
    missing = np.isnan(array)
    return (np.where(missing, np.nan, array) if missing.any() else np.ascontiguousarray(array)).view(np.int64)


def _of_small_integers(arrays: list[Array], low: int, high: int) -> OutcomeTally:
    width = high - low + 1
    shifted = (array.astype(np.int64, copy=False) - low if low else array for array in arrays)
    counts = np.stack([np.bincount(array, minlength=width) for array in shifted])
    seen = np.flatnonzero(counts.any(axis=0))
    return OutcomeTally(Outcomes((seen + low).astype(arrays[0].dtype)), counts[:, seen])


def _ends(arrays: list[Array]) -> tuple[int, int]:
    drawn = [array for array in arrays if array.size]
    return min(int(array.min()) for array in drawn), max(int(array.max()) for array in drawn)


def _of_rows(arrays: list[Array]) -> OutcomeTally:
    """Rows, each coded as one integer where that is possible; else compared by their bytes, which takes longer."""
    near = _of_near_rows(arrays) if arrays[0].dtype.kind == "i" else None
    if near is not None:
        return near
    together = np.concatenate(arrays)
    ends = np.cumsum([0, *map(len, arrays)])
    columns = [np.unique(_bits(together[:, k]), return_inverse=True) for k in range(together.shape[1])]
    if float(np.prod([len(values) for values, _ in columns], dtype=np.float64)) >= _MOST_CODES:
        return _of_bytes(arrays, together)
    codes = np.zeros(len(together), np.int64)
    for values, inverse in columns:
        codes = codes * len(values) + inverse
    first = np.unique(codes, return_index=True)[1]
    coded = _of_scalars([codes[start:stop] for start, stop in pairwise(ends)])
    return OutcomeTally(Outcomes(together[first]), coded.counts)


def _of_near_rows(arrays: list[Array]) -> OutcomeTally | None:
    """Rows of integers that lie close together, counted without a sort; None where they lie too far apart."""
    drawn = [array for array in arrays if array.size]
    low = np.min([array.min(axis=0) for array in drawn], axis=0)
    high = np.max([array.max(axis=0) for array in drawn], axis=0)
    spans = [int(most) - int(least) + 1 for most, least in zip(high, low, strict=True)]
    total = math.prod(spans)
    if total > _MOST_CELLS:
        return None
    coded = _of_small_integers([_codes(array, low, spans) for array in arrays], 0, total - 1)
    rows = np.stack(np.unravel_index(np.asarray(coded.outcomes.listed), spans), axis=1) + low
    return OutcomeTally(Outcomes(rows), coded.counts)


def _codes(rows: Array, low: Array, spans: list[int]) -> Counts:
    found = np.zeros(len(rows), np.int64)
    for column, span in enumerate(spans):
        found *= span
        found += rows[:, column]
        found -= low[column]
    return found


def _of_bytes(arrays: list[Array], together: Array) -> OutcomeTally:
    """Rows compared byte by byte, where all kinds of NaN are one."""
    bits = np.ascontiguousarray(np.stack([_bits(together[:, k]) for k in range(together.shape[1])], axis=1))
    rows = bits.view(np.dtype((np.void, bits.dtype.itemsize * bits.shape[1]))).reshape(-1)
    _, first, place = np.unique(rows, return_index=True, return_inverse=True)
    ends = np.cumsum([0, *map(len, arrays)])
    counts = [np.bincount(place[start:stop], minlength=len(first)) for start, stop in pairwise(ends)]
    return OutcomeTally(Outcomes(together[first]), np.stack(counts))
