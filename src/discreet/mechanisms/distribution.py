"""The exact law of what a mechanism returns, for any kind of answer.

`mass` is a ball, for proofs; `pmf` is a float, for people. A `FiniteLaw` lists its outcomes; a `ShiftedLaw` is noise
around a true value on a grid; a `ProductLaw` holds independent answers side by side.

>>> from fractions import Fraction
>>> print(FiniteLaw(("yes", "no"), (Ball(3) / 4, Ball(1) / 4)))
yes  0.75
no   0.25

`Many` keeps many answers of which few are different, each as its place in a short list.

>>> heads = Many(("heads", "tails"), np.array([0, 1, 1]))
>>> heads[0], len(heads), list(heads[1:])
('heads', 3, ['tails', 'tails'])
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import product
from numbers import Integral
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidValue
from discreet.exact.ball import BITS, Ball, ball, working_precision
from discreet.exact.grid import Grid, Integers
from discreet.exact.rational import Number, probability
from discreet.noise.law import Law

__all__ = ["Distribution", "FiniteLaw", "Many", "ProductLaw", "ShiftedLaw", "coded_rows"]


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

    def mass(self, outcome: Any) -> Ball:
        """P(answer = outcome); zero for what is not listed."""
        return self._by_outcome.get(outcome, Ball(0)) if isinstance(outcome, Hashable) else Ball(0)

    @cached_property
    def _by_outcome(self) -> dict[Hashable, Ball]:
        pairs = list(zip(self.outcomes, self.masses, strict=True))
        return dict(reversed(pairs))

    @classmethod
    def of(cls, probabilities: Mapping[Hashable, Number]) -> FiniteLaw:
        """The law with these probabilities, which must sum to 1."""
        exact = {outcome: probability(share, "probability") for outcome, share in probabilities.items()}
        if sum(exact.values()) != 1:
            raise InvalidValue("the probabilities of a law must sum to 1", str(sum(exact.values())))
        with working_precision(2 * BITS):
            return cls(tuple(exact), tuple(ball(share) for share in exact.values()))

    def through(self, mapping: Callable[[Any], Hashable | FiniteLaw]) -> FiniteLaw:
        """The law of ``mapping(X)`` for X of this law; a mapping with randomness of its own says its law at each X.

        So ``prior.through(mechanism.distribution)`` is what a mechanism answers when the truth is drawn from a prior,
        and ``law.through(abs)`` is post-processing.
        """
        found: dict[Hashable, Ball] = {}
        with working_precision(2 * BITS):
            for outcome, mass in zip(self.outcomes, self.masses, strict=True):
                for image, share in _law_of(mapping(outcome)).items():
                    found[image] = found.get(image, Ball(0)) + mass * share
        return FiniteLaw(tuple(found), tuple(found.values()))

    def information(self, mapping: Callable[[Any], Hashable | FiniteLaw]) -> Ball:
        """The mutual information of X and ``mapping(X)`` in nats, Σ P(x) KL(law at x ‖ law at random x)."""
        images = self.through(mapping)
        total = Ball(0)
        with working_precision(2 * BITS):
            for outcome, mass in zip(self.outcomes, self.masses, strict=True):
                shares = {image: share for image, share in _law_of(mapping(outcome)).items() if not share.is_zero()}
                if not mass.is_zero():
                    terms = (share * (share / images.mass(image)).log() for image, share in shares.items())
                    total += mass * sum(terms, Ball(0))
        return total

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
        parts: list[Sequence[Any]] = []
        for part in self.parts:
            parts.append(part.likely())
            _check_listed(math.prod(map(len, parts)))
        return list(product(*parts))


def _law_of(image: Hashable | FiniteLaw) -> dict[Hashable, Ball]:
    return image._by_outcome if isinstance(image, FiniteLaw) else {image: Ball(1)}


def _check_listed(count: int) -> None:
    if count > _MOST_LISTED:
        rule = f"at most {_MOST_LISTED} answers are listed"
        raise InvalidValue(rule, count, "pass outcomes=")


_MOST_COUNTED = 2**22
_CELLS_PER_ROW = 64
_MOST_CODES = 2**62


class Many(Sequence[Any]):
    """A sequence of answers; equal ones are the same object."""

    def __init__(self, different: Sequence[Any], places: Integers) -> None:
        """``different`` answers, and for each release the place of its answer among them."""
        self.different = different
        self.places = places

    @classmethod
    def of_rows(cls, rows: Integers, answer: Callable[[list[int]], Any]) -> Many:
        """One answer for each row, where equal rows have equal answers."""
        different, places = coded_rows(rows)
        return cls([answer(row) for row in different.tolist()], places)

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice | npt.NDArray[np.bool_]) -> Many: ...
    def __getitem__(self, index: int | slice | npt.NDArray[np.bool_]) -> Any:
        if isinstance(index, (slice, np.ndarray)):
            return Many(self.different, self.places[index])
        return self.different[int(self.places[index])]


def coded_rows(rows: Integers) -> tuple[Integers, Integers]:
    """The different rows, sorted, and for each row which of them it is."""
    if not rows.size:
        return rows[: min(len(rows), 1)], np.zeros(len(rows), np.int64)
    low = rows.min(axis=0)
    spans = [int(most) - int(least) + 1 for most, least in zip(rows.max(axis=0), low, strict=True)]
    total = 1
    for span in spans:
        total *= span
    if total > _MOST_CODES:
        different, places = np.unique(rows, axis=0, return_inverse=True)
        return different, places.reshape(-1)
    codes = np.zeros(len(rows), np.int64)
    for column, span in enumerate(spans):
        codes = codes * span + (rows[:, column] - low[column])
    listed, places = _encode(codes, total)
    found = np.empty((len(listed), rows.shape[1]), np.int64)
    for column in range(len(spans) - 1, -1, -1):
        listed, found[:, column] = np.divmod(listed, spans[column])
    return found + low, places


def _encode(codes: Integers, total: int) -> tuple[Integers, Integers]:
    if total > min(_MOST_COUNTED, _CELLS_PER_ROW * len(codes)):
        listed, places = np.unique(codes, return_inverse=True)
        return listed, places
    is_seen = np.bincount(codes, minlength=total) > 0
    return np.flatnonzero(is_seen), (np.cumsum(is_seen) - 1)[codes]
