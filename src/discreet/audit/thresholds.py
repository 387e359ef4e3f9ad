"""Thresholds on each coordinate of the answer, on sums, differences and corners of coordinates, and on their number."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from discreet.audit.family import Floats, Learning, Score

__all__ = ["Thresholds", "coordinate_words"]

_MOST_SIGNED = 3
_MOST_PAIRS = 8


class Thresholds:
    """The answer lies above or below a number."""

    name = "threshold"

    def scores(self, learning: Learning) -> Iterator[Score]:
        """Numbers that need no learning, and corners around the learned middle."""
        outcomes = learning.outcomes
        numbers = outcomes.numbers
        width = numbers.shape[1]
        for k in range(width):
            yield Score(numbers[:, k], coordinate_words(k, width))
        if len(set(outcomes.widths[outcomes.learned & ~np.isnan(outcomes.widths)].tolist())) > 1:
            yield Score(outcomes.widths, "the length of the answer")
        if width > 1:
            yield from _combinations(numbers)
            yield from _corners(numbers, learning)


def coordinate_words(k: int, width: int) -> str:
    """What one coordinate is called."""
    return "the answer" if width == 1 else f"answer {k + 1}"


def _combinations(numbers: Floats) -> Iterator[Score]:
    width = numbers.shape[1]
    with np.errstate(invalid="ignore"):
        yield Score(numbers.sum(axis=1), "the sum of the answers")
        yield Score(_spread(numbers), "the largest answer minus the least")
        for one, other in itertools.islice(itertools.combinations(range(width), 2), _MOST_PAIRS):
            yield Score(numbers[:, one] - numbers[:, other], f"answer {one + 1} minus answer {other + 1}")


def _spread(numbers: Floats) -> Floats:
    empty = np.asarray(np.isnan(numbers).all(axis=1))
    filled = np.where(empty[:, None], 0.0, numbers)
    found = np.nanmax(filled, axis=1) - np.nanmin(filled, axis=1)
    return np.where(empty, np.nan, found)


def _corners(numbers: Floats, learning: Learning) -> Iterator[Score]:
    """Several coordinates at once: the least of them, each counted from its middle in units of its spread."""
    width = min(numbers.shape[1], _MOST_SIGNED)
    drawn = learning.first + learning.second > 0
    part = numbers[drawn, :width]
    if not len(part) or not np.isfinite(part).all():
        return
    weights = (learning.first + learning.second)[drawn].astype(np.float64)
    middle = np.average(part, axis=0, weights=weights)
    spread = np.maximum(np.average(np.abs(part - middle), axis=0, weights=weights), 1e-9)
    scaled = (numbers[:, :width] - middle) / spread
    for signs in itertools.product((0.0, 1.0, -1.0), repeat=width):
        used = np.flatnonzero(signs)
        if len(used) > 1 and signs[used[0]] > 0:
            for turned in (np.asarray(signs), -np.asarray(signs)):
                yield Score((scaled * turned)[:, used].min(axis=1), _corner_words(turned, used.tolist()))


def _corner_words(signs: Floats, used: list[int]) -> str:
    ways = [f"answer {k + 1} is {'high' if signs[k] > 0 else 'low'}" for k in used]
    return " and ".join(ways) + ": the least of them in spreads"
