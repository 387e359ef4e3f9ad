"""Choosing one of many by a race: give each candidate a random key, take the largest.

Keys are score · factor + noise. With Gumbel noise the winner has probability proportional to e^(score · factor),
and the first k of the race are k draws without replacement. With exponential noise the race is permute-and-flip.
Keys are computed in floating point with an error bound; only candidates whose bounds overlap are computed again,
in ball arithmetic with more random bits, until they are apart. So the choice has exactly the stated law.

>>> GumbelChoice([0, 1], factor=1).pmf(np.array([0, 1])).round(4).tolist()
[0.2689, 0.7311]

Scores are exact rationals that also have a fast floating-point face. Integers mean themselves; a float means its
shortest decimal, as everywhere in Discreet. What the float face gets wrong is bounded, so that a choice can use it
until two candidates come too close.

>>> Scores([3, 1, 2]).gaps.tolist()
[0.0, 2.0, 1.0]
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.ball import BITS, Ball, ball, lower, upper, working_precision
from discreet.exact.grid import Integers, exact_array
from discreet.exact.rational import Number, integer, positive, rational
from discreet.noise import host
from discreet.noise.inversion import CHUNK
from discreet.noise.law import Floats, Law, Whole, whole_numbers
from discreet.noise.source import SYSTEM, Source, Stream, Words
from discreet.noise.uniform import LazyUniform

__all__ = ["ExponentialChoice", "GumbelChoice", "ScoreLike", "Scores"]


ScoreLike = Sequence[Number] | npt.NDArray[np.integer] | npt.NDArray[np.floating]

_LARGEST = 2**62


class Scores:
    """One finite score per candidate; higher is better."""

    def __init__(self, scores: ScoreLike) -> None:
        self._values = _exactly_kept(_flat(scores))
        self.gaps = self._float_gaps()
        floats = self._values.dtype.kind == "f"
        self.gap_error = float(np.abs(self._values).max()) * 2.0**-51 if floats else 0.0
        """Bound on the absolute error of ``gaps``, besides a relative error of 2^-51."""

    def _float_gaps(self) -> npt.NDArray[np.float64]:
        best = self._values.max()
        if self._values.dtype.kind == "i":
            # A gap can be 2^63, one more than a signed integer holds; modulo 2^64 the difference is exact.
            best, values = best.astype(np.uint64), self._values.astype(np.uint64)
            return np.asarray(best - values, dtype=np.float64)
        return np.asarray(best - self._values, dtype=np.float64)

    def __len__(self) -> int:
        return len(self._values)

    @cached_property
    def best(self) -> Fraction:
        """The highest score, exactly."""
        return self._exact(self._values.max())

    def gap(self, index: int) -> Fraction:
        """How far a candidate is behind the best one, exactly."""
        return self.best - self._exact(self._values[index])

    @staticmethod
    def _exact(score: Any) -> Fraction:
        return score if isinstance(score, Fraction) else rational(score, "score")


def _flat(scores: ScoreLike) -> npt.NDArray[Any]:
    if isinstance(scores, str) or not (isinstance(scores, Sequence) or hasattr(scores, "__array__")):
        raise InvalidType("scores must be a flat sequence", scores, "pass a list or an array")
    array = exact_array(scores, "scores")
    if array.ndim != 1:
        raise InvalidType("scores must be a flat sequence", f"<shape {array.shape}>")
    if array.size == 0:
        raise InvalidValue("scores must name at least one candidate", "<an empty sequence>")
    return array


def _exactly_kept(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The scores as int64, as float64, or as rationals where neither keeps what they mean."""
    if array.dtype == np.float64:
        if not np.isfinite(array).all():
            raise InvalidValue("scores must be finite", "<NaN or infinity>")
    elif array.dtype.kind not in "iu":
        exact = [rational(s, "score") for s in array]
        array = np.empty(len(exact), dtype=object)
        array[:] = exact
    if array.min() < -_LARGEST or array.max() > _LARGEST:
        raise InvalidValue("scores must lie between -2^62 and 2^62", "<a larger score>")
    return array.astype(np.int64) if array.dtype.kind in "iu" else array


End: TypeAlias = Fraction | float

_LEAST_WORD = np.int64(2**40)
_WORD_ERROR = 2.0**-37  # what the bits not yet read can change in a key, and all roundings of the noise
_ROUNDING = 2.0**-49


