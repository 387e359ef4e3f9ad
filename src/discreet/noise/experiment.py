"""Chance for experiments: attackers' guesses, made-up tables, and the naive defences that are attacked.

Reproducible by design, so nothing here may hide anything real: the packages from mechanisms to the curator may not
import this file, and a contract of the imports says so.
"""

from __future__ import annotations

import numpy as np

__all__ = ["Chance", "experiment"]


Chance = np.random.Generator
"""What experiments draw from."""


def experiment(seed: int) -> Chance:
    """The same draws again for the same seed."""
    return np.random.default_rng(seed)
