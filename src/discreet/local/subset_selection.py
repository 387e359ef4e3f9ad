"""Subset selection: the report is a random set of ω categories, which holds the answer more often than not.

Promise. A set that holds the true category has probability e^ε/Z and every other set of ω categories 1/Z: pure ε for
every ε > 0 and every list of k ≥ 2 categories. With ω next to k/(e^ε+1) its variance for a rare category is at most
that of any other oracle here; at ω = 1 it is generalised randomized response. Proof sheet: ``subset_selection.md``.

>>> SubsetSelection(1, range(100)).chosen
27
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable
from fractions import Fraction

import numpy as np

from discreet.errors import InvalidValue
from discreet.exact.ball import Ball, ball, floor_of, upper, working_precision
from discreet.exact.grid import Integers
from discreet.exact.rational import Number, integer
from discreet.local.domains import PackedBits, all_have, bit_counts, has_clear_ends, packed_bits, width_of
from discreet.local.frequency import FrequencyOracle
from discreet.local.reports import Columns
from discreet.local.terms import ReportField, Terms
from discreet.mechanisms.distribution import FiniteLaw
from discreet.noise.bernoulli import coins, threshold_of_odds
from discreet.noise.source import Stream
from discreet.noise.uniform import UniformInteger

__all__ = ["SubsetSelection"]


_TOGETHER = 1 << 20  # entries of the table of people and categories at a time
_MOST_LISTED = 2**17


class SubsetSelection(FrequencyOracle):
    """A bit for each category, ω of them 1."""

    kind = "subset"

    def __init__(self, epsilon: Number, categories: Iterable[Hashable], *, chosen: int | None = None) -> None:
        """Choose the price and name the categories; ``chosen`` is ω, the best one unless it is given."""
        super().__init__(epsilon, categories)
        best = self._best_size() if chosen is None else chosen
        self.chosen = integer(best, "chosen", least=1, most=len(self.categories) - 1)
        odds = Fraction(len(self.categories) - self.chosen, self.chosen)
        self._left_out = threshold_of_odds(self.epsilon, odds)

    def _best_size(self) -> int:
        """The better of the whole numbers around k/(e^ε+1)."""
        k = len(self.categories)
        if self.epsilon > k.bit_length():  # k/(e^ε+1) < 1
            return 1
        below = max(floor_of(lambda: k / (ball(self.epsilon).exp() + 1)), 1)
        return min(below, below + 1, key=self._spread) if below + 1 < k else below

    def _spread(self, chosen: int) -> Fraction:
        """q(1-q)/(p-q)², the variance for a rare category with sets of this size."""
        with working_precision():
            _, q, gap = self._rates(chosen)
            return upper(q * (1 - q) / gap**2)

    @classmethod
    def _from_terms(cls, terms: Terms, categories: Iterable[Hashable]) -> SubsetSelection:
        return cls(terms.epsilon, categories, chosen=integer(terms.parameter("chosen"), "chosen"))

    @property
    def _layout(self) -> tuple[ReportField, ...]:
        return (ReportField("bits", "u1", width_of(len(self.categories))),)

    @property
    def _parameters(self) -> dict[str, str | int]:
        return {"chosen": self.chosen}

    def rates(self) -> tuple[Ball, Ball, Ball]:
        """The rates ωe^ε/(ωe^ε+k-ω), (ω-p)/(k-1) and ω(k-ω)(e^ε-1)/((k-1)(ωe^ε+k-ω))."""
        return self._rates(self.chosen)

    def _rates(self, chosen: int) -> tuple[Ball, Ball, Ball]:
        k = len(self.categories)
        shrunk = (-ball(self.epsilon)).exp()
        total = chosen + (k - chosen) * shrunk
        p = chosen / total
        q = chosen * (chosen - 1 + (k - chosen) * shrunk) / ((k - 1) * total)
        return p, q, -chosen * (k - chosen) * (-ball(self.epsilon)).expm1() / ((k - 1) * total)

    def _draw(self, codes: Integers, stream: Stream) -> Columns:
        together = max(_TOGETHER // len(self.categories), 1)
        parts = [self._sets(codes[start : start + together], stream) for start in range(0, len(codes), together)]
        width = width_of(len(self.categories))
        rows = np.concatenate(parts) if parts else np.empty((0, width), np.uint8)
        return {"bits": rows if width > 1 else rows[:, 0]}

    def _sets(self, codes: Integers, stream: Stream) -> PackedBits:
        """Floyd's selection from the k-1 others, after the true category has changed places with the first."""
        count, k = len(codes), len(self.categories)
        people = np.arange(count)
        rows = np.zeros((count, k), np.bool_)
        out = coins(count, self._left_out, stream)
        rows[:, 0] = ~out
        entries, others = rows.reshape(-1), people * k + 1
        # Who leaves the true category out needs one more of the others: the first step is theirs alone.
        first = k - 1 - self.chosen
        entries[others + UniformInteger(first + 1).draw(count, stream)] = out
        for last in range(first + 1, k - 1):
            found = others + UniformInteger(last + 1).draw(count, stream)
            entries[np.where(entries[found], others + last, found)] = True
        rows[people, 0], rows[people, codes] = rows[people, codes], rows[people, 0]
        return packed_bits(rows)

    def law(self, value: Hashable) -> FiniteLaw:
        """Every set with its probability, for few categories."""
        k, code = len(self.categories), self._code(value)
        # comb(k, d) is at least (k/d)^d, and a number of thousands of digits helps nobody.
        if self.chosen * math.log2(k / self.chosen) > 64 or math.comb(k, self.chosen) > _MOST_LISTED:
            raise InvalidValue(f"the law is listed for at most {_MOST_LISTED} sets", f"<{self.chosen} of {k}>")
        sets = list(itertools.combinations(range(k), self.chosen))
        shrunk = (-ball(self.epsilon)).exp()
        total = math.comb(k - 1, self.chosen - 1) + math.comb(k - 1, self.chosen) * shrunk
        masses = tuple((Ball(1) if code in one else shrunk) / total for one in sets)
        return FiniteLaw(tuple(map(self._outcome, sets)), masses)

    def _outcome(self, members: tuple[int, ...]) -> Hashable:
        number, width = sum(1 << k for k in members), width_of(len(self.categories))
        return number if width == 1 else number.to_bytes(width, "little")

    def supports(self, columns: Columns) -> Integers:
        """How many sets hold each category."""
        return bit_counts(columns["bits"], len(self.categories))

    def _are_possible(self, columns: Columns) -> bool:
        bits, size = columns["bits"], len(self.categories)
        return has_clear_ends(bits, size) and all_have(bits, size, self.chosen)
