"""How often a question must be repeated until its noise is gone.

An answer is a whole number plus Laplace noise of scale b, drawn anew each time. Whoever takes the mean or the median of
m answers and rounds it has the true answer if the centre of the noise is less than one half from zero.

Median (m odd). It is below −1/2 if and only if at least (m + 1)/2 draws are. One draw is with probability
e^(−1/(2b))/2, so the number of them is binomial, and by symmetry the median is within one half with probability
1 − 2 P(Binomial ≥ (m + 1)/2).

Mean. The sum of m Laplace draws is b (G − G') with two gamma variables of shape m. The size of G − G' is gamma with
shape m − j with probability C(m − 1 + j, j) 2^(1 − m − j), for j from 0 to m − 1: of two clocks with m ticks each, the
one that ends first leaves m − j ticks of the other (Banach's matchboxes). So the mean is within one half with
probability Σ_j C(m − 1 + j, j) 2^(1 − m − j) P(Gamma(m − j) < m/(2b)).

For large m these are about 2Φ(√m/(2b)) − 1 and 2Φ(√m/(2√2 b)) − 1: the median needs half as many.

>>> repetitions_needed(scale=10)
1613
>>> repetitions_needed(scale=10, centre=Centre.MEAN)
3075
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

import numpy as np
from scipy.special import gammainc, gammaln
from scipy.stats import binom

from discreet.errors import InvalidValue, OutOfReach
from discreet.exact.rational import Number, integer, positive

__all__ = ["Centre", "chance_of_truth", "repetitions_needed"]

_MOST = 10**6


class Centre(Enum):
    """What is taken of many answers."""

    MEAN = "mean"
    MEDIAN = "median"


def chance_of_truth(scale: Number, repetitions: int, centre: Centre = Centre.MEDIAN) -> float:
    """The probability that the rounded centre of so many answers is the true one."""
    times = integer(repetitions, "the number of repetitions", least=1, most=_MOST)
    if centre is Centre.MEDIAN and times % 2 == 0:
        raise InvalidValue("a median is taken of an odd number of answers", times, f"{times - 1} or {times + 1}")
    return _BY_CENTRE[centre](float(positive(scale, "the scale of the noise")), times)


def repetitions_needed(scale: Number, confidence: float = 0.95, centre: Centre = Centre.MEDIAN) -> int:
    """The least odd number of answers after which the rounded centre is the true answer with this probability."""
    if not 0 < confidence < 1:
        raise InvalidValue("a confidence must lie strictly between 0 and 1", confidence)
    enough = 0  # 2 * enough + 1 answers
    while chance_of_truth(scale, 2 * enough + 1, centre) < confidence:
        enough = 2 * enough + 1
        if 2 * enough + 1 > _MOST:
            raise OutOfReach(
                f"more than {_MOST} answers are needed", scale, "a smaller scale or confidence needs fewer"
            )
    too_few = (enough - 1) // 2 if enough else -1
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        is_enough = chance_of_truth(scale, 2 * middle + 1, centre) >= confidence
        too_few, enough = (too_few, middle) if is_enough else (middle, enough)
    return 2 * enough + 1


def _median(scale: float, times: int) -> float:
    return float(1 - 2 * binom.sf((times - 1) // 2, times, np.exp(-0.5 / scale) / 2))


def _mean(scale: float, times: int) -> float:
    left = np.arange(times)
    ways = gammaln(times + left) - gammaln(left + 1) - gammaln(times) + (1 - times - left) * np.log(2)
    return float(np.exp(ways) @ gammainc(times - left, times / (2 * scale)))


_BY_CENTRE: dict[Centre, Callable[[float, int], float]] = {Centre.MEAN: _mean, Centre.MEDIAN: _median}
