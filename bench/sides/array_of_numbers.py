"""The array that both sides get, the truths about it, and how a side is measured: its least time, its mean error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from stopwatch import cpu, report

LOWER, UPPER, BINS, EPSILON = 0, 100, 100, 1.0
REPEATS = 20
VALUES = np.clip(np.random.default_rng(1).gamma(2.0, 15.0, 10**6), LOWER, UPPER)
TRUTHS = {
    "mean": VALUES.mean(),
    "histogram": np.histogram(VALUES, BINS, (LOWER, UPPER))[0],
    "median": float(np.median(VALUES)),
}


def measure(asked: dict[str, Callable[[], Any]]) -> None:
    """Ask often, and report."""
    results = {}
    for name, ask in asked.items():
        error = np.mean([np.abs(np.asarray(ask(), float) - TRUTHS[name]).mean() for _ in range(REPEATS)])
        results[name] = cpu(ask) | {"error": float(error)}
    report(results)
