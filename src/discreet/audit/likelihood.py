"""Likelihood ratios: the outcomes, or groups of them, ranked by how much likelier they were for one input.

By Neyman and Pearson the best events are those where the true ratio is largest; here the ratio is the learned one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.audit.family import Counts, Floats, Learning, Score
from discreet.audit.shown import shown
from discreet.audit.thresholds import coordinate_words

__all__ = ["LikelihoodRatio", "grouped_score", "log_ratio", "quantile_groups"]

_BINS = 64
_COARSE = 12
_MOST_COORDINATES = 8
_SHOWN = 4
_LONGEST = 60
Groups = npt.NDArray[np.int64]


class LikelihoodRatio:
    """The outcome is one of those that the learning draws saw more often for one input."""

    name = "likelihood ratio"

    def scores(self, learning: Learning) -> Iterator[Score]:
        """Single outcomes, their kinds, bins of each coordinate, and bins of two coordinates at once."""
        outcomes = learning.outcomes
        ratios = log_ratio(learning.first, learning.second)
        yield Score(ratios, "outcomes", _listing([outcomes[k] for k in range(min(len(outcomes), 10**4))]))
        yield from _kinds(learning)
        numbers = outcomes.numbers[:, :_MOST_COORDINATES]
        width = numbers.shape[1]
        for k in range(width):
            groups = quantile_groups(numbers[:, k], learning, _BINS)
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


def grouped_score(groups: Groups, learning: Learning, words: str, name: Callable[[int], str] | None = None) -> Score:
    """Outcomes scored by the learned ratio of their group; a group below 0 is none."""
    inside = groups >= 0
    size = int(groups.max(initial=-1)) + 1
    if not size:
        return Score(np.full(len(groups), np.nan), words)
    first, second = (
        np.bincount(groups[inside], weights=counts[inside], minlength=size).astype(np.int64)
        for counts in (learning.first, learning.second)
    )
    values = np.where(inside, log_ratio(first, second)[np.where(inside, groups, 0)], np.nan)
    return Score(values, words, _group_listing(groups, words, name))


def _kinds(learning: Learning) -> Iterator[Score]:
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
        told = [shown(outcomes[k], _LONGEST) for k in chosen[:_SHOWN].tolist() if k < len(outcomes)]
        return "the answer is " + _listed(told, len(chosen))

    return phrase


def _group_listing(
    groups: Groups, words: str, name: Callable[[int], str] | None
) -> Callable[[npt.NDArray[np.bool_]], str]:
    def phrase(holds: npt.NDArray[np.bool_]) -> str:
        chosen = np.unique(groups[holds])
        if name is None:
            return f"one of {len(chosen)} learned {words}"
        return f"{words} {_listed([name(k) for k in chosen[:_SHOWN].tolist()], len(chosen))}"

    return phrase


def _listed(told: list[str], count: int) -> str:
    more = count - len(told)
    return (", ".join(told) or "none") + (f" or one of {more:,} more" if more else "")
