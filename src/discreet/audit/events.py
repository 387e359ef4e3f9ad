"""Events: sets of outcomes, in words that a person can check, and the families that they are chosen from.

A family gives scores to the outcomes, and an event is "the score is at least, or at most, so much".

A family sees how often each outcome was drawn in the learning half and nothing of the other half, which alone is used
to prove anything. So a family may try as many scores as it likes: that costs time and never confidence. The score of an
outcome must follow from the outcome itself and from the learning draws: not from its place in the list, nor from
outcomes that `Outcomes.learned` does not mark. They are listed so that a score can be given to them as well.

The families are thresholds on each coordinate of the answer, on sums, differences and corners of coordinates, and on
their number; likelihood ratios, which are best by Neyman and Pearson where the true ratio is largest, here the learned
one; learned classifiers, which are a direction, a bell curve per input, and the sum of what each coordinate says by
itself; and low-order bits, which give away the grid that a number was rounded to. The sum of a true value and a float
of noise can only take some floats, and which ones depends on the true value (Mironov 2012). Whole numbers can give away
a parity or a remainder.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from discreet.audit.mechanism import shown
from discreet.audit.outcomes import Outcomes

__all__ = [
    "Counts",
    "Discriminant",
    "Event",
    "Family",
    "Floats",
    "Learning",
    "LikelihoodRatio",
    "LowBits",
    "OutcomeScore",
    "Thresholds",
    "coordinate_words",
    "grouped_score",
    "log_ratio",
    "lowest_bit",
    "quantile_groups",
]


@dataclass(frozen=True)
class Event:
    """Some of the outcomes, chosen before the draws that prove anything were looked at."""

    family: str
    """The family that found it."""
    words: str
    """What happens, such as "the answer ≥ 3"."""
    holds: npt.NDArray[np.bool_]
    """For each outcome, whether it belongs to the event."""
    favours_second: bool
    """Whether it was chosen because it is likelier for the second input."""


Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Learning:
    """What the learning half of the draws shows."""

    outcomes: Outcomes
    """Every different outcome, of both halves and both inputs."""
    first: Counts
    """How often each outcome was drawn for the first input."""
    second: Counts
    """How often each outcome was drawn for the second input."""


@dataclass(frozen=True)
class OutcomeScore:
    """A number for every outcome; high or low ones may speak for one of the two inputs."""

    values: Floats
    """One number per outcome, in the order of the outcomes; NaN where there is none, which no event then holds."""
    words: str
    """What the number is, such as "the answer" or "the sum of the answers"."""
    phrase: Callable[[npt.NDArray[np.bool_]], str] | None = None
    """The event in words, from the outcomes that it holds; without it "``words`` ≥ threshold"."""


class Family(Protocol):
    """One way of looking at outcomes."""

    @property
    def name(self) -> str:
        """How a report calls it."""

    def scores(self, learning: Learning) -> Iterable[OutcomeScore]:
        """Scores to try, learned from nothing but this half of the draws."""


_MOST_SIGNED = 3
_MOST_PAIRS = 8


class Thresholds:
    """The answer lies above or below a number."""

    name = "threshold"

    def scores(self, learning: Learning) -> Iterator[OutcomeScore]:
        """Numbers that need no learning, and corners around the learned middle."""
        outcomes = learning.outcomes
        numbers = outcomes.numbers
        width = numbers.shape[1]
        for k in range(width):
            yield OutcomeScore(numbers[:, k], coordinate_words(k, width))
        if len(set(outcomes.widths[outcomes.learned & ~np.isnan(outcomes.widths)].tolist())) > 1:
            yield OutcomeScore(outcomes.widths, "the length of the answer")
        if width > 1:
            yield from _combinations(numbers)
            yield from _corners(numbers, learning)


def coordinate_words(k: int, width: int) -> str:
    """What one coordinate is called."""
    return "the answer" if width == 1 else f"answer {k + 1}"


def _combinations(numbers: Floats) -> Iterator[OutcomeScore]:
    width = numbers.shape[1]
    with np.errstate(invalid="ignore"):
        yield OutcomeScore(numbers.sum(axis=1), "the sum of the answers")
        yield OutcomeScore(_spread(numbers), "the largest answer minus the least")
        for one, other in itertools.islice(itertools.combinations(range(width), 2), _MOST_PAIRS):
            yield OutcomeScore(numbers[:, one] - numbers[:, other], f"answer {one + 1} minus answer {other + 1}")


def _spread(numbers: Floats) -> Floats:
    empty = np.asarray(np.isnan(numbers).all(axis=1))
    filled = np.where(empty[:, None], 0.0, numbers)
    found = np.nanmax(filled, axis=1) - np.nanmin(filled, axis=1)
    return np.where(empty, np.nan, found)


def _corners(numbers: Floats, learning: Learning) -> Iterator[OutcomeScore]:
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
                yield OutcomeScore((scaled * turned)[:, used].min(axis=1), _corner_words(turned, used.tolist()))


def _corner_words(signs: Floats, used: list[int]) -> str:
    ways = [f"answer {k + 1} is {'high' if signs[k] > 0 else 'low'}" for k in used]
    return " and ".join(ways) + ": the least of them in spreads"


_LIKELIHOOD_BINS = 64
_COARSE = 12
_MOST_COORDINATES = 8
_SHOWN = 4
_LONGEST = 60
Groups = npt.NDArray[np.int64]


class LikelihoodRatio:
    """The outcome is one of those that the learning draws saw more often for one input."""

    name = "likelihood ratio"

    def scores(self, learning: Learning) -> Iterator[OutcomeScore]:
        """Single outcomes, their kinds, bins of each coordinate, and bins of two coordinates at once."""
        outcomes = learning.outcomes
        ratios = log_ratio(learning.first, learning.second)
        yield OutcomeScore(ratios, "outcomes", _listing([outcomes[k] for k in range(min(len(outcomes), 10**4))]))
        yield from _kinds(learning)
        numbers = outcomes.numbers[:, :_MOST_COORDINATES]
        width = numbers.shape[1]
        for k in range(width):
            groups = quantile_groups(numbers[:, k], learning, _LIKELIHOOD_BINS)
            yield grouped_score(groups, learning, f"bins of {coordinate_words(k, outcomes.numbers.shape[1])}")
        for k in range(1, width):
            one, other = (quantile_groups(numbers[:, j], learning, _COARSE) for j in (0, k))
            words = f"bins of answers 1 and {k + 1}"
            yield grouped_score(np.where((one < 0) | (other < 0), -1, one * (_COARSE + 1) + other), learning, words)


def log_ratio(first: Counts, second: Counts) -> Floats:
    """ln((second + ½) / (first + ½)): 0 where nothing was drawn."""
    return np.asarray(np.log((second + 0.5) / (first + 0.5)))


def quantile_groups(values: Floats, learning: Learning, bins: int) -> Groups:
    """The bin of each outcome, where bins hold about equally many draws; -1 where there is no number."""
    weights = learning.first + learning.second
    usable = np.flatnonzero(~np.isnan(values) & (weights > 0))
    if not len(usable):
        return np.full(len(values), -1, np.int64)
    order = usable[np.argsort(values[usable], kind="stable")]
    running = np.cumsum(weights[order])
    places = np.searchsorted(running, running[-1] * np.arange(1, bins) / bins)
    edges = np.unique(values[order][places])
    return np.where(np.isnan(values), -1, np.searchsorted(edges, values, side="right")).astype(np.int64)


def grouped_score(
    groups: Groups, learning: Learning, words: str, name: Callable[[int], str] | None = None
) -> OutcomeScore:
    """Outcomes scored by the learned ratio of their group; a group below 0 is none."""
    inside = groups >= 0
    size = int(groups.max(initial=-1)) + 1
    if not size:
        return OutcomeScore(np.full(len(groups), np.nan), words)
    first, second = (
        np.bincount(groups[inside], weights=counts[inside], minlength=size).astype(np.int64)
        for counts in (learning.first, learning.second)
    )
    values = np.where(inside, log_ratio(first, second)[np.where(inside, groups, 0)], np.nan)
    return OutcomeScore(values, words, _group_listing(groups, words, name))


def _kinds(learning: Learning) -> Iterator[OutcomeScore]:
    """Whether the answer is a number, a list, NaN, an exception: what changes type is seen here."""
    kinds = learning.outcomes.kinds
    names = sorted(set(compress(kinds, learning.outcomes.learned.tolist())))
    if len(names) > 1:
        place = {name: k for k, name in enumerate(names)}
        groups = np.asarray([place.get(kind, -1) for kind in kinds], np.int64)
        yield grouped_score(groups, learning, "the answer is", lambda k: names[k])


def _listing(outcomes: Sequence[Any]) -> Callable[[npt.NDArray[np.bool_]], str]:
    def phrase(holds: npt.NDArray[np.bool_]) -> str:
        chosen = np.flatnonzero(holds)
        named = [shown(outcomes[k], _LONGEST) for k in chosen[:_SHOWN].tolist() if k < len(outcomes)]
        return "the answer is " + _list(named, len(chosen))

    return phrase


def _group_listing(
    groups: Groups, words: str, name: Callable[[int], str] | None
) -> Callable[[npt.NDArray[np.bool_]], str]:
    def phrase(holds: npt.NDArray[np.bool_]) -> str:
        chosen = np.unique(groups[holds])
        if name is None:
            return f"one of {len(chosen)} learned {words}"
        return f"{words} {_list([name(k) for k in chosen[:_SHOWN].tolist()], len(chosen))}"

    return phrase


def _list(named: list[str], count: int) -> str:
    more = count - len(named)
    return (", ".join(named) or "none") + (f" or one of {more:,} more" if more else "")


_DISCRIMINANT_BINS = 32
_RIDGE = 1e-9
_FEWEST = 4


class Discriminant:
    """What a classifier that was trained on the learning draws thinks of an answer."""

    name = "learned classifier"

    def scores(self, learning: Learning) -> Iterator[OutcomeScore]:
        """Linear and quadratic discriminants, and independent coordinates taken together."""
        numbers = learning.outcomes.numbers
        usable = np.asarray(np.isfinite(numbers).all(axis=1) & (numbers.shape[1] > 0))
        if min(learning.first[usable].sum(), learning.second[usable].sum()) < _FEWEST:
            return
        features = _standard(numbers, usable, learning)
        first, second = (_Bell.of(features[usable], counts[usable]) for counts in (learning.first, learning.second))
        yield OutcomeScore(_where(usable, _linear(features, first, second)), "a linear classifier's score")
        yield OutcomeScore(_where(usable, second.log_density(features) - first.log_density(features)), _QUADRATIC)
        if numbers.shape[1] > 1:
            parts = [
                grouped_score(quantile_groups(numbers[:, k], learning, _DISCRIMINANT_BINS), learning, "").values
                for k in range(numbers.shape[1])
            ]
            yield OutcomeScore(np.sum(parts, axis=0), "the coordinates' learned log-likelihood ratios, added,")


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


_REMAINDERS = (2, 3, 4, 5, 8, 10, 16, 64)
_SIGNIFICAND = 52
_LEAST_EXPONENT = -1100


class LowBits:
    """The last bits of the answer."""

    name = "low-order bits"

    def scores(self, learning: Learning) -> Iterator[OutcomeScore]:
        """Remainders of integers; the lowest bit that is set, and the last bits, of floats."""
        integers = learning.outcomes.integers
        if integers is not None:
            for k in range(min(integers.shape[1], _MOST_COORDINATES)):
                yield from _of_integers(integers[:, k], learning, coordinate_words(k, integers.shape[1]))
            return
        numbers = learning.outcomes.numbers
        for k in range(min(numbers.shape[1], _MOST_COORDINATES)):
            yield from _of_floats(numbers[:, k], learning, coordinate_words(k, numbers.shape[1]))


def _of_integers(values: Groups, learning: Learning, words: str) -> Iterator[OutcomeScore]:
    for divisor in _REMAINDERS:
        yield grouped_score(values % divisor, learning, f"{words} divided by {divisor} leaves", str)


def _of_floats(values: Floats, learning: Learning, words: str) -> Iterator[OutcomeScore]:
    lowest = lowest_bit(values)
    offset = -_LEAST_EXPONENT
    found = np.isfinite(values)
    place = np.where(found, lowest + offset, -1).astype(np.int64)
    yield grouped_score(place, learning, f"the lowest bit set in {words} is 2 to the", lambda k: str(k - offset))
    yield OutcomeScore(np.where(found, lowest, np.nan), f"the lowest bit set in {words}, as a power of 2,")
    filled = np.where(found, values, 0.0)
    unused = np.where(found, np.frexp(filled)[1] - 1 - lowest, np.nan)
    yield OutcomeScore(unused, f"the number of significant bits of {words} after the first")
    last = (np.abs(filled).view(np.uint64) & np.uint64(7)).astype(np.int64)
    yield grouped_score(
        np.where(found, last, -1), learning, f"the last three bits of {words} are", lambda k: f"{k:03b}"
    )


def lowest_bit(values: Floats) -> Floats:
    """The exponent of the largest power of two that divides each number; 0 counts as divisible by all of them."""
    filled = np.where(np.isfinite(values) & (values != 0), values, 1.0)
    fraction, exponent = np.frexp(filled)
    whole = np.abs(np.ldexp(fraction, _SIGNIFICAND + 1)).astype(np.int64)
    trailing = np.log2((whole & -whole).astype(np.float64))
    found = exponent - (_SIGNIFICAND + 1) + trailing
    return np.where(np.isfinite(values), np.where(values == 0, 1024.0, found), np.nan)
