"""Which numbers can come out: float noise is found out, grids pass. False alarms: 1e-6 per test of an honest one."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from discreet.audit.audit import audit
from discreet.audit.float_lattice import FloatLattice, lattice
from discreet.audit.gallery import BROKEN
from discreet.audit.mechanism import Batched
from discreet.errors import DiscreetError
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.noise.experiment import experiment

EXHIBITS = {exhibit.name: exhibit for exhibit in BROKEN}
TOLD = {"numpy-laplace": 0.2, "diffprivlib-laplace-inverse": 0.2, "diffprivlib-laplace-four": 0.15}


@pytest.mark.parametrize("name", TOLD)
def test_float_noise_leaves_a_pattern_in_the_last_bits(name: str) -> None:
    exhibit = EXHIBITS[name]
    report = lattice(exhibit.mechanism, exhibit.first, exhibit.second, exhibit.claim)
    assert report.depends
    assert report.distinguished > TOLD[name]
    assert report.mistaken < 0.001
    assert report.example is not None
    assert report.first_grid < report.second_grid


def test_the_pattern_is_there_at_larger_values_too() -> None:
    chance = experiment(7)
    report = lattice(Batched(lambda value, size: value + chance.laplace(0, 10, size)), 0.0, 10.0, 1)
    assert report.depends
    assert "was seen for one input alone" in str(report)


def test_multiples_of_a_step_that_is_no_power_of_two_are_seen() -> None:
    exhibit = EXHIBITS["mean-by-the-true-count"]
    report = lattice(exhibit.mechanism, exhibit.first, exhibit.second, exhibit.claim, draws=20_000)
    assert report.depends
    assert report.audit.best is not None
    assert "multiple of" in report.audit.best.event.words


def snapped(value: float, size: int) -> Any:
    """Float noise rounded to a coarse grid afterwards: the lattice is the same for both, whatever else is wrong."""
    return np.rint((value + _SNAPPED.laplace(0, 1, size)) * 64) / 64


_SNAPPED = experiment(5)


@pytest.mark.parametrize(
    ("mechanism", "inputs", "grid"),
    [
        (Laplace(1, grid=2**-20), (0.1, 1.1), 2.0**-20),
        (Laplace(1), (0, 1), 1.0),
        (Gaussian(rho="1/2", grid="1/8"), (0.0, 1.0), 0.125),
        (Batched(snapped), (0.0, 1.0), 1 / 64),
    ],
    ids=["laplace on a grid", "laplace of integers", "gaussian on a grid", "snapped"],
)
def test_a_grid_that_was_fixed_before_passes(mechanism: Any, inputs: tuple[Any, Any], grid: float) -> None:
    """False alarm: 1e-6."""
    claim = 1 if isinstance(mechanism, Batched) else None
    report = lattice(mechanism, *inputs, claim)
    assert not report.depends
    assert report.first_grid == report.second_grid == grid
    assert "No lattice" in str(report)


def test_too_little_noise_is_no_matter_of_lattices() -> None:
    """Half the noise breaks the claim, but the same numbers come out."""
    exhibit = EXHIBITS["half-the-scale"]
    assert not lattice(exhibit.mechanism, exhibit.first, exhibit.second, exhibit.claim).depends


def test_a_lattice_is_a_family_of_events_for_any_audit() -> None:
    exhibit = EXHIBITS["numpy-laplace"]
    report = audit(exhibit.mechanism, 0.0, 1.0, 1, draws=20_000, families=(FloatLattice(),))
    assert report.violated
    assert report.best is not None
    assert report.best.event.family == "lattice"


def test_vectors_and_odd_numbers_are_looked_at_as_well() -> None:
    chance = experiment(11)

    def rows(value: float, size: int) -> Any:
        noisy = value + chance.laplace(0, 1, (size, 2))
        noisy[::50, 0] = np.nan
        noisy[::70, 1] = np.inf
        return noisy

    assert lattice(Batched(rows), 0.0, 1.0, 1).depends


def test_a_report_is_data_for_json() -> None:
    report = lattice(Laplace(1), 0, 1, draws=10_000)
    data = json.loads(json.dumps(report.to_dict()))
    assert data["depends"] is False
    assert data["audit"]["verdict"] == "consistent"


def test_zeros_lie_on_any_grid() -> None:
    report = lattice(Batched(lambda value, size: np.zeros(size)), 0, 1, 1, draws=1000)
    assert report.first_grid is report.second_grid is None
    assert "grids: any for the first input" in str(report)
    told = lattice(Batched(lambda value, size: np.full(size, value / 3)), 0, 1, 1, draws=20_000)
    assert (told.depends, told.first_grid, told.example) == (True, None, 1 / 3)


def test_answers_without_numbers_have_no_lattice() -> None:
    with pytest.raises(DiscreetError, match="question about numbers"):
        lattice(Batched(lambda value, size: ["yes"] * size), 0, 1, 1, draws=1000)
