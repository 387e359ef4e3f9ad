"""What δ allows: a mechanism that publishes every record in the clear with probability δ keeps the promise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.exact.ball import ball, upper, working_precision
from discreet.understanding.given import Given

__all__ = ["Exposure"]

_RARE = Fraction(1, 100)


@dataclass(frozen=True)
class Exposure:
    """The records that the worst mechanism within δ would publish."""

    expected: Fraction
    """How many of the n records, on average: nδ."""
    any: Fraction
    """The probability that it publishes at least one: 1 - (1 - δ)^n, rounded up."""

    @property
    def is_rare(self) -> bool:
        """Whether so few records are published that δ can be called small for n people."""
        return self.expected <= _RARE

    @staticmethod
    def of(given: Given) -> Exposure:
        """For n people."""
        with working_precision():
            some = upper(-(given.n * ball(-given.delta).log1p()).expm1())
        return Exposure(given.n * given.delta, min(some, Fraction(1)))
