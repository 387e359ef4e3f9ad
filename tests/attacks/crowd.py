"""A made-up crowd for attacks."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from discreet.attacks.people import People


def crowd(size: int = 400, seed: int = 0) -> People:
    """People of many ages and ZIP codes, whose illness depends a little on age."""
    chance = np.random.default_rng(seed)
    age = chance.integers(18, 90, size)
    illness = np.array(["none", "flu", "cancer", "diabetes"])[(chance.random(size) * 3 + age / 90).astype(int)]
    table = {
        "age": age,
        "zip": chance.integers(10, 40, size),
        "sex": chance.choice(["f", "m"], size),
        "illness": illness,
    }
    return People.of(pa.table(table), ["age", "zip", "sex"], "illness")
