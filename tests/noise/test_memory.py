from __future__ import annotations

import tracemalloc

import pytest

from discreet.noise.bernoulli import Bernoulli
from discreet.noise.gaussian import DiscreteGaussian
from discreet.noise.geometric import Geometric
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.law import Law


def peak(law: Law, count: int) -> int:
    """Bytes in use at the worst moment of a sample, besides the sample itself."""
    law.sample(10)
    tracemalloc.start()
    try:
        drawn = law.sample(count)
        return tracemalloc.get_traced_memory()[1] - drawn.nbytes
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "law",
    [DiscreteLaplace(1), DiscreteLaplace(10**6), DiscreteGaussian(1), DiscreteGaussian(10**6), Geometric(100)],
    ids=lambda law: type(law).__name__,
)
def test_a_million_draws_need_less_scratch_than_one_more_array(law: Law):
    assert peak(law, 10**6) < 8 * 10**6


def test_a_million_coins_need_at_most_six_more_arrays():
    assert peak(Bernoulli("1/3"), 10**6) < 6 * 8 * 10**6
