"""Mondrian on the Adult table: strict beside anonypy, and along hierarchies beside ARX's local recoding."""

from __future__ import annotations

from typing import Any

from bench.environments import run_if_it_can, run_side
from bench.figure import Figure, seconds

__all__ = ["mondrian_figures"]

ANONYPY = ["anonypy", "pandas"]

# The most CPU seconds.
STRICT = {
    "strict, k=5": 0.5,
    "strict, k=10": 0.5,
    "strict, 300,000 rows, k=5": 5.0,
    "strict, 1,000,000 rows, k=5": 30.0,
}
# The most that may be lost, within 2 CPU seconds, and what ARX 3.9.2 loses with local recoding.
ALONG = {
    "along hierarchies, k=5": (0.21, "ARX 3.9.2, local recoding: loss 0.302"),
    "along hierarchies, k=10": (0.25, "ARX 3.9.2, local recoding: loss 0.337"),
    "along hierarchies, k=10, l=2, t=0.2": (1.0, ""),
}

Found = dict[str, dict[str, Any]]


def mondrian_figures(folder: str) -> list[Figure]:
    """Loss, classes and time of every request."""
    ours = run_side(None, "anonymize_mondrian.py", folder)
    theirs = run_if_it_can(ANONYPY, "anonypy_mondrian.py", folder)
    return [_strict(name, ours[name], theirs.get(name)) for name in STRICT] + [
        _along(name, ours[name]) for name in ALONG
    ]


def _strict(name: str, ours: dict[str, Any], theirs: dict[str, Any] | None) -> Figure:
    beside = f"anonypy {theirs['classes']:,} classes in {seconds(theirs['cpu'])}" if theirs else ""
    ratio = f"{theirs['cpu'] / ours['cpu']:,.0f}×" if theirs else ""
    return Figure(name, _shown(ours), beside, ratio, f"≤ {seconds(STRICT[name])}", ours["cpu"] <= STRICT[name])


def _along(name: str, ours: dict[str, Any]) -> Figure:
    most, beside = ALONG[name]
    target = f"≤ {most} in ≤ {seconds(2.0)}" if beside else f"≤ {seconds(2.0)}"
    return Figure(name, _shown(ours), beside, "", target, ours["loss"] <= most and ours["cpu"] <= 2.0)


def _shown(ours: dict[str, Any]) -> str:
    return f"loss {ours['loss']:.4f}, {ours['classes']:,} classes in {seconds(ours['cpu'])}"
