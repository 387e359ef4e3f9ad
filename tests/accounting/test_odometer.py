"""Odometers: a running bound that holds at every moment."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from discreet.accounting.odometer import ConcentratedOdometer, PureOdometer
from discreet.errors import InvalidInput, NoProvedPath
from discreet.privacy.loss import Approximate, GaussianDP, Pure, ZeroConcentrated
from tests.threads import at_once


def test_the_pure_odometer_reads_the_exact_sum() -> None:
    odometer = PureOdometer()
    assert odometer.reading() == Pure(0)
    for _ in range(10):
        odometer.record(Pure(0.1))
    assert odometer.reading() == Pure(1)


def test_readings_never_fall() -> None:
    odometer = ConcentratedOdometer(delta=1e-6)
    readings = []
    for _ in range(60):
        odometer.record(ZeroConcentrated("0.013"))
        readings.append(odometer.reading().epsilon)
    assert readings == sorted(readings)


def test_a_reading_is_dearer_than_a_filter_set_to_the_same_sum() -> None:
    """Holding at every moment costs something over holding at one that was fixed in advance."""
    odometer = ConcentratedOdometer(delta=1e-6)
    odometer.record(ZeroConcentrated("0.08"))
    fixed = ZeroConcentrated("0.08").epsilon_at(1e-6)
    assert fixed < odometer.reading().epsilon < 2 * fixed


def test_levels_share_delta_and_use_the_proved_bound() -> None:
    odometer = ConcentratedOdometer(delta=1e-6, first_level="0.01")
    odometer.record(ZeroConcentrated("0.03"))  # third level: 0.04
    rho, share = 0.04, 1e-6 / 12
    expected = rho + 2 * math.sqrt(rho * math.log(1 / share))
    assert abs(float(odometer.reading().epsilon) - expected) < 1e-12


def test_records_every_kind_with_a_proved_path() -> None:
    odometer = ConcentratedOdometer(delta=1e-6)
    odometer.record(Pure("0.1"))
    odometer.record(GaussianDP("0.1"))
    assert odometer.reading().epsilon > Fraction(0)
    with pytest.raises(NoProvedPath):
        odometer.record(Approximate(1, 1e-6))
    with pytest.raises(NoProvedPath):
        PureOdometer().record(ZeroConcentrated(1))  # type: ignore[arg-type]


def test_nothing_spent_reads_nothing() -> None:
    assert ConcentratedOdometer(delta=1e-6).reading().epsilon == 0


@pytest.mark.parametrize("delta", [0, 1, -1, "nan"])
def test_refuses_a_delta_that_means_nothing(delta: object) -> None:
    with pytest.raises(InvalidInput):
        ConcentratedOdometer(delta=delta)  # type: ignore[arg-type]


def test_threads_forget_no_price() -> None:
    for _ in range(20):
        odometer = PureOdometer()
        at_once(lambda odometer=odometer: odometer.record(Pure("1/40")), times=40)  # type: ignore[misc]
        assert odometer.reading() == Pure(1)