class _Race(Law):
    """Candidates 0, 1, ..., n - 1, each with a key; the largest key wins."""

    def __init__(self, scores: ScoreLike | Scores, factor: Number) -> None:
        self.scores = scores if isinstance(scores, Scores) else Scores(scores)
        self.factor = positive(factor, "factor")

    @abstractmethod
    def _noise(self, exponential: Floats) -> Floats:
        """The noise that belongs to an exponential variable, in floating point."""

    @abstractmethod
    def _key(self, index: int, uniform: LazyUniform) -> tuple[Ball, Ball]:
        """The least and the greatest key that the bits read so far allow."""

    def _location(self, part: slice) -> Floats:
        return -float(self.factor) * self.scores.gaps[part]

    def draw(self, count: int, stream: Stream) -> Integers:
        """``count`` winners of independent races."""
        return self.podium(1, stream) if count == 1 else self.podiums(count, 1, stream)[:, 0]

    def podiums(self, count: int, places: int, stream: Stream) -> Integers:
        """The first ``places`` candidates of ``count`` independent races, one race per row, best first."""
        size = len(self.scores)
        together = max(CHUNK // size, 1)
        if together == 1:
            races = [self.podium(places, stream) for _ in range(count)]
            return np.asarray(races, dtype=np.int64).reshape(count, places)
        blocks = [self._block(min(together, count - start), places, stream) for start in range(0, count, together)]
        return np.concatenate(blocks) if blocks else np.empty((0, places), np.int64)

    def _block(self, races: int, places: int, stream: Stream) -> Integers:
        """Races side by side: the bounds decide nearly all of them, and the others are settled one by one."""
        size = len(self.scores)
        words = stream.words(races * size).reshape(races, size)
        low, high = self._bounds(slice(0, size), words)
        found, is_open = _winners(low, high) if places == 1 else _podiums(low, high, places)
        for race in np.flatnonzero(is_open).tolist():
            field = _Field(places)
            field.enter(0, words[race], low[race], high[race])
            found[race] = field.order() if field.is_decided() else self._settle(field, stream)
        return found

    def first(self, places: int, source: Source = SYSTEM) -> Integers:
        """The first ``places`` candidates of one race, best first, under a fresh key."""
        return self.podium(integer(places, "places", least=1, most=len(self.scores)), source.open())

    def podium(self, places: int, stream: Stream) -> Integers:
        """The first ``places`` candidates of one race, best first."""
        field = _Field(places)
        for start in range(0, len(self.scores), CHUNK):
            part = slice(start, min(start + CHUNK, len(self.scores)))
            words = stream.words(part.stop - part.start)
            field.enter(start, words, *self._bounds(part, words))
        if field.is_decided():
            return field.order()
        return self._settle(field, stream)

    def _bounds(self, part: slice, words: Words) -> tuple[Floats, Floats]:
        if not host.trusted():
            return np.full(words.shape, -np.inf), np.full(words.shape, np.inf)
        small = words < np.uint64(2**63)
        distance = np.where(small, words, ~words).view(np.int64)
        share = np.maximum(distance, _LEAST_WORD) * 2.0**-64
        exponential = np.log(share)
        np.log1p(-share, out=exponential, where=small)
        np.negative(exponential, out=exponential)  # in place, here and below: new arrays take longer than sums
        location = self._location(part)
        keys = self._noise(exponential)
        keys += location
        radius = np.abs(keys, out=share)
        radius += np.abs(location)
        radius *= _ROUNDING
        radius += _WORD_ERROR
        radius += float(self.factor) * self.scores.gap_error
        low, high = keys - radius, keys + radius
        if distance.min() < _LEAST_WORD:  # a word is within 2^-24 of 0 or 1: its key can lie anywhere
            wild = distance < _LEAST_WORD
            low[wild], high[wild] = -np.inf, np.inf
        return low, high

    def _settle(self, field: _Field, stream: Stream) -> Integers:
        runners = [(index, LazyUniform(word, 64, stream)) for index, word in field.entries()]
        while True:
            with working_precision(runners[0][1].bits + 128):
                spans = [_span(*self._key(index, uniform)) for index, uniform in runners]
            order = sorted(range(len(runners)), key=spans.__getitem__, reverse=True)
            if _is_apart([spans[k] for k in order], field.places):
                return np.asarray([runners[k][0] for k in order[: field.places]], dtype=np.int64)
            for _, uniform in runners:
                uniform.read_more()

    @property
    def support(self) -> tuple[int | None, int | None]:
        """The candidates' positions."""
        return (0, len(self.scores) - 1)

    def below(self, value: int) -> Ball:
        """P(winner ≤ value)."""
        if value >= len(self.scores) - 1:
            return Ball(1)
        return sum((self.mass(k) for k in range(value + 1)), Ball(0))

    def cdf(self, values: Whole) -> Floats:
        """P(winner ≤ value) for each value."""
        return self._share_of_first(whole_numbers(values) + 1, self._positions)

    def tail(self, values: Whole) -> Floats:
        """P(winner ≥ value) for each value."""
        return self._share_of_first(len(self.scores) - whole_numbers(values), self._positions[::-1])

    def _share_of_first(self, counts: Integers, positions: Integers) -> Floats:
        shares = np.cumsum([0.0, *self.pmf(positions)])
        return np.asarray(np.minimum(shares[np.clip(counts, 0, len(shares) - 1)], 1.0), dtype=np.float64)

    @property
    def _positions(self) -> Integers:
        return np.arange(len(self.scores))

    @property
    def mean(self) -> float:
        """The mean position."""
        return float(np.sum(self._positions * self.pmf(self._positions)))

    @property
    def variance(self) -> float:
        """The variance of the position."""
        return float(np.sum((self._positions - self.mean) ** 2 * self.pmf(self._positions)))


class GumbelChoice(_Race):
    """Candidate i with probability proportional to m_i · e^(factor · score_i)."""

    def __init__(self, scores: ScoreLike | Scores, factor: Number, multiplicities: npt.ArrayLike | None = None) -> None:
        """``multiplicities`` m_i lets one entry stand for many candidates of the same score; all 1 if left out."""
        super().__init__(scores, factor)
        self._copies: Integers | None = None
        if multiplicities is not None:
            self._copies = whole_numbers(np.asarray(multiplicities))
            if self._copies.shape != (len(self.scores),) or not _are_counts(self._copies):
                raise InvalidValue("multiplicities must be one integer from 1 to 2^61 per score", "<others>")

    def _location(self, part: slice) -> Floats:
        location = super()._location(part)
        return location if self._copies is None else location + np.log(self._copies[part])

    def _noise(self, exponential: Floats) -> Floats:
        return -np.log(exponential)

    def _key(self, index: int, uniform: LazyUniform) -> tuple[Ball, Ball]:
        location = self._log_weight(index)
        least, most = _exponential_ends(uniform)
        low = Ball.neg_inf() if most is None else location - most.log()
        high = Ball.pos_inf() if least is None else location - least.log()
        return low, high

    def _log_weight(self, index: int) -> Ball:
        copies = Ball(0) if self._copies is None else Ball(int(self._copies[index])).log()
        return copies - ball(self.factor * self.scores.gap(index))

    def mass(self, value: int) -> Ball:
        """P(winner = value)."""
        if not 0 <= value < len(self.scores):
            return Ball(0)
        return self._log_weight(value).exp() / self._total

    @cached_property
    def _total(self) -> Ball:
        with working_precision(2 * BITS):
            return sum((self._log_weight(k).exp() for k in range(len(self.scores))), Ball(0))

    def pmf(self, values: Whole) -> Floats:
        """P(winner = value) for each value."""
        k = whole_numbers(values)
        inside = (k >= 0) & (k < len(self.scores))
        return np.where(inside, self._shares[np.where(inside, k, 0)], 0.0)

    @cached_property
    def _shares(self) -> Floats:
        weights = np.exp(self._location(slice(None)))
        return np.asarray(weights / weights.sum(), dtype=np.float64)


class ExponentialChoice(_Race):
    """Permute-and-flip: the largest of factor · score_i + E_i, with independent exponential E_i."""

    def _noise(self, exponential: Floats) -> Floats:
        return exponential

    def _key(self, index: int, uniform: LazyUniform) -> tuple[Ball, Ball]:
        location = -ball(self.factor * self.scores.gap(index))
        least, most = _exponential_ends(uniform)
        low = location if least is None else location + least
        high = Ball.pos_inf() if most is None else location + most
        return low, high

    def mass(self, value: int) -> Ball:
        """P(winner = value), from b_i ∫₀¹ Π_{j≠i} (1 - b_j u) du with b_j = e^(-factor · gap_j)."""
        return self._masses[value] if 0 <= value < len(self.scores) else Ball(0)

    @cached_property
    def _masses(self) -> list[Ball]:
        size = len(self.scores)
        with working_precision(2 * BITS + 3 * size):  # the signs alternate and cancel about ``size`` bits
            ratios = [(-ball(self.factor * self.scores.gap(k))).exp() for k in range(size)]
            product = [Ball(1)]
            for b in ratios:
                product = _times_one_minus(product, b)
            return [b * _integral(_divided_by_one_minus(product, b)) for b in ratios]

    def pmf(self, values: Whole) -> Floats:
        """P(winner = value) for each value."""
        k = whole_numbers(values)
        inside = (k >= 0) & (k < len(self.scores))
        shares = np.asarray([float(m) for m in self._masses])
        return np.where(inside, shares[np.where(inside, k, 0)], 0.0)


def _winners(low: Floats, high: Floats) -> tuple[Integers, npt.NDArray[np.bool_]]:
    """The first place of each row of bounds, and whether the bounds leave it open."""
    winner = np.argmax(low, axis=1)
    first = np.arange(len(low)), winner
    end, high[first] = high[first], -np.inf  # put aside and put back: a copy takes longer
    is_open = low[first] <= high.max(axis=1)
    high[first] = end
    return winner[:, None].astype(np.int64), is_open


def _podiums(low: Floats, high: Floats, places: int) -> tuple[Integers, npt.NDArray[np.bool_]]:
    """The first places of each row of bounds, and whether the bounds leave one of them open."""
    order = np.argsort(-low, axis=1, kind="stable")
    # A place is decided where its lower end lies above the upper ends of all that come after it.
    ends = np.take_along_axis(high, order, axis=1)
    rest = np.maximum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    starts = np.take_along_axis(low, order, axis=1)
    decided = min(places, low.shape[1] - 1)
    is_open = (starts[:, :decided] <= rest[:, 1 : decided + 1]).any(axis=1)
    return order[:, :places].astype(np.int64), np.asarray(is_open)


class _Field:
    """The candidates that can still reach one of the first places, with bounds on their keys."""

    def __init__(self, places: int) -> None:
        self.places = places
        self._index = np.empty(0, np.int64)
        self._word = np.empty(0, np.uint64)
        self._low = np.empty(0)
        self._high = np.empty(0)

    def enter(self, start: int, words: Words, low: Floats, high: Floats) -> None:
        """Add candidates and drop those that ``places`` others are sure to beat."""
        lows = np.concatenate([self._low, low])
        highs = np.concatenate([self._high, high])
        last = len(lows) - self.places
        kept = np.flatnonzero(highs >= (np.partition(lows, last)[last] if last > 0 else -np.inf))
        self._index = np.concatenate([self._index, np.arange(start, start + len(words))])[kept]
        self._word = np.concatenate([self._word, words])[kept]
        self._low, self._high = lows[kept], highs[kept]

    def order(self) -> Integers:
        """The best candidates, by the lower bounds of their keys."""
        return self._index[np.argsort(-self._low, kind="stable")][: self.places]

    def is_decided(self) -> bool:
        """Whether the bounds alone settle the first places and their order."""
        order = np.argsort(-self._low, kind="stable")
        return _is_apart(list(zip(self._low[order], self._high[order], strict=True)), self.places)

    def entries(self) -> Iterator[tuple[int, int]]:
        """Index and word of each candidate still in the race."""
        return zip(map(int, self._index), map(int, self._word), strict=True)


def _span(low: Ball, high: Ball) -> tuple[End, End]:
    """The outer ends of two balls as exact numbers: two keys can agree to the last bit of a float and differ."""
    return lower(low) if low.is_finite() else -math.inf, upper(high) if high.is_finite() else math.inf


def _is_apart(bounds: Sequence[tuple[End, End]], places: int) -> bool:
    """Whether each of the first ``places`` (low, high) pairs lies above all pairs after it."""
    rest: list[End] = [-math.inf] * (len(bounds) + 1)
    for k in range(len(bounds) - 1, -1, -1):
        rest[k] = max(rest[k + 1], bounds[k][1])
    return all(bounds[k][0] > rest[k + 1] for k in range(min(places, len(bounds) - 1)))


def _are_counts(copies: Integers) -> bool:
    return bool(copies.min() >= 1 and copies.max() <= 2**61)


def _exponential_ends(uniform: LazyUniform) -> tuple[Ball | None, Ball | None]:
    """The ends of -ln(1 - U); None stands for 0 on the left and for ∞ on the right."""
    least = -(1 - uniform.least()).log() if uniform.prefix else None
    is_last = uniform.prefix + 1 == 1 << uniform.bits
    return least, None if is_last else -(1 - uniform.most()).log()


def _times_one_minus(polynomial: list[Ball], b: Ball) -> list[Ball]:
    shifted = [Ball(0), *polynomial]
    return [p - b * s for p, s in zip([*polynomial, Ball(0)], shifted, strict=True)]


def _divided_by_one_minus(polynomial: list[Ball], b: Ball) -> list[Ball]:
    quotient = [polynomial[0]]
    for coefficient in polynomial[1:-1]:
        quotient.append(coefficient + b * quotient[-1])
    return quotient


def _integral(polynomial: list[Ball]) -> Ball:
    return sum((c / (k + 1) for k, c in enumerate(polynomial)), Ball(0))
