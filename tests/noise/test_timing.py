from __future__ import annotations

import pytest
from scipy.stats import norm

from discreet.noise.gaussian import DiscreteGaussian
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.law import Law
from tests.noise.timing import DRAWS, LIMIT, tells


@pytest.mark.parametrize(
    "law",
    [DiscreteLaplace(2), DiscreteLaplace(10**4), DiscreteGaussian(100)],
    ids=["laplace-2", "laplace-10000", "gaussian-100"],
)
@pytest.mark.some(1)
def test_the_time_of_a_draw_does_not_tell_its_size(law: Law):
    """False alarm: 9.6e-7 per attempt under independence, and three attempts must fail."""
    assert not tells(law)


def test_the_false_alarm_rate_is_what_it_is_said_to_be():
    assert 2 * norm.sf(LIMIT * (DRAWS - 1) ** 0.5) < 1e-6
