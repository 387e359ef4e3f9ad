"""Numbers in an array and no curator: Discreet beside diffprivlib, which is made for that.

The number of values is public and one value may change, which is what diffprivlib promises for means and quantiles; for
a histogram one value may come or go.
"""

from __future__ import annotations

from bench.environments import PeerFailed, run_side
from bench.figure import Figure, absent, faster
from bench.noise import SIDES

__all__ = ["ARRAYS", "array_figures"]

PEER = "diffprivlib"
ARRAYS = {PEER: (SIDES[PEER][0], "diffprivlib_arrays.py")}


def array_figures() -> list[Figure]:
    """Time and error of a mean, a histogram and a median."""
    ours = run_side(None, "arrays_ours.py")
    try:
        theirs = run_side(*ARRAYS[PEER])
    except PeerFailed as problem:
        return [absent(name, found["cpu"], PEER, problem) for name, found in ours.items()]
    times = [faster(name, found["cpu"], PEER, theirs[name]["cpu"]) for name, found in ours.items()]
    return times + [_error(name, found["error"], theirs[name]["error"]) for name, found in ours.items()]


def _error(name: str, ours: float, theirs: float) -> Figure:
    return Figure(f"mean absolute error: {name}", f"{ours:.4g}", f"{PEER} {theirs:.4g}", f"{theirs / ours:.2f}×")
