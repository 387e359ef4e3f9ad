"""Does the time of a draw tell its size? (R3)

The rank correlation of n independent pairs is approximately normal with variance 1/(n - 1). At n = 60,000 the limit of
0.02 is 4.9 standard deviations, so an attempt on a sampler that tells nothing fails with probability 9.6e-7. A busy
machine can add a drift of its own to the times, but the next draw's size does not follow it: drift blurs, it does not
correlate. What can correlate by accident is a rare burst, so a failed attempt is repeated with fresh draws, twice.
A sampler that does tell fails every attempt.
"""

from __future__ import annotations

import gc
import time

import numpy as np
from scipy.stats import spearmanr

from discreet.noise.law import Law

LIMIT = 0.02
DRAWS = 60_000
ATTEMPTS = 3


def correlation(law: Law, draws: int = DRAWS) -> float:
    """The rank correlation of the time of single draws with their magnitude."""
    times, sizes = np.empty(draws), np.empty(draws)
    clock, sample = time.perf_counter_ns, law.sample
    gc.disable()
    try:
        for k in range(draws):
            start = clock()
            found = sample(1)
            times[k] = clock() - start
            sizes[k] = abs(int(found[0]))
    finally:
        gc.enable()
    return float(spearmanr(times, sizes).statistic)


def tells(law: Law, draws: int = DRAWS) -> bool:
    """Whether the time of a draw tells its size, in every attempt."""
    return all(abs(correlation(law, draws)) >= LIMIT for _ in range(ATTEMPTS))
