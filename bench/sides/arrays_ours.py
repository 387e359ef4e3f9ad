"""Discreet on an array: the mean of a public number of values, a histogram and a median."""

from fractions import Fraction

import numpy as np
from array_of_numbers import BINS, EPSILON, LOWER, UPPER, VALUES, measure

import discreet as dp

STEP = Fraction(1, 2**20)


def mean() -> float:
    steps = int(np.rint(np.clip(VALUES, LOWER, UPPER) / float(STEP)).astype(np.int64).sum())
    return float(dp.Laplace(EPSILON, UPPER - LOWER, grid=STEP).release(steps * float(STEP))) / len(VALUES)


def histogram() -> list[int]:
    counts, _ = np.histogram(VALUES, BINS, (LOWER, UPPER))
    return dp.Laplace(EPSILON, dp.Sensitivity.histogram("add-remove-one")).release(counts)


def median() -> float:
    return float(dp.Median(EPSILON, LOWER, UPPER, grid=STEP, neighbours="replace-one").release(VALUES))


measure({"mean": mean, "histogram": histogram, "median": median})
