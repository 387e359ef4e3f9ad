"""The definitions of the models in the plainest Python: lists, dicts, exact fractions, and a transport problem."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import linprog

Row = Sequence[Any]


def classes(rows: Sequence[Row], quasi: int) -> list[list[Row]]:
    """The rows that agree in the first ``quasi`` cells."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[:quasi]), []).append(row)
    return list(found.values())


def shares(rows: Sequence[Row]) -> dict[Any, Fraction]:
    """How often each value of the last cell occurs."""
    return {value: Fraction(times, len(rows)) for value, times in Counter(row[-1] for row in rows).items()}


def k(rows: Sequence[Row], quasi: int) -> int:
    return min(len(group) for group in classes(rows, quasi))


def distinct_l(rows: Sequence[Row], quasi: int) -> int:
    return min(len({row[-1] for row in group}) for group in classes(rows, quasi))


def entropy_l(rows: Sequence[Row], quasi: int) -> float:
    return min(math.exp(-sum(float(q) * math.log(q) for q in shares(group).values())) for group in classes(rows, quasi))


def recursive_c(rows: Sequence[Row], quasi: int, l: int) -> float:  # noqa: E741
    """The number above which every c holds."""
    worst = 0.0
    for group in classes(rows, quasi):
        counts = sorted(Counter(row[-1] for row in group).values(), reverse=True)
        if len(counts) < l:
            return math.inf
        worst = max(worst, counts[0] / sum(counts[l - 1 :]))
    return worst


def alpha(rows: Sequence[Row], quasi: int) -> float:
    return float(max(max(shares(group).values()) for group in classes(rows, quasi)))


def delta(rows: Sequence[Row], quasi: int) -> float:
    whole = shares(rows)
    worst = 0.0
    for group in classes(rows, quasi):
        here = shares(group)
        for value, p in whole.items():
            worst = max(worst, abs(math.log(here[value] / p)) if value in here else math.inf)
    return worst


def beta(rows: Sequence[Row], quasi: int, enhanced: bool) -> float:
    whole = shares(rows)
    worst = 0.0
    for group in classes(rows, quasi):
        for value, q in shares(group).items():
            gain = float((q - whole[value]) / whole[value])
            if enhanced and gain > -math.log(whole[value]) + 1e-12:
                return math.inf
            worst = max(worst, gain)
    return worst


def closeness(rows: Sequence[Row], quasi: int, apart: Callable[[Any, Any], float]) -> float:
    """The distance of the class that is furthest away, as the cost of the best transport."""
    whole = shares(rows)
    return max(transport(whole, shares(group), apart) for group in classes(rows, quasi))


def transport(source: dict[Any, Fraction], target: dict[Any, Fraction], apart: Callable[[Any, Any], float]) -> float:
    """The least cost of turning one distribution into another, where moving a unit costs how far it goes."""
    here, there = list(source), list(target)
    costs = [apart(a, b) for a in here for b in there]
    leaving = [[float(a == b) for b in here for _ in there] for a in here]
    arriving = [[float(a == b) for _ in here for b in there] for a in there]
    amounts = [float(source[a]) for a in here] + [float(target[b]) for b in there]
    found = linprog(costs, A_eq=np.array(leaving + arriving), b_eq=amounts, method="highs")
    assert found.success
    return float(found.fun)


def ranked(values: Sequence[Any]) -> Callable[[Any, Any], float]:
    """Apart by rank; a missing value ranks last."""
    order = sorted(values, key=lambda value: (value is None, value if value is not None else 0))
    steps = max(len(order) - 1, 1)
    return lambda a, b: abs(order.index(a) - order.index(b)) / steps


def by_difference(values: Sequence[float]) -> Callable[[Any, Any], float]:
    span = (max(values) - min(values)) or 1
    return lambda a, b: abs(a - b) / span


def by_meeting(paths: dict[Any, Sequence[Any]]) -> Callable[[Any, Any], float]:
    """Apart by the level at which the paths from two leaves to the top meet."""

    def apart(a: Any, b: Any) -> float:
        steps = [level for level, (x, y) in enumerate(zip(paths[a], paths[b], strict=True)) if x == y]
        return steps[0] / (len(paths[a]) - 1)

    return apart


def equally(a: Any, b: Any) -> float:
    return float(a != b)
