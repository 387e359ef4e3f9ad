"""The intervals of linear forms of noisy cells, and of quotients of two of them.

A noisy cell is a count or a sum in one group: itself a linear form of noisy integers, whose noises are independent. So
a form of cells is a form of noises, where what was used twice adds up or cancels.

Claim. Let A and B be forms of noisy cells, a and b the same forms of the cells without noise, and N(r) the noise of
A - rB. With probability c, at least, a is within A ± q, where q is the reach of A's noise at c; and, for b ≠ 0, a/b is
within (q + p|R - R'|) / (|B| - p) of R = A/B, where R' is any number, q is the reach of N(R') at 1 - (1 - s)(1 - c), p
that of B's noise at 1 - s(1 - c), and 0 < s < 1, wherever |B| > p.

Proof. The first is what a reach is. For the second, let r = a/b, and w the reach of N(r) at c. Then A - rB = N(r),
because a - rb = 0, and |N(r)| ≤ w with probability c at least (Fieller). N(r) = N(R') + (R' - r)M for every number R',
where M is B's noise, so w is at most q + |R' - r|p (the union bound). This is an inequality between numbers: it holds
for every R' and s, also for those that suit A and B best. Hence |B||R - r| = |A - rB| ≤ q + p|R - R'| + p|R - r|, with
probability c at least. R' is R rounded to a grid so fine that it costs a hundredth, and many rows need one reach.

Cells that are counts are not below zero, which bounds forms and quotients of them: with factors αᵢ and βᵢ ≥ 0, the
quotient lies between the least and the greatest αᵢ / βᵢ. An interval also lies around the value that is shown, which
may be computed from counts that are not below zero, and around the nearest possible one; then what is impossible is cut
off.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.query.aggregates.noise_tails import Noise, Terms, reach
from discreet.query.answer.linear_forms import FORM, PUBLIC
from discreet.query.bind.group_by import PrivateAggregation
from discreet.query.run.measure import Measured

__all__ = ["Cells", "Ends"]


Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]
Ends = tuple[float, float] | None

_LITTLE, _MORE = 0.02, 0.2
"""Of the probability to miss, what is left to the divisor: little where it is large, more where it is not."""
_FINE = 0.02
_ANYTHING = (-math.inf, math.inf)
_MANY = 5000
"""From so many rows on, quotients take R' = 0, which is wider: forms are alike in most rows then, and read once."""


@dataclass(frozen=True)
class _Cell:
    """An aggregate of a block, in all groups."""

    start: int
    """The number of its first group's cell."""
    values: Floats
    """As measured."""
    is_count: bool
    factors: list[tuple[int, float]]
    """The number of the first group's noise, of each integer that it is made of, and what it is multiplied by."""


@dataclass(frozen=True)
class _Row:
    """One linear form."""

    value: float
    """Of the cells as measured."""
    public: float
    """The public number that is added to the cells."""
    cells: Places
    factors: Floats
    noises: Places
    """The noises that it holds, in order, each once."""
    sizes: Floats
    """What each is multiplied by."""


