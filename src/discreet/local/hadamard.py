"""Hadamard response: one bit about the answer, and the number of the question that it answers.

Let H be the Hadamard matrix with K = 2^⌈log₂(k+1)⌉ rows, H[j, x] = (-1)^(number of ones in j AND x).

Promise. A report is a row j, uniform in 0..K-1 and independent of the answer, and the sign H[j, x+1] for the answer x,
flipped with probability 1/(1+e^ε): pure ε for every ε > 0 and every list of k ≥ 2 categories. A report has
1 + log₂ K bits, and a server counts any number of them in one pass and one fast transform.
Proof sheet: ``hadamard.md``.

>>> HadamardResponse(1, range(100)).terms.bytes_each
1
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.exact.ball import Ball, ball
from discreet.exact.grid import Integers
from discreet.exact.rational import Number
from discreet.local.frequency import FrequencyOracle
from discreet.local.reports import Columns
from discreet.local.terms import ReportField, smallest_unsigned
from discreet.mechanisms.distribution import FiniteLaw
from discreet.mechanisms.randomized_response import Honesty
from discreet.noise.bernoulli import coins
from discreet.noise.source import Stream

__all__ = ["HadamardResponse", "walsh_hadamard"]


_TOGETHER = 1 << 16


class HadamardResponse(FrequencyOracle):
    """A random row of the Hadamard matrix and a noisy sign, written as 2·row + (1 for a minus)."""

    kind = "hadamard"

    def __init__(self, epsilon: Number, categories: Iterable[Hashable]) -> None:
        """Choose the price of a report and name the categories."""
        super().__init__(epsilon, categories)
        self.honesty = Honesty.priced(self.epsilon)
        self.rows = 1 << len(self.categories).bit_length()
        """K, the number of rows: the least power of two above the number of categories."""

    @property
    def _layout(self) -> tuple[ReportField, ...]:
        return (ReportField("row_and_sign", smallest_unsigned(2 * self.rows)),)

    @property
    def _parameters(self) -> dict[str, str | int]:
        return {"rows": self.rows}

    def rates(self) -> tuple[Ball, Ball, Ball]:
        """e^ε/(1+e^ε), 1/2 and their difference."""
        truth, _, gap = self.honesty.rates()
        return truth, ball(Fraction(1, 2)), gap / 2

    def _draw(self, codes: Integers, stream: Stream) -> Columns:
        field = self._layout[0]
        reports = np.empty(len(codes), field.dtype)
        for start in range(0, len(codes), _TOGETHER):
            part = slice(start, start + _TOGETHER)
            self._write(codes[part], reports[part], stream)
        return {field.name: reports}

    def _write(self, codes: Integers, reports: npt.NDArray[Any], stream: Stream) -> None:
        # K is a power of two, so the low bits of a random number are a uniform row.
        dtype = reports.dtype
        words = stream.words(-(-len(codes) * dtype.itemsize // 8))
        rows = words.view(dtype)[: len(codes)] & dtype.type(self.rows - 1)
        minus = np.bitwise_count(rows & (codes + 1).astype(dtype)) & 1
        minus ^= coins(len(codes), self.honesty.lie, stream)
        reports[:] = rows << 1 | minus

    def law(self, value: Hashable) -> FiniteLaw:
        """Every row and sign with its probability."""
        column = self._code(value) + 1
        truth, lie, _ = (rate / self.rows for rate in self.honesty.rates())
        signs = [(row & column).bit_count() & 1 for row in range(self.rows)]
        masses = tuple(truth if sign == minus else lie for sign in signs for minus in (0, 1))
        return FiniteLaw(tuple(range(2 * self.rows)), masses)

    def supports(self, columns: Columns) -> Integers:
        """How many signs agree with the column of each category."""
        reports = columns["row_and_sign"]
        plus, minus = np.bincount(reports, minlength=2 * self.rows).reshape(self.rows, 2).T
        agreeing = (len(reports) + walsh_hadamard(plus - minus)) // 2
        return agreeing[1 : len(self.categories) + 1]

    def _are_possible(self, columns: Columns) -> bool:
        return int(columns["row_and_sign"].max(initial=0)) < 2 * self.rows


def walsh_hadamard(values: Integers) -> Integers:
    """H · values in K log₂ K additions."""
    found, half = values, 1
    while half < len(values):
        pairs = found.reshape(-1, 2, half)
        found = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        half *= 2
    return found
