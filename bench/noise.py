"""The mechanisms and the accountant beside their peers, the least of several interleaved rounds."""

from __future__ import annotations

from bench.environments import PeerFailed, run_side
from bench.figure import Figure, absent, faster, seconds

__all__ = ["noise_figures"]

ROUNDS = 3
SIDES = {
    "discreet": (None, "ours.py"),
    "numpy": (None, "numpy_noise.py"),
    "opendp": (["opendp"], "opendp_noise.py"),
    "diffprivlib": (["diffprivlib", "scikit-learn<1.7"], "diffprivlib_noise.py"),  # it does not load with later ones
    "dp-accounting": (["dp-accounting"], "dp_accounting_batch.py"),
}
LIMITS = {"import": 0.3, "2000 different releases": 3.0}
BATCHES = ("1000 laplace", "1000 gaussian", "1000 laplace and 1000 gaussian")

# What must hold, as (measure, peer, least ratio peer/ours).
TARGETS = [
    ("laplace scale 1", "numpy", 1.0),
    ("laplace scale 100", "numpy", 1.0),
    ("laplace scale 1000000", "numpy", 1.0),
    ("laplace scale 1", "opendp", 300.0),
    ("laplace scale 100", "opendp", 300.0),
    ("laplace scale 1000000", "opendp", 300.0),
    ("gaussian sigma 1", "numpy", 0.25),
    ("gaussian sigma 100", "numpy", 0.25),
    ("gaussian sigma 1000000", "numpy", 0.25),
    ("gaussian sigma 1", "opendp", 150.0),
    ("gaussian sigma 100", "opendp", 150.0),
    ("gaussian sigma 1000000", "opendp", 150.0),
    ("choice among 100000", "opendp", 1.0),
    ("laplace scale 100", "diffprivlib", 1.0),
    ("2000 different releases", "dp-accounting", 1.0),
    ("1000 laplace", "dp-accounting", 0.0),
    ("1000 gaussian", "dp-accounting", 0.0),
    ("1000 laplace and 1000 gaussian", "dp-accounting", 0.0),
]

Best = dict[str, dict[str, dict[str, float]]]
"""Side → measure → {"cpu": seconds, and what else it reports}."""


def noise_figures() -> list[Figure]:
    """All of them."""
    best, failed = best_of_rounds()
    ours = best["discreet"]
    times = [
        absent(name, ours[name]["cpu"], peer, failed[peer])
        if peer in failed
        else faster(name, ours[name]["cpu"], peer, best[peer][name]["cpu"], least)
        for name, peer, least in TARGETS
    ]
    epsilons = [composed(best, name) for name in BATCHES]
    memories = [memory(ours, law) for law in ("laplace", "gaussian")]
    limits = [at_most(name, ours[name]["cpu"], most) for name, most in LIMITS.items()]
    return times + epsilons + memories + limits


def best_of_rounds() -> tuple[Best, dict[str, PeerFailed]]:
    """The least CPU time of every measure on every side, sides interleaved, and the peers that failed."""
    best: Best = {side: {} for side in SIDES}
    failed: dict[str, PeerFailed] = {}
    for side in [side for _ in range(ROUNDS) for side in SIDES]:
        try:
            found = {} if side in failed else run_side(*SIDES[side])
        except PeerFailed as problem:
            failed[side] = problem
            continue
        for name, result in found.items():
            known = best[side].get(name)
            if known is None or result["cpu"] < known["cpu"]:
                best[side][name] = result
    return best, failed


def composed(best: Best, name: str) -> Figure:
    """The composed ε: never under the exact one, and at most 1 % over it."""
    ours, peer = best["discreet"][name]["epsilon"], best["dp-accounting"].get(name, {}).get("epsilon")
    exact = best["discreet"][name].get("exact", peer)
    if exact is None:
        return Figure(f"ε at δ = 1e-6 of {name}", f"{ours:.4f}", "nothing to compare with")
    beside = f"exact {exact:.4f}" + (f", dp-accounting {peer:.4f}" if peer is not None else "")
    met = exact * (1 - 1e-6) <= ours <= exact * 1.01
    return Figure(f"ε at δ = 1e-6 of {name}", f"{ours:.4f}", beside, "", "exact to +1 %", met)


def memory(ours: dict[str, dict[str, float]], law: str) -> Figure:
    """The memory of a million draws over that of their output."""
    extra = ours[f"memory {law}"]["ratio"]
    return Figure(f"extra memory, 10⁶ {law} draws", f"{extra:.2f} × output", "", "", "≤ 6", extra <= 6)


def at_most(name: str, value: float, most: float) -> Figure:
    """A time with a limit of its own."""
    return Figure(name, seconds(value), "", "", f"≤ {most:g} s", value <= most)
