"""The exact law of what a mechanism returns, for any kind of answer.

`mass` is a ball, for proofs; `pmf` is a float, for people. A `FiniteLaw` lists its outcomes; a `ShiftedLaw` is noise
around a true value on a grid; a `ProductLaw` holds independent answers side by side.

>>> from fractions import Fraction
>>> print(FiniteLaw(("yes", "no"), (Ball(3) / 4, Ball(1) / 4)))
yes  0.75
no   0.25
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from numbers import Integral
from typing import Any

from discreet.errors import InvalidValue
from discreet.exact.ball import Ball, working_precision
from discreet.exact.grid import Grid
from discreet.noise.law import Law

__all__ = ["Distribution", "FiniteLaw", "ProductLaw", "ShiftedLaw"]

_SHOWN = 12
_RARE = Fraction(1, 2**101)
_MOST_LISTED = 2**17


class Distribution(ABC):
    """A discrete probability law on answers."""

    @abstractmethod
    def mass(self, outcome: Any) -> Ball:
        """P(answer = outcome), as a ball at the working precision."""

    def pmf(self, outcome: Any) -> float:
        """P(answer = outcome)."""
        with working_precision():
            return float(self.mass(outcome))

    def likely(self) -> Sequence[Any]:
        """Every possible answer, or enough of them to leave out at most 2^-100."""
        raise InvalidValue("this law does not list its answers", f"<a {type(self).__name__}>", "pass outcomes=")


@dataclass(frozen=True)
class FiniteLaw(Distribution):
    """Finitely many outcomes with their probabilities."""

    outcomes: tuple[Hashable, ...]
    """Every possible answer."""
    masses: tuple[Ball, ...]
    """The probability of each."""

    def mass(self, outcome: Hashable) -> Ball:
        """P(answer = outcome); zero for what is not listed."""
        return self.masses[self.outcomes.index(outcome)] if outcome in self.outcomes else Ball(0)

    def likely(self) -> Sequence[Hashable]:
        """Every possible answer."""
        return self.outcomes

    def __str__(self) -> str:
        ranked = sorted(zip(self.outcomes, self.masses, strict=True), key=lambda pair: -float(pair[1]))
        width = max(len(str(outcome)) for outcome in self.outcomes)
        lines = [f"{outcome!s:<{width}}  {float(mass):.4g}" for outcome, mass in ranked[:_SHOWN]]
        return "\n".join(lines + ([f"… {len(ranked) - _SHOWN} more"] if len(ranked) > _SHOWN else []))


@dataclass(frozen=True)
class ShiftedLaw(Distribution):
    """Noise around a true value, both counted in steps of a grid."""

    law: Law
    """The noise, in steps."""
    centre: int
    """The true value, in steps."""
    grid: Grid = field(default_factory=Grid)
    """What a step is worth."""

    @property
    def support(self) -> tuple[float | None, float | None]:
        """The least and the greatest possible answer; None where there is none."""
        low, high = (None if end is None else self.grid.value_of(end + self.centre) for end in self.law.support)
        return low, high

    def mass(self, outcome: int | float | Fraction) -> Ball:
        """P(answer = outcome); zero off the grid."""
        steps = self._steps_to(outcome)
        return self.law.mass(int(steps) - self.centre) if steps.denominator == 1 else Ball(0)

    def below(self, outcome: int | float | Fraction) -> Ball:
        """P(answer ≤ outcome), as a ball at the working precision."""
        return self.law.below(math.floor(self._steps_to(outcome)) - self.centre)

    def cdf(self, outcome: int | float | Fraction) -> float:
        """P(answer ≤ outcome)."""
        with working_precision():
            return float(self.below(outcome))

    def likely(self) -> Sequence[int | float]:
        """All answers but 2^-101 on either side, in rising order."""
        ends = (self.law.quantile(share) for share in (_RARE, 1 - _RARE))
        first, last = (int(end) + self.centre for end in ends)
        _check_listed(last - first + 1)
        return [self.grid.value_of(steps) for steps in range(first, last + 1)]

    def _steps_to(self, outcome: Any) -> Fraction:
        try:
            exact = Fraction(int(outcome)) if isinstance(outcome, Integral) else Fraction(outcome)
        except (TypeError, ValueError, OverflowError):
            raise InvalidValue("an answer must be a finite number", outcome) from None
        return exact / self.grid.step


@dataclass(frozen=True)
class ProductLaw(Distribution):
    """Independent answers side by side."""

    parts: tuple[Distribution, ...]
    """The law of each answer."""

    def mass(self, outcome: Sequence[Any]) -> Ball:
        """P(answers = outcome)."""
        if len(outcome) != len(self.parts):
            raise InvalidValue(f"the outcome must list {len(self.parts)} answers", len(outcome))
        together = Ball(1)
        for part, answer in zip(self.parts, outcome, strict=True):
            together *= part.mass(answer)
        return together

    def likely(self) -> Sequence[tuple[Any, ...]]:
        """Every combination of what is likely in each part."""
        parts = [part.likely() for part in self.parts]
        _check_listed(math.prod(map(len, parts)))
        return list(product(*parts))


def _check_listed(count: int) -> None:
    if count > _MOST_LISTED:
        rule = f"at most {_MOST_LISTED} answers are listed"
        raise InvalidValue(rule, count, "pass outcomes=")
