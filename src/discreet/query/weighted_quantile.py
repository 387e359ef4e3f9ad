"""A private quantile of weighted values: the exponential mechanism over all grid points between public bounds.

A point v is as good as the rank it is off: d(v) = max(L - τ, τ - (n - R), 0) with L and R the weight below and above v,
n all weight and τ the target q·n. Adding a unit of weight at most B moves d by at most B·max(q, 1-q), because L, R
and n move together; over several groups a unit's weights add up to B, so all groups together cost ε once.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet.exact.grid import Integers
from discreet.noise.choice import GumbelChoice
from discreet.noise.source import Stream
from discreet.noise.uniform import UniformInteger
from discreet.query.choice import QuantileChoice as Choice

__all__ = ["choose_quantiles", "distances_of"]

Whole = npt.NDArray[np.object_]
_FURTHEST = 2**61


def choose_quantiles(points: Integers, weights: Integers, choice: Choice, count: int, stream: Stream) -> Integers:
    """``count`` independent grid points between the ends, with probabilities proportional to e^(-factor · d)."""
    starts, lengths, distances = _scored(points, weights, choice)
    strips = GumbelChoice(-distances, choice.factor / choice.quantile.denominator, lengths).draw(count, stream)
    found = starts[strips]
    for strip in np.unique(strips[lengths[strips] > 1]).tolist():
        inside = strips == strip
        found[inside] += UniformInteger(int(lengths[strip])).draw(int(inside.sum()), stream)
    return np.asarray(found, np.int64)


def distances_of(points: Integers, weights: Integers, choice: Choice) -> dict[int, int]:
    """The distance of every point between the ends, in parts of the quantile's denominator; for checks by hand."""
    strips = zip(*(column.tolist() for column in _scored(points, weights, choice)), strict=True)
    return {start + k: distance for start, length, distance in strips for k in range(length)}


def _scored(points: Integers, weights: Integers, choice: Choice) -> tuple[Integers, Integers, Integers]:
    """Strips of points that are equally far off: where each starts, how long it is, and how far."""
    # A point outside the ends would lengthen what can be chosen, and so tell that it is there.
    values, inverse = np.unique(np.clip(points, *choice.ends), return_inverse=True)
    mass = np.zeros(len(values), object)
    np.add.at(mass, inverse, weights.astype(object))
    starts, lengths, below, at = _strips(values, mass, choice.ends)
    return starts, lengths, _distances(below, at, int(mass.sum()), choice)


def _strips(values: Integers, mass: Whole, ends: tuple[int, int]) -> tuple[Integers, Integers, Whole, Whole]:
    """Runs of points with the same weight below, at and above them: each value, and the gaps between values."""
    edges = np.concatenate([[ends[0] - 1], values, [ends[1] + 1]])
    gaps = np.diff(edges) - 1
    before = np.concatenate([[0], np.cumsum(mass)])
    starts = np.concatenate([edges[:-1] + 1, values])
    lengths = np.concatenate([gaps, np.ones(len(values), np.int64)])
    below = np.concatenate([before, before[:-1]])
    at = np.concatenate([np.zeros(len(gaps), object), mass])
    kept = lengths > 0
    return starts[kept], lengths[kept], below[kept], at[kept]


def _distances(below: Whole, at: Whole, total: int, choice: Choice) -> Integers:
    """How far off each strip is, in parts of the quantile's denominator so that they are whole.

    They are integers of Python, which cannot overflow, and are cut at 2^61, which brings no pair further apart.
    """
    part, inward = choice.quantile.denominator, choice.inward * choice.quantile.denominator
    target, half = choice.quantile.numerator * total, total * part // 2
    target = min(target + inward, half) if choice.quantile <= Fraction(1, 2) else max(target - inward, half)
    missed = np.maximum(below * part - target, target - (below + at) * part)
    return np.asarray(np.clip(missed, 0, _FURTHEST), np.int64)
