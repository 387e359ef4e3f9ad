"""diffprivlib on an array: its own tools, with the bounds told."""

import warnings

from array_of_numbers import BINS, EPSILON, LOWER, UPPER, VALUES, measure
from diffprivlib import tools

warnings.simplefilter("ignore")
bounds = (LOWER, UPPER)
measure(
    {
        "mean": lambda: tools.mean(VALUES, epsilon=EPSILON, bounds=bounds),
        "histogram": lambda: tools.histogram(VALUES, epsilon=EPSILON, bins=BINS, range=bounds)[0],
        "median": lambda: tools.median(VALUES, epsilon=EPSILON, bounds=bounds),
    }
)
