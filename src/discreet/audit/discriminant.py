"""Learned classifiers: a direction, a bell curve per input, and the sum of what each coordinate says by itself."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from discreet.audit.family import Counts, Floats, Learning, Score
from discreet.audit.likelihood import grouped_score, quantile_groups

__all__ = ["Discriminant"]

_BINS = 32
_RIDGE = 1e-9
_FEWEST = 4


class Discriminant:
    """What a classifier that was trained on the learning draws thinks of an answer."""

    name = "learned classifier"

    def scores(self, learning: Learning) -> Iterator[Score]:
        """Linear and quadratic discriminants, and independent coordinates taken together."""
        numbers = learning.outcomes.numbers
        usable = np.asarray(np.isfinite(numbers).all(axis=1) & (numbers.shape[1] > 0))
        if min(learning.first[usable].sum(), learning.second[usable].sum()) < _FEWEST:
            return
        features = _standard(numbers, usable, learning)
        first, second = (_Bell.of(features[usable], counts[usable]) for counts in (learning.first, learning.second))
        yield Score(_where(usable, _linear(features, first, second)), "a linear classifier's score")
        yield Score(_where(usable, second.log_density(features) - first.log_density(features)), _QUADRATIC)
        if numbers.shape[1] > 1:
            parts = [
                grouped_score(quantile_groups(numbers[:, k], learning, _BINS), learning, "").values
                for k in range(numbers.shape[1])
            ]
            yield Score(np.sum(parts, axis=0), "the coordinates' learned log-likelihood ratios, added,")


_QUADRATIC = "a quadratic classifier's score"


class _Bell:
    """A normal law fitted to counted points."""

    def __init__(self, mean: Floats, covariance: Floats) -> None:
        self.mean = mean
        self.covariance = covariance + _RIDGE * np.eye(len(mean))

    @classmethod
    def of(cls, points: Floats, counts: Counts) -> _Bell:
        drawn = counts > 0
        weights, part = counts[drawn] / counts.sum(), points[drawn]
        mean = weights @ part
        apart = part - mean
        return cls(mean, (apart * weights[:, None]).T @ apart)

    def log_density(self, points: Floats) -> Floats:
        factor = np.linalg.cholesky(self.covariance)
        apart = np.linalg.solve(factor, (points - self.mean).T)
        return np.asarray(-0.5 * (apart**2).sum(axis=0) - np.log(np.diag(factor)).sum())


def _linear(points: Floats, first: _Bell, second: _Bell) -> Floats:
    """Fisher's direction: where the two means lie furthest apart in units of the common spread."""
    direction = np.linalg.solve((first.covariance + second.covariance) / 2, second.mean - first.mean)
    return np.asarray(points @ direction)


def _standard(numbers: Floats, usable: npt.NDArray[np.bool_], learning: Learning) -> Floats:
    """Coordinates moved to mean 0 and spread 1, and cut at 12 spreads so that one far answer does not decide all."""
    filled = np.where(usable[:, None], numbers, 0.0)
    drawn = usable & (learning.first + learning.second > 0)
    weights, part = (learning.first + learning.second)[drawn].astype(np.float64), filled[drawn]
    mean = np.average(part, axis=0, weights=weights)
    spread = np.sqrt(np.average((part - mean) ** 2, axis=0, weights=weights))
    return np.asarray(np.clip((filled - mean) / np.where(spread > 0, spread, 1.0), -12.0, 12.0))


def _where(usable: npt.NDArray[np.bool_], values: Floats) -> Floats:
    return np.where(usable, values, np.nan)
