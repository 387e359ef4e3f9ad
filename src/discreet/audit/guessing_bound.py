"""How many of many coins can be guessed from one private output: a bound for every (ε, δ).

Promise. Let m fair coins decide independently who is in the data of an (ε, δ)-private mechanism, and let a rule that
sees its output alone guess r of them, r fixed in advance. Then P(at least v guesses are right) ≤
`chance_of_guessing`(m, r, v, ε, δ). Proof: ``one_run.md``.

>>> chance_of_guessing(100, 100, 90, epsilon=0.0, delta=0.0) < 1e-16
True
>>> round(chance_of_guessing(1, 1, 1, epsilon=0.0, delta=0.1), 3)
0.55
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import binom

from discreet.audit.claimed import Claimed
from discreet.privacy.loss import Approximate

__all__ = ["chance_of_guessing", "least_epsilon", "p_value"]

_SLACK = 1 + 1e-9  # far more than the tails are off by rounding
_HALVINGS = 60
_LARGEST_EPSILON = 50.0


def chance_of_guessing(coins: int, guesses: int, right: int, epsilon: float, delta: float) -> float:
    """An upper bound on the probability that ``right`` or more of ``guesses`` about ``coins`` are right."""
    if right <= 0:
        return 1.0
    share = 1 / (1 + math.exp(-epsilon))
    tail = float(binom.sf(right - 1, guesses, share))
    # What δ adds on average in right guesses; at worst it lifts those runs that fall short by the least.
    left = coins * delta * math.exp(-epsilon) * share
    if left > 0:
        short = np.arange(1, right + 1)
        masses = binom.pmf(right - short, guesses, share)
        costs = np.cumsum(short * masses)
        paid = int(np.searchsorted(costs, left, side="right"))
        tail += float(masses[:paid].sum())
        if paid < right:
            tail += (left - (float(costs[paid - 1]) if paid else 0.0)) / (paid + 1)
    return min(tail * _SLACK, 1.0)


def p_value(coins: int, guesses: int, right: int, claim: Claimed) -> float:
    """The same for any claim: each (ε, δ) that it implies bounds the same probability, so the least bound counts."""
    return min(
        chance_of_guessing(coins, guesses, right, float(epsilon), math.nextafter(float(delta), 1.0) if delta else 0.0)
        for epsilon, delta in claim.terms
    )


def least_epsilon(coins: int, guesses: int, right: int, delta: float, alpha: float) -> float:
    """The largest ε that is refuted at this δ: no (ε, δ)-private mechanism guesses so well but with ``alpha``."""
    low, high = 0.0, _LARGEST_EPSILON
    if chance_of_guessing(coins, guesses, right, low, delta) > alpha:
        return 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        is_refuted = chance_of_guessing(coins, guesses, right, middle, delta) <= alpha
        low, high = (middle, high) if is_refuted else (low, middle)
    return low


def delta_of(claim: Claimed) -> float:
    """The δ at which an observed ε is told: that of the claim where it has one, else 0."""
    return float(claim.loss.delta) if isinstance(claim.loss, Approximate) else 0.0
