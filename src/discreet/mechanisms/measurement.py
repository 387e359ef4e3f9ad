"""What can leave the curator: a measurement states its price, its accuracy and its output law before it runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from discreet.exact.rational import Number
from discreet.mechanisms.distribution import Distribution
from discreet.noise.source import SYSTEM, Source
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

    @abstractmethod
    def error(self, confidence: Number = 0.95) -> Any:
        """How far the answer may be from the truth, with this confidence."""

    @abstractmethod
    def distribution(self, value: Any) -> Distribution:
        """The exact law of the answer for the true ``value``."""
