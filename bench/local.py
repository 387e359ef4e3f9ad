"""Privacy before collection: a million people, 100 categories, ε = 1, from answers to estimates, beside the peers.

The peers take one person at a time in a loop, so that their time is proportional to the number of people. They get
5,000 people and both sides are shown per million.
"""

from __future__ import annotations

from typing import Any

from bench.environments import PeerFailed, run_side
from bench.figure import Figure, faster, seconds

__all__ = ["local_figures"]

MILLION = 10**6
LIMITS = {"GRR": 0.1, "SUE": 1.0, "OUE": 1.0, "OLH": 2.0, "Hadamard": 0.2, "subset": 2.0}
"""CPU seconds for a million people."""
PEERS = {
    "pure-ldp": (["pure-ldp", "scikit-learn", "statsmodels", "xxhash<4"], "pure_ldp_local.py"),  # as it needs
    "multi-freq-ldpy": (["multi-freq-ldpy", "xxhash<4"], "multi_freq_ldpy_local.py"),
}
LEAST_RATIO = 10.0


def local_figures() -> list[Figure]:
    """All of them: the limits, the intervals, then each peer."""
    ours = run_side(None, "local_ours.py")
    limits = [limited(name, ours[name]["cpu"] * MILLION, most) for name, most in LIMITS.items()]
    intervals = [exact_intervals(name, ours) for name in LIMITS]
    return limits + intervals + [figure for peer in PEERS for figure in beside(peer, ours)]


def limited(name: str, found: float, most: float) -> Figure:
    """A time with a limit of its own."""
    return Figure(f"{name}, 10⁶ people", seconds(found), "", "", f"≤ {most:g} s", found <= most)


def exact_intervals(name: str, ours: dict[str, Any]) -> Figure:
    """The time of the intervals of all categories, after the estimate."""
    return Figure(f"100 exact intervals, {name}", seconds(ours[f"{name} intervals"]["cpu"]), "")


def beside(peer: str, ours: dict[str, Any]) -> list[Figure]:
    """One peer, with what it says where it does not run."""
    theirs = measured(peer)
    return [compared(name, ours, peer, found) for name, found in theirs.items()]


def measured(peer: str) -> dict[str, Any]:
    """What a peer measured, or why it could not."""
    try:
        return run_side(*PEERS[peer])
    except PeerFailed as problem:
        return {"all": {"failed": str(problem)}}


def compared(name: str, ours: dict[str, Any], peer: str, found: dict[str, Any]) -> Figure:
    """One oracle of one peer."""
    if "failed" in found:
        return Figure(name, "", f"{peer}: {found['failed'][:90]}")
    return faster(name, ours[name]["cpu"] * MILLION, peer, found["cpu"] * MILLION, LEAST_RATIO)