class Cells:
    """The noisy cells of an answer and the noises they are made of."""

    def __init__(self, blocks: Sequence[PrivateAggregation], measured: Sequence[Measured]) -> None:
        self._cells: list[_Cell] = []
        self._columns: dict[str, dict[str, int]] = {}
        self._laws: list[Noise] = []
        self._starts: list[int] = []
        self._reaches: dict[tuple[bytes, bytes, float], float] = {}
        self._cell_count = self._noise_count = 0
        found: dict[tuple[int, int], list[int]] = {}
        for block, one in zip(blocks, measured, strict=True):
            self._columns[block.name] = {}
            for a, asked in enumerate(block.aggregates):
                linear = one.plan.form_of(asked)
                if linear is None:
                    continue
                position, form = linear
                noises = found.setdefault((id(one), position), self._noises(one, position, found))
                factors = [(at, float(f)) for at, f in zip(noises, form.factors, strict=True) if f]
                values = form.value(one.sums[position])
                self._columns[block.name][f"a{a}"] = self._cell_count
                self._cells.append(_Cell(self._cell_count, values, asked.is_count, factors))
                self._cell_count += len(values)

    def _noises(self, one: Measured, position: int, found: dict[tuple[int, int], list[int]]) -> list[int]:
        """Numbers for the noises of a part; blocks that were measured together share them."""
        known = found.get((id(one), position))
        if known is not None:
            return known
        starts = []
        for integers in one.sums[position]:
            starts.append(self._noise_count)
            self._starts.append(self._noise_count)
            self._laws.append(one.plan.parts[position].noise)
            self._noise_count += len(integers)
        return starts

    def added_to(self, table: pa.Table, block: PrivateAggregation) -> pa.Table:
        """The block's table with the form of each of its aggregates: one cell, once."""
        rows = table.num_rows
        for name, start in self._columns[block.name].items():
            pairs = pa.StructArray.from_arrays(
                [pa.array(np.arange(start, start + rows), pa.int32()), pa.array(np.ones(rows))], names=["i", "c"]
            )
            lists = pa.ListArray.from_arrays(pa.array(np.arange(rows + 1), pa.int32()), pairs)
            table = table.append_column(name + FORM, lists)
        return table

    # Forms.

    def _rows(self, forms: pa.ChunkedArray) -> list[_Row | None]:
        lists = forms.combine_chunks()
        if pa.types.is_null(lists.type):
            return [None] * len(lists)
        pairs = lists.flatten()
        cells, factors = np.asarray(pairs.field(0), np.int64), np.asarray(pairs.field(1), np.float64)
        lengths = np.asarray(lists.value_lengths().fill_null(0))
        rows, cuts = np.repeat(np.arange(len(lists)), lengths), _cuts(lengths)
        is_known = ~np.asarray(lists.is_null())
        is_known[rows[~np.isfinite(factors)]] = False
        values = np.concatenate([*[cell.values for cell in self._cells], [1.0]])  # the last is that of PUBLIC
        noises, sizes, ends = self._noises_in(rows, cells, factors, len(lists))
        found: list[_Row | None] = []
        for k in range(len(lists)):
            own, at = slice(cuts[k], cuts[k + 1]), slice(ends[k], ends[k + 1])
            is_cell = cells[own] != PUBLIC
            value, public = np.dot(factors[own], values[cells[own]]), factors[own][~is_cell].sum()
            parts = cells[own][is_cell], factors[own][is_cell], noises[at], sizes[at]
            found.append(_Row(float(value), float(public), *parts) if is_known[k] else None)
        return found

    def _noises_in(self, rows: Places, cells: Places, factors: Floats, count: int) -> tuple[Places, Floats, Places]:
        """The noises of all rows, row after row, their factors, and where each row begins."""
        keys, sizes = [np.zeros(0, np.int64)], [np.zeros(0)]
        for cell in self._cells:
            mine = (cells >= cell.start) & (cells < cell.start + len(cell.values))
            for at, factor in cell.factors if mine.any() else []:
                keys.append(rows[mine] * self._noise_count + cells[mine] - cell.start + at)
                sizes.append(factors[mine] * factor)
        found, which = np.unique(np.concatenate(keys), return_inverse=True)
        totals = np.bincount(which, np.concatenate(sizes), len(found)).astype(np.float64)
        largest = np.zeros(len(found))
        np.maximum.at(largest, which, np.abs(np.concatenate(sizes)))
        totals[np.abs(totals) < 1e-12 * largest] = 0.0  # what cancelled, up to floating point
        counts = np.bincount(found // max(self._noise_count, 1), minlength=count)
        return found % max(self._noise_count, 1), totals, _cuts(counts)

    def _reach(self, noises: Places, sizes: Floats, confidence: float) -> float:
        """How far noises carry their sum; forms that are alike are looked at once."""
        laws = self._laws_of(noises)
        key = laws.tobytes(), sizes.tobytes(), confidence
        found = self._reaches.get(key)
        if found is None:
            found = self._reaches[key] = reach(self._terms(laws, sizes), confidence)
        return found

    def _laws_of(self, noises: Places) -> Places:
        return np.asarray(np.searchsorted(self._first_noises, noises, side="right") - 1, np.int64)

    @cached_property
    def _first_noises(self) -> Places:
        return np.asarray(self._starts, np.int64)

    @cached_property
    def _variances(self) -> Floats:
        return np.asarray([law.variance for law in self._laws])

    def _terms(self, laws: Places, sizes: Floats) -> Terms:
        found: dict[Noise, list[Floats]] = {}
        for law in np.unique(laws).tolist():
            found.setdefault(self._laws[law], []).append(sizes[laws == law])
        return [(law, np.concatenate(each)) for law, each in found.items()]

    # Intervals.

    def ends(
        self,
        above: pa.ChunkedArray,
        below: pa.ChunkedArray | None,
        shown: Sequence[Any],
        confidence: float,
        *,
        raw: bool,
    ) -> list[Ends]:
        """The interval of each row; None where none is known."""
        rows = self._rows(above)
        if below is None:
            return [self._of_form(a, _number(v), confidence, raw=raw) for a, v in zip(rows, shown, strict=True)]
        each, many = zip(rows, self._rows(below), shown, strict=True), len(rows) > _MANY
        return [self._of_quotient(a, b, _number(v), confidence, raw=raw, many=many) for a, b, v in each]

    def _of_form(self, form: _Row | None, shown: float | None, confidence: float, *, raw: bool) -> Ends:
        if form is None or shown is None or not math.isfinite(form.value):
            return None
        width = self._reach(form.noises, form.sizes, confidence)
        possible = _ANYTHING if raw else self._possible(form)
        return _move(form.value, width, shown, possible)

    def _of_quotient(
        self, above: _Row | None, below: _Row | None, shown: float | None, confidence: float, *, raw: bool, many: bool
    ) -> Ends:
        if above is None or below is None or shown is None or not below.value:
            return None
        quotient = above.value / below.value
        missing = 1 - confidence
        width = self._width(above, below, quotient, missing, many=many) if math.isfinite(quotient) else math.inf
        if not math.isfinite(width):
            return None
        possible = _ANYTHING if raw else self._possible_quotients(above, below)
        return _move(quotient, width, shown, possible)

    def _width(self, above: _Row, below: _Row, quotient: float, missing: float, *, many: bool) -> float:
        """How far a quotient may be off; anything where its divisor may be zero."""
        divisor, share = abs(below.value), _LITTLE
        far = self._reach(below.noises, below.sizes, 1 - share * missing)
        if many or far > divisor / 20:
            share = _MORE
            far = self._reach(below.noises, below.sizes, 1 - share * missing)
        if far >= divisor:
            return math.inf
        left = (0.0, above.noises, above.sizes) if many else self._difference(above, below, quotient)
        near, noises, sizes = left
        return (self._reach(noises, sizes, 1 - (1 - share) * missing) + far * abs(quotient - near)) / (divisor - far)

    def _difference(self, above: _Row, below: _Row, quotient: float) -> tuple[float, Places, Floats]:
        """A number near the quotient, and the noise of one form less the other so many times."""
        noises, which = np.unique(np.concatenate([above.noises, below.noises]), return_inverse=True)
        tops = np.bincount(which[: len(above.noises)], above.sizes, len(noises))
        bottoms = np.bincount(which[len(above.noises) :], below.sizes, len(noises))
        variances = self._variances[self._laws_of(noises)]
        left = tops - quotient * bottoms
        left[np.abs(left) < 1e-12 * np.maximum(np.abs(tops), np.abs(quotient * bottoms))] = 0.0
        of_both, of_divisor = (math.sqrt(float(np.dot(variances, each * each))) for each in (left, bottoms))
        if not of_both or not of_divisor:
            return quotient, noises, left
        step = 2.0 ** math.floor(math.log2(_FINE * of_both / of_divisor))
        near = round(quotient / step) * step
        return near, noises, tops - near * bottoms

    # What is possible.

    def _are_counts(self, cells: Places) -> bool:
        return bool(self._is_count[cells].all())

    @cached_property
    def _is_count(self) -> npt.NDArray[np.bool_]:
        """Whether each cell is a count."""
        return np.concatenate([np.full(len(cell.values), cell.is_count) for cell in self._cells])

    def _possible(self, form: _Row) -> tuple[float, float]:
        """Where a form of counts lies, none of which is below zero."""
        if not self._are_counts(form.cells):
            return _ANYTHING
        low = form.public if (form.factors >= 0).all() else -math.inf
        return low, form.public if (form.factors <= 0).all() else math.inf

    def _possible_quotients(self, above: _Row, below: _Row) -> tuple[float, float]:
        cells = np.concatenate([above.cells, below.cells])
        if not self._are_counts(cells):
            return _ANYTHING
        which, inverse = np.unique(cells, return_inverse=True)
        tops = np.append(np.bincount(inverse[: len(above.cells)], above.factors, len(which)), above.public)
        bottoms = np.append(np.bincount(inverse[len(above.cells) :], below.factors, len(which)), below.public)
        if (bottoms < 0).any():
            return _ANYTHING
        some = (tops != 0) | (bottoms != 0)
        with np.errstate(divide="ignore"):
            quotients = tops[some] / bottoms[some]
        return float(quotients.min(initial=math.inf)), float(quotients.max(initial=-math.inf))


def _cuts(lengths: npt.NDArray[Any]) -> Places:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def _move(value: float, width: float, shown: float, possible: tuple[float, float]) -> Ends:
    """The interval around the value as measured, around the one that is shown and around the nearest possible one."""
    middles = value, shown, min(max(value, possible[0]), possible[1])
    low, high = max(min(middles) - width, possible[0]), min(max(middles) + width, possible[1])
    return min(low, shown), max(high, shown)


def _number(value: Any) -> float | None:
    """A value that is shown, as a number; None where it is none."""
    is_number = value is not None and not isinstance(value, (str, bytes, bool))
    try:
        found = float(value) if is_number else math.nan
    except (TypeError, ValueError):
        return None
    return found if math.isfinite(found) else None
