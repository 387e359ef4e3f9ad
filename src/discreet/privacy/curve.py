"""δ as a function of ε, and ε as a function of δ, for each kind of loss, always rounded towards more loss.

Each formula is a theorem with its source beside it. Where a formula holds for every order α, the best α is looked
for in floating point and the bound is then evaluated at that α in balls, so a poor search costs tightness, never
truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from discreet.errors import OutOfReach
from discreet.exact.ball import ball, normal_cdf, round_up, upper, working_precision

__all__ = [
    "concentrated_delta",
    "concentrated_epsilon",
    "gaussian_delta",
    "least_epsilon",
    "pure_delta",
    "pure_epsilon",
    "renyi_epsilon",
]

_EPSILON_STEP = Fraction(1, 2**48)
_LARGEST_EPSILON = 2**20


def pure_delta(epsilon: Fraction, delta: Fraction, wanted: Fraction) -> Fraction:
    """The δ at ``wanted`` of any (ε, δ) mechanism: randomized response is the worst (Kairouz, Oh, Viswanath 2015)."""
    if wanted >= epsilon:
        return delta
    with working_precision():
        high, low = ball(epsilon).exp(), ball(wanted).exp()
        return round_up(min(upper(ball(delta) + ball(1 - delta) * (high - low) / (1 + high)), Fraction(1)))


def pure_epsilon(epsilon: Fraction, delta: Fraction, wanted: Fraction) -> Fraction:
    """The least ε at δ = ``wanted`` of any (ε, δ) mechanism; the curve above, solved for ε."""
    if wanted < delta:
        raise OutOfReach(f"delta must be at least {float(delta):g}, the loss's own", float(wanted))
    with working_precision():
        high = ball(epsilon).exp()
        rest = high - ball((wanted - delta) / (1 - delta)) * (1 + high)
        return max(round_up(upper(rest.log())), Fraction(0)) if rest > 1 else Fraction(0)


def concentrated_delta(rho: Fraction, epsilon: Fraction) -> Fraction:
    """ρ-zCDP implies (ε, δ) with δ = e^((α-1)(αρ-ε)) (1-1/α)^α / (α-1), for every α > 1 (Canonne et al. 2020)."""
    r, e = float(rho), float(epsilon)
    alpha = _best_order(lambda a: (a - 1) * (a * r - e) + a * math.log1p(-1 / a) - math.log(a - 1))
    with working_precision():
        a = ball(alpha)
        log_delta = (a - 1) * (a * ball(rho) - ball(epsilon)) + a * (1 - 1 / a).log() - (a - 1).log()
        return round_up(min(upper(log_delta.exp()), Fraction(1)), 400)


def concentrated_epsilon(rho: Fraction, delta: Fraction) -> Fraction:
    """The same theorem solved for ε."""
    r, tail = float(rho), float(delta)
    alpha = _best_order(lambda a: a * r + _order_cost(a, tail))
    return renyi_epsilon(alpha, alpha * rho, delta)


def renyi_epsilon(alpha: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """(α, ε)-Rényi privacy implies (ε + ln(1-1/α) - (ln δ + ln α)/(α-1), δ) (Canonne, Kamath, Steinke 2020)."""
    with working_precision():
        a = ball(alpha)
        cost = (1 - 1 / a).log() - (ball(delta).log() + a.log()) / (a - 1)
        return max(round_up(upper(ball(epsilon) + cost)), Fraction(0))


def gaussian_delta(mu: Fraction, epsilon: Fraction) -> Fraction:
    """μ-GDP is exactly δ = Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ) (Balle and Wang 2018, Dong et al. 2022)."""
    with working_precision(400):
        m, e = ball(mu), ball(epsilon)
        delta = normal_cdf(m / 2 - e / m) - e.exp() * normal_cdf(-m / 2 - e / m)
        return round_up(min(max(upper(delta), Fraction(0)), Fraction(1)), 400)


def least_epsilon(delta_at: Callable[[Fraction], Fraction], delta: Fraction) -> Fraction:
    """The least ε ≥ 0, to within 2^-48 upwards, where a falling curve ``delta_at`` is at or below ``delta``."""
    if delta_at(Fraction(0)) <= delta:
        return Fraction(0)
    high = Fraction(1)
    while delta_at(high) > delta:
        high *= 2
        if high > _LARGEST_EPSILON:
            raise OutOfReach("no finite epsilon reaches this delta", float(delta))
    low = Fraction(0)
    while high - low > _EPSILON_STEP:
        middle = (low + high) / 2
        low, high = (low, middle) if delta_at(middle) <= delta else (middle, high)
    return high


def _order_cost(alpha: float, delta: float) -> float:
    return math.log1p(-1 / alpha) - (math.log(delta) + math.log(alpha)) / (alpha - 1)


def _best_order(objective: Callable[[float], float]) -> Fraction:
    """A good α > 1 by golden-section search over ln(α - 1); every α is valid, a bad one is only less tight."""
    low, high = -20.0, 40.0
    golden = (math.sqrt(5) - 1) / 2
    for _ in range(80):
        left, right = high - golden * (high - low), low + golden * (high - low)
        if _at(objective, left) <= _at(objective, right):
            high = right
        else:
            low = left
    return 1 + Fraction(round(math.exp((low + high) / 2) * 2**32) or 1, 2**32)


def _at(objective: Callable[[float], float], log_order: float) -> float:
    try:
        return objective(1 + math.exp(log_order))
    except (OverflowError, ValueError):
        return math.inf
