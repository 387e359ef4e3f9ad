"""The phase change at √n, measured and drawn."""

from __future__ import annotations

import math

import pytest

from discreet.attacks.methods.reconstruction import phase_change, phase_chart
from discreet.errors import InvalidValue


def test_nearly_all_bits_fall_below_root_n_and_next_to_none_far_above():
    """False alarms: 500 bits stray from the closed form by 7 deviations with probability below 3e-12 a point."""
    points = phase_change(500, [0.0, 0.1, 0.5, 1.0, 20.0])
    for point in points:
        spread = math.sqrt(point.expected * (1 - point.expected) / 500)
        assert abs(point.right.rate - point.expected) <= 7 * spread + 0.015
    assert points[0].right.rate == 1
    assert points[1].right.rate > 0.99
    assert points[-1].right.rate < 0.7


def test_the_curve_is_the_same_for_every_number_of_people():
    """False alarms: 400 bits each, at a rate of 0.907, differ by 0.15, seven deviations: below 3e-12."""
    (small,), (large,) = phase_change(100, [0.5], repeats=4), phase_change(400, [0.5])
    assert small.expected == pytest.approx(large.expected)
    assert small.right.trials == large.right.trials == 400
    assert abs(small.right.rate - large.right.rate) < 0.15


def test_the_chart_shows_every_curve_and_the_closed_form():
    drawn = phase_chart({50: phase_change(50, [0.1, 1.0]), 100: phase_change(100, [0.1, 1.0])})
    assert [one.name for one in drawn.series] == ["50 people", "100 people", "closed form"]
    assert drawn.reference_label == "a coin"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"people": 1}, "people must be from 2"),
        ({"people": 5001}, "people must be from 2"),
        ({"people": 10, "questions_per_person": 1}, "two questions"),
        ({"people": 10, "repeats": 0}, "repeats must be"),
        ({"people": 10, "noises": [-1.0]}, "noises must be"),
        ({"people": 10, "noises": [math.nan]}, "noises must be"),
    ],
)
def test_bad_settings_are_refused(options, said):
    with pytest.raises(InvalidValue, match=said):
        phase_change(**options)


def test_no_curve_is_no_chart():
    with pytest.raises(InvalidValue, match="at least one curve"):
        phase_chart({})
