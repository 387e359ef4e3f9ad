"""Unary encoding: one bit for each category, 1 at the answer and 0 elsewhere, each bit lied about on its own.

Promise. The bit of the true category is reported as 1 with probability p and that of every other category with
probability q, independently, with p(1-q)/(q(1-p)) = e^ε: pure ε for every ε > 0 and every list of k ≥ 2 categories.
Symmetric encoding (basic RAPPOR) takes p = 1 - q. Optimal encoding takes p = 1/2, which makes the variance for a rare
category as small as unary encoding can: 4e^ε/(e^ε-1)²/n. Proof sheet: ``unary.md``.

>>> OptimalUnary(1, range(100)).terms.bytes_each
13
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidValue
from discreet.exact.ball import Ball, ball
from discreet.exact.grid import Integers
from discreet.exact.rational import Number
from discreet.local.domains import PackedBits, bit_counts, has_clear_ends, packed_bits, width_of
from discreet.local.frequency import FrequencyOracle
from discreet.local.reports import Columns
from discreet.local.terms import ReportField
from discreet.mechanisms.distribution import FiniteLaw
from discreet.mechanisms.randomized_response import Honesty
from discreet.noise.bernoulli import coins, threshold_of
from discreet.noise.source import Stream

__all__ = ["OptimalUnary", "SymmetricUnary"]


_TOGETHER = 1 << 16  # bits drawn at a time, so that they stay in the cache
_MOST_LISTED = 12


class _UnaryEncoding(FrequencyOracle):
    """A bit for each category."""

    def __init__(self, epsilon: Number, categories: Iterable[Hashable]) -> None:
        """Choose the price of a report and name the categories."""
        super().__init__(epsilon, categories)
        self.honesty = Honesty.priced(self._price_of_a_bit)
        """How honest the bits of categories other than the true one are."""

    @property
    @abstractmethod
    def _price_of_a_bit(self) -> Fraction:
        """ε of the bits of other categories: they are 1 with probability 1/(1 + e^this)."""

    @abstractmethod
    def _true_bits(self, count: int, stream: Stream) -> npt.NDArray[np.bool_]:
        """What is reported for the true category of each of ``count`` people."""

    @property
    def _layout(self) -> tuple[ReportField, ...]:
        return (ReportField("bits", "u1", width_of(len(self.categories))),)

    def _draw(self, codes: Integers, stream: Stream) -> Columns:
        together = max(_TOGETHER // len(self.categories), 1)
        parts = [self._rows(codes[start : start + together], stream) for start in range(0, len(codes), together)]
        width = width_of(len(self.categories))
        rows = np.concatenate(parts) if parts else np.empty((0, width), np.uint8)
        return {"bits": rows if width > 1 else rows[:, 0]}

    def _rows(self, codes: Integers, stream: Stream) -> PackedBits:
        size = len(self.categories)
        rows = coins(len(codes) * size, self.honesty.lie, stream).reshape(len(codes), size)
        rows[np.arange(len(codes)), codes] = self._true_bits(len(codes), stream)
        return packed_bits(rows)

    def law(self, value: Hashable) -> FiniteLaw:
        """Every row of bits with its probability, for at most 12 categories."""
        size, place = len(self.categories), self._code(value)
        if size > _MOST_LISTED:
            raise InvalidValue(f"the law is listed for at most {_MOST_LISTED} categories", size)
        rates = [self.rates()[0 if k == place else 1] for k in range(size)]
        rows = [[number >> k & 1 for k in range(size)] for number in range(2**size)]
        return FiniteLaw(tuple(map(self._outcome, range(2**size))), tuple(_product(row, rates) for row in rows))

    def _outcome(self, number: int) -> Hashable:
        width = width_of(len(self.categories))
        return number if width == 1 else number.to_bytes(width, "little")

    def supports(self, columns: Columns) -> Integers:
        """How many reports have the bit of each category."""
        return bit_counts(columns["bits"], len(self.categories))

    def _are_possible(self, columns: Columns) -> bool:
        return has_clear_ends(columns["bits"], len(self.categories))


class SymmetricUnary(_UnaryEncoding):
    """Every bit is flipped with probability 1/(e^(ε/2) + 1)."""

    kind = "sue"

    @property
    def _price_of_a_bit(self) -> Fraction:
        return self.epsilon / 2

    def rates(self) -> tuple[Ball, Ball, Ball]:
        """e^(ε/2)/(e^(ε/2) + 1), 1/(e^(ε/2) + 1) and their difference."""
        return self.honesty.rates()

    def _true_bits(self, count: int, stream: Stream) -> npt.NDArray[np.bool_]:
        return ~coins(count, self.honesty.lie, stream)


class OptimalUnary(_UnaryEncoding):
    """The true bit is a fair coin, and every other bit is 1 with probability 1/(e^ε + 1)."""

    kind = "oue"

    @property
    def _price_of_a_bit(self) -> Fraction:
        return self.epsilon

    def rates(self) -> tuple[Ball, Ball, Ball]:
        """1/2, 1/(e^ε + 1) and their difference."""
        _, lie, gap = self.honesty.rates()
        return ball(Fraction(1, 2)), lie, gap / 2

    def _true_bits(self, count: int, stream: Stream) -> npt.NDArray[np.bool_]:
        return coins(count, threshold_of(Fraction(1, 2)), stream)


def _product(row: list[int], rates: list[Ball]) -> Ball:
    mass = Ball(1)
    for bit, rate in zip(row, rates, strict=True):
        mass *= rate if bit else 1 - rate
    return mass
