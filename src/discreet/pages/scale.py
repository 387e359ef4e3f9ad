"""From numbers to places on a chart: the range of an axis, its ticks, and what stands beside them.

>>> axis = Scale.of([0, 7.3], room=(0, 100))
>>> [(label, round(place)) for place, label in axis.ticks()]
[('0', 0), ('2', 27), ('4', 55), ('6', 82)]
>>> [label for _, label in Scale.of([1, 1000], room=(0, 90), log=True).ticks()]
['1', '10', '100', '1,000']
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from discreet.errors import InvalidValue

__all__ = ["Scale"]

_LARGEST = 1e100
_SMALLEST_LOGGED = 1e-100
_FLAT = 1e-9
"""A range narrower than this share of its numbers is drawn as one value: its ticks would all read the same."""
_INTERVALS = 6
_MOST_DECADES = 6
_FEW_DECADES = 2
_FEWEST_TICKS = 2
_STEPS = (1, 2, 5, 10)
_PLAIN_BELOW = 1e6
_PLAIN_FROM = 1e-4


@dataclass(frozen=True)
class Scale:
    """An axis: numbers from ``least`` to ``most`` spread over the room; with ``log``, their logarithms are."""

    least: float
    """The number at the start of the room."""
    most: float
    """The number at the end of the room."""
    room: tuple[float, float]
    """Where the axis starts and ends on the drawing."""
    log: bool = False
    """Whether equal ratios are equally far apart."""

    @staticmethod
    def of(values: Sequence[float], room: tuple[float, float], *, log: bool = False) -> Scale:
        """An axis that holds all values; one that would have no length is made longer to both sides."""
        for value in values:
            _check(value, log)
        low, high = min(values, default=1.0), max(values, default=1.0)
        if log:
            return Scale(low, high, room, log) if high > low * (1 + _FLAT) else Scale(low / 2, high * 2, room, log)
        if high - low > _FLAT * max(abs(low), abs(high)):
            return Scale(low, high, room)
        more = abs(low) / 2 or 1.0
        return Scale(low - more, high + more, room)

    def place(self, value: float) -> float:
        """Where a number lies on the drawing."""
        start, end = self.room
        if self.log:
            part = math.log(value / self.least) / math.log(self.most / self.least)
        else:
            part = (value - self.least) / (self.most - self.least)
        return start + part * (end - start)

    def ticks(self) -> list[tuple[float, str]]:
        """Round numbers on the axis, as places and words."""
        return [(self.place(value), words) for value, words in (self._log_ticks() if self.log else self._ticks())]

    def _ticks(self) -> list[tuple[float, str]]:
        step = _round_step((self.most - self.least) / _INTERVALS)
        first, last = math.ceil(self.least / step - _FLAT), math.floor(self.most / step + _FLAT)
        digits = max(0, -math.floor(math.log10(step) + _FLAT))
        return [(number * step, _words(number * step, digits)) for number in range(first, last + 1)]

    def _log_ticks(self) -> list[tuple[float, str]]:
        first, last = math.floor(math.log10(self.least)), math.ceil(math.log10(self.most))
        apart = max(1, math.ceil((last - first) / _MOST_DECADES))
        within = (1, 2, 5) if last - first <= _FEW_DECADES else (1,)
        found = [part * 10.0**power for power in range(first, last + 1, apart) for part in within]
        inside = [value for value in found if self.least * (1 - _FLAT) <= value <= self.most * (1 + _FLAT)]
        if len(inside) < _FEWEST_TICKS:  # a narrow range, such as 6 to 9, has no such number
            return self._ticks()
        return [(value, _words(value, max(0, -math.floor(math.log10(value) + _FLAT)))) for value in inside]


def _check(value: float, log: bool) -> None:
    if not abs(value) <= _LARGEST:
        raise InvalidValue(f"values of a chart must be finite and at most {_LARGEST:g}", value, "leave it out")
    if log and value < _SMALLEST_LOGGED:
        raise InvalidValue("values on a logarithmic axis must be positive", value, "leave it out, or use log_x=False")


def _round_step(least: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that is not below ``least``."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in _STEPS if step * power >= least * (1 - _FLAT))


def _words(value: float, digits: int) -> str:
    if value == 0:
        return "0"
    if not _PLAIN_FROM <= abs(value) < _PLAIN_BELOW:
        return f"{value:.4g}"
    return f"{value:,.{digits}f}"
