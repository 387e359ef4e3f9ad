"""Slips: the bugs that code reviews find, one by one. Each was planted here against the project's own tests first."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.audit.gallery.exhibit import Exhibit, HonestVersion, naive, one_by_one
from discreet.audit.gallery.noise import whole_laplace
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.noisy_threshold import LaplaceThreshold
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.noise.experiment import Chance, experiment
from discreet.privacy.loss import Approximate, Pure
from discreet.privacy.sensitivity import Sensitivity

__all__ = ["SLIPS"]


_COUNT = HonestVersion(Laplace(1), Pure(1), "discrete Laplace noise of scale 1/ε")
_OWN = "planted in the tests of this project"
_CLASSES = "a class of violations in arXiv 2602.17454"


# Noise of the wrong size or shape.


def half_the_scale(count: int, size: int, chance: Chance) -> Any:
    """A count with noise of scale 1/2ε."""
    return count + whole_laplace(chance, 1 / 2, size)


def zero_twice(count: int, size: int, chance: Chance) -> Any:
    """A size and a sign are drawn apart, so that +0 and -0 both become 0."""
    return count + (chance.geometric(-math.expm1(-1), size) - 1) * chance.choice([-1, 1], size)


def starts_at_one(count: int, size: int, chance: Chance) -> Any:
    """The geometric variable of a library that starts at 1, with a sign: the noise is never 0."""
    return count + chance.geometric(-math.expm1(-1), size) * chance.choice([-1, 1], size)


def bounded_noise(count: int, size: int, chance: Chance) -> Any:
    """Uniform noise between -10 and 10."""
    return count + chance.integers(-10, 11, size)


def gaussian_called_pure(count: int, size: int, chance: Chance) -> Any:
    """Gaussian noise of standard deviation 1."""
    return np.rint(count + chance.normal(0, 1, size)).astype(np.int64)


def classic_gaussian(count: int, size: int, chance: Chance) -> Any:
    """σ = √(2 ln(1.25/δ))/ε, proved for ε < 1, at ε = 8 and δ = 1/5."""
    sigma = math.sqrt(2 * math.log(1.25 / 0.2)) / 8
    return np.rint(16 * (count + chance.normal(0, sigma, size))) / 16


def fixed_seed(count: int) -> int:
    """The same noise in every run, because the seed is in the code."""
    return int(count + whole_laplace(experiment(42), 1, 1)[0])


def noise_used_twice(counts: Any, size: int, chance: Chance) -> Any:
    """Two counts of different people, and one draw of noise for both."""
    return np.asarray(counts) + whole_laplace(chance, 1, (size, 1))


def noise_for_some(count: int, size: int, chance: Chance) -> Any:
    """An empty group is shown as it is."""
    return np.full(size, 0) if count == 0 else count + whole_laplace(chance, 1, size)


# Sensitivities of something else.


def histogram_as_if_joined(counts: Any, size: int, chance: Chance) -> Any:
    """A histogram under replace-one with noise for one cell, where two cells move."""
    return np.asarray(counts) + whole_laplace(chance, 1, (size, len(counts)))


def unclamped_sum(rows: Any, size: int, chance: Chance) -> Any:
    """A sum of values said to lie between 0 and 10, which nobody checked."""
    return sum(rows) + whole_laplace(chance, 10, size)


def clamped_to_the_data(rows: Any, size: int, chance: Chance) -> Any:
    """A sum whose bounds are the least and the greatest value in the table."""
    return sum(rows) + whole_laplace(chance, max(map(abs, rows)), size)


def nan_past_the_clamp(rows: Any, size: int, chance: Chance) -> Any:
    """min(max(x, 0), 10) of every value: comparisons with NaN are false, and the sum is NaN."""
    clamped = np.clip(np.asarray(rows, np.float64), 0, 10)
    return clamped.sum() + whole_laplace(chance, 10, size)


def mean_by_the_true_count(rows: Any, size: int, chance: Chance) -> Any:
    """A noisy sum divided by the exact number of rows."""
    return (sum(rows) + whole_laplace(chance, 10, size)) / len(rows)


def rounded_to_even(value: float, size: int, chance: Chance) -> Any:
    """Halves are rounded to even, so that 0.5 and 1.5 end up 2 apart."""
    return round(value) + whole_laplace(chance, 1, size)


# What is paid once and given often.


def five_replies(bit: int, size: int, chance: Chance) -> Any:
    """Randomized response, five times about the same bit."""
    lies = chance.random((size, 5)) < 1 / (1 + math.e)
    return np.where(lies, 1 - bit, bit)


def fresh_noise_each_time(count: int, size: int, chance: Chance) -> Any:
    """The mean of nine noisy answers to one question, each sold as if it were the only one."""
    return (count + whole_laplace(chance, 1, (size, 9))).sum(axis=1)


# What shows without any noise at all.


def raises_on_a_row(rows: Any, chance: Chance) -> int:
    """The mean of inverses: a row that is 0 is an error."""
    return int(sum(10 // row for row in rows) + whole_laplace(chance, 10, 1)[0])


def keys_that_exist(held: Any, size: int, chance: Chance) -> Any:
    """A row for every key that somebody holds, with a noisy count."""
    noisy = whole_laplace(chance, 1, (size, len(held)))
    return [tuple((key, int(held[key] + n)) for key, n in zip(held, row, strict=True)) for row in noisy]


def threshold_too_low(held: Any, size: int, chance: Chance) -> Any:
    """Keys are shown from a noisy count of 2 on, where δ = 1/100 needs 6."""
    noisy = whole_laplace(chance, 1, (size, len(held)))
    pairs = [[(key, int(held[key] + n)) for key, n in zip(held, row, strict=True)] for row in noisy]
    return [tuple(pair for pair in row if pair[1] >= 2) for row in pairs]


def own_reply(bit: int, size: int, chance: Chance) -> Any:
    """Randomized response, once."""
    return RandomizedResponse(1).releases(bit, size)


def two_counts(counts: Any, size: int, chance: Chance) -> Any:
    """Two counts of different people with noise of their own."""
    return Laplace(1, dimension=2).releases(list(counts), size)


def bounded_sum(rows: Any, size: int, chance: Chance) -> Any:
    """A sum of values cut to 0 to 10, with what cannot be compared counted as 0."""
    clamped = np.clip(np.nan_to_num(np.asarray(rows, np.float64)), 0, 10)
    return Laplace(1, 10).releases(int(clamped.sum()), size)


_SUM = HonestVersion(naive(bounded_sum), Pure(1), "values are cut to public bounds, and NaN is 0")

SLIPS = (
    Exhibit(
        "half-the-scale",
        "The noise has half the scale that ε needs.",
        naive(half_the_scale),
        0,
        1,
        Pure(1),
        _OWN,
        _COUNT,
    ),
    Exhibit(
        "zero-twice",
        "A size and a sign are drawn apart, and 0 comes twice as often as it should.",
        naive(zero_twice),
        0,
        1,
        Pure(1),
        _OWN,
        _COUNT,
    ),
    Exhibit(
        "starts-at-one",
        "The library's geometric law starts at 1, so that the true value itself is never shown.",
        naive(starts_at_one),
        0,
        1,
        Pure(1),
        _OWN,
        _COUNT,
    ),
    Exhibit(
        "bounded-noise",
        "Noise that ends somewhere makes the outermost answers certain.",
        naive(bounded_noise),
        0,
        1,
        Pure(1),
        "why pure privacy needs unbounded noise: any lecture on it",
        _COUNT,
    ),
    Exhibit(
        "gaussian-called-pure",
        "Gaussian noise has no pure ε at all: far out, every answer tells more.",
        naive(gaussian_called_pure),
        0,
        1,
        Pure(1),
        "a common slip",
        HonestVersion(Gaussian(rho="1/2"), Gaussian(rho="1/2").loss, "the same noise, and ρ is claimed"),
    ),
    Exhibit(
        "classic-gaussian",
        "√(2 ln(1.25/δ))/ε is proved for ε below 1 and used at 8.",
        naive(classic_gaussian),
        0,
        1,
        Approximate(8, Fraction(1, 5)),
        "Balle and Wang, ICML 2018",
        HonestVersion(
            Gaussian(8, Fraction(1, 5), grid="1/16"), Approximate(8, Fraction(1, 5)), "σ from the exact curve"
        ),
        draws=8_000_000,
    ),
    Exhibit(
        "fixed-seed",
        "The seed is fixed, so that the noise is the same in every run and can be taken away.",
        fixed_seed,
        0,
        1,
        Pure(1),
        _OWN,
        _COUNT,
        draws=2_000,
    ),
    Exhibit(
        "noise-used-twice",
        "Two answers share one draw of noise, and their difference has none.",
        naive(noise_used_twice),
        (3, 5),
        (4, 5),
        Pure(1),
        _OWN,
        HonestVersion(naive(two_counts), Pure(1), "a draw of its own for every answer"),
        draws=20_000,
    ),
    Exhibit(
        "noise-for-some",
        "An empty group gets no noise, so that anything but 0 says that somebody is there.",
        naive(noise_for_some),
        0,
        1,
        Pure(1),
        _OWN,
        _COUNT,
        draws=20_000,
    ),
    Exhibit(
        "histogram-as-if-joined",
        "Replacing a person moves two cells of a histogram, and the noise is for one.",
        naive(histogram_as_if_joined),
        (1, 0),
        (0, 1),
        Pure(1),
        _OWN,
        HonestVersion(Laplace(1, Sensitivity.histogram("replace-one"), dimension=2), Pure(1), "a sensitivity of 2"),
    ),
    Exhibit(
        "unclamped-sum",
        "Nobody checks that values lie within the bounds that the noise is made for.",
        naive(unclamped_sum),
        (1, 2),
        (1, 2, 1000),
        Pure(1),
        _OWN,
        _SUM,
        draws=20_000,
    ),
    Exhibit(
        "clamped-to-the-data",
        "The bounds are read from the data, so that one person changes the scale of the noise.",
        naive(clamped_to_the_data),
        (1, 2, 3),
        (1, 2, 3, 300),
        Pure(1),
        _CLASSES,
        _SUM,
        draws=20_000,
    ),
    Exhibit(
        "nan-past-the-clamp",
        "NaN is neither below nor above a bound, and one NaN makes the whole answer NaN.",
        naive(nan_past_the_clamp),
        (1.0, 2.0),
        (1.0, 2.0, math.nan),
        Pure(1),
        _CLASSES,
        _SUM,
        draws=20_000,
    ),
    Exhibit(
        "mean-by-the-true-count",
        "A noisy sum is divided by the exact count, and the multiples that come out tell the count.",
        naive(mean_by_the_true_count),
        (5, 5, 5),
        (5, 5, 5, 5),
        Pure(1),
        _CLASSES,
        HonestVersion(naive(bounded_sum), Pure(1), "the noisy sum alone; a mean takes a noisy count as well"),
        draws=20_000,
    ),
    Exhibit(
        "rounded-to-even",
        "0.5 becomes 0 and 1.5 becomes 2, so that values 1 apart end up 2 apart.",
        naive(rounded_to_even),
        0.5,
        1.5,
        Pure(1),
        _OWN,
        HonestVersion(Laplace(1), Pure(1), "halves are rounded up"),
    ),
    Exhibit(
        "five-replies",
        "The same bit is reported five times for the price of one report.",
        naive(five_replies),
        0,
        1,
        Pure(1),
        _OWN,
        HonestVersion(naive(own_reply), Pure(1), "one report"),
        draws=20_000,
    ),
    Exhibit(
        "fresh-noise-each-time",
        "A question that is asked nine times gets fresh noise nine times and is charged once.",
        naive(fresh_noise_each_time),
        0,
        1,
        Pure(1),
        "budgets spent twice: " + _CLASSES,
        _COUNT,
    ),
    Exhibit(
        "raises-on-a-row",
        "A row that is 0 raises an error, and the error is an answer too.",
        one_by_one(raises_on_a_row),
        (1, 2, 5),
        (1, 2, 0),
        Pure(1),
        _OWN,
        draws=2_000,
    ),
    Exhibit(
        "keys-that-exist",
        "A key that one person holds is listed because it exists, and the noise is only on its count.",
        naive(keys_that_exist),
        {"a": 3, "b": 1},
        {"a": 3},
        Pure(1),
        _CLASSES,
        HonestVersion(
            LaplaceThreshold(1, "1/100"), Approximate(1, "1/100"), "keys are shown past a threshold", draws=10_000
        ),
        draws=10_000,
    ),
    Exhibit(
        "threshold-too-low",
        "Keys of one person alone are shown far more often than the δ that was claimed.",
        naive(threshold_too_low),
        {"a": 3, "b": 1},
        {"a": 3},
        Approximate(1, Fraction(1, 100)),
        _OWN,
        HonestVersion(LaplaceThreshold(1, "1/100"), Approximate(1, "1/100"), "the least threshold for δ", draws=10_000),
        draws=20_000,
    ),
)
