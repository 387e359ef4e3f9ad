"""What can leave the curator: a measurement states its price, its accuracy and its output law before it runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import numpy.typing as npt

from discreet.exact.ball import BITS, working_precision
from discreet.exact.rational import Number
from discreet.mechanisms.distribution import Distribution
from discreet.noise.source import SYSTEM, Source
from discreet.privacy.hypothesis_tests import Pair
from discreet.privacy.loss import Loss

__all__ = ["Measurement"]


class Measurement(ABC):
    """A mechanism with all its parameters fixed."""

    @property
    @abstractmethod
    def loss(self) -> Loss:
        """What one release costs, known before any data is seen."""

    @abstractmethod
    def release(self, value: Any, *, source: Source = SYSTEM) -> Any:
        """The private answer for the true ``value``; checks its input before it draws anything."""

    def releases(self, value: Any, count: int, *, source: Source = SYSTEM) -> Sequence[Any] | npt.NDArray[Any]:
        """``count`` independent answers for the same true ``value``, each at the full price: for audits and studies."""
        return [self.release(value, source=source) for _ in range(count)]

    @abstractmethod
    def error(self, confidence: Number = 0.95) -> Any:
        """How far the answer may be from the truth, with this confidence."""

    @abstractmethod
    def distribution(self, value: Any) -> Distribution:
        """The exact law of the answer for the true ``value``."""

    def between(self, first: Any, second: Any, outcomes: Iterable[Any] | None = None) -> Pair:
        """The laws of the answer at two true values, side by side: the privacy loss, δ(ε), the trade-off of errors.

        Without ``outcomes`` all answers are listed, or all but a probability of 2^-100 where there is no end of them.
        """
        laws = self.distribution(first), self.distribution(second)
        listed = [answer for law in laws for answer in law.likely()] if outcomes is None else outcomes
        different = list(dict.fromkeys(listed))
        with working_precision(2 * BITS):
            here, there = ([law.mass(answer) for answer in different] for law in laws)
            return Pair(here, there)
