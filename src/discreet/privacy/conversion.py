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
from discreet.exact.ball import BITS, Ball, ball, ln_up, normal_cdf, round_up, upper, working_precision
from discreet.privacy.format import shown

__all__ = [
    "best_order",
    "concentrated_delta",
    "concentrated_epsilon",
    "gaussian_delta",
    "gaussian_epsilon",
    "least_epsilon",
    "probability_up",
    "pure_delta",
    "pure_epsilon",
    "renyi_delta",
    "renyi_epsilon",
]


_EPSILON_STEP = Fraction(1, 2**48)
_LARGEST_EPSILON = 2**100
_DELTA_BITS = 400
_LN_2 = Fraction(7, 10)  # a little more than ln 2


def probability_up(log: Ball, bits: int = _DELTA_BITS) -> Fraction:
    """A multiple of 2^-bits at or above e^log, at most 1; what is smaller becomes 2^-bits, never 0.

    Works on the logarithm because e^(-10^20) as a rational would fill the memory.
    """
    if not log < 0:
        return Fraction(1)
    if log < ball(-_LN_2 * bits):
        return Fraction(1, 2**bits)
    return min(round_up(upper(log.exp()), bits), Fraction(1))


def pure_delta(epsilon: Fraction, delta: Fraction, wanted: Fraction) -> Fraction:
    """The δ at ``wanted`` of any (ε, δ) mechanism: randomized response is the worst (Kairouz, Oh, Viswanath 2015)."""
    if wanted >= epsilon:
        return delta
    with working_precision():
        gap = -(ball(wanted - epsilon).expm1())  # (e^ε - e^w) / (1 + e^ε), divided through by e^ε
        found = upper(ball(delta) + ball(1 - delta) * gap / (1 + ball(-epsilon).exp()))
        return min(round_up(found, _DELTA_BITS), Fraction(1))


def pure_epsilon(epsilon: Fraction, delta: Fraction, wanted: Fraction) -> Fraction:
    """The least ε at δ = ``wanted`` of any (ε, δ) mechanism; the curve above, solved for ε."""
    if wanted < delta:
        raise OutOfReach(f"delta must be at least {shown(delta)}, the loss's own", float(wanted))
    if wanted == delta:
        return epsilon
    share = (wanted - delta) / (1 - delta)
    with working_precision():
        kept = upper(1 - ball(share) * (1 + ball(-epsilon).exp()))  # e^(answer - ε)
        answer = epsilon + upper(ball(kept).log()) if kept > 0 else Fraction(0)
    return min(max(round_up(answer), Fraction(0)), epsilon)


def concentrated_delta(rho: Fraction, epsilon: Fraction) -> Fraction:
    """ρ-zCDP implies (ε, δ) with δ = e^((α-1)(αρ-ε)) (1-1/α)^α / (α-1), for every α > 1 (Canonne et al. 2020)."""
    r, e = float(rho), float(epsilon)
    alpha = _best_order(lambda t: t * ((1 + t) * r - e) + _log_factor(t))
    return renyi_delta(alpha, alpha * rho, epsilon)


def concentrated_epsilon(rho: Fraction, delta: Fraction) -> Fraction:
    """The same theorem solved for ε."""
    alpha = best_order(rho, delta)
    return renyi_epsilon(alpha, alpha * rho, delta)


def best_order(rho: Fraction, delta: Fraction) -> Fraction:
    """The order at which ρ-zCDP becomes about the least ε at δ; every order proves one."""
    r, tail = float(rho), float(ln_up(delta))
    return _best_order(lambda t: t * r + (_log_factor(t) - tail) / t)


def renyi_delta(alpha: Fraction, divergence: Fraction, epsilon: Fraction) -> Fraction:
    """(α, d)-Rényi privacy implies (ε, δ) with δ = e^((α-1)(d-ε)) (1-1/α)^α / (α-1) (Canonne et al. 2020)."""
    with working_precision():
        a, above = ball(alpha), ball(alpha - 1)
        return probability_up(above * ball(divergence - epsilon) + a * (above / a).log() - above.log())


def renyi_epsilon(alpha: Fraction, divergence: Fraction, delta: Fraction) -> Fraction:
    """(α, d)-Rényi privacy implies (d + ln(1-1/α) - (ln δ + ln α)/(α-1), δ) (Canonne, Kamath, Steinke 2020)."""
    with working_precision():
        a, above = ball(alpha), ball(alpha - 1)
        cost = (above / a).log() - (ball(delta).log() + a.log()) / above
        return max(round_up(upper(ball(divergence) + cost)), Fraction(0))


def gaussian_delta(mu_squared: Fraction, epsilon: Fraction, bits: int = _DELTA_BITS) -> Fraction:
    """μ-GDP is exactly δ = Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ) (Balle and Wang 2018, Dong et al. 2022)."""
    if mu_squared == 0:
        return Fraction(0)
    with working_precision(bits + 2 * BITS):
        m, e = ball(mu_squared).sqrt(), ball(epsilon)
        delta = normal_cdf(m / 2 - e / m) - e.exp() * normal_cdf(-m / 2 - e / m)
        least = Fraction(1, 2**bits)
        if not delta.is_finite():
            return Fraction(1)
        return least if delta < ball(least) else min(round_up(upper(delta), bits), Fraction(1))


def gaussian_epsilon(mu_squared: Fraction, delta: Fraction) -> Fraction:
    """The same curve solved for ε, with enough bits to tell deltas of the size asked for."""
    bits = max(_DELTA_BITS, 64 + delta.denominator.bit_length())
    return least_epsilon(lambda epsilon: gaussian_delta(mu_squared, epsilon, bits), delta)


def least_epsilon(delta_at: Callable[[Fraction], Fraction], delta: Fraction) -> Fraction:
    """The least ε ≥ 0, to within 2^-48 upwards, where a falling curve ``delta_at`` is at or below ``delta``."""
    if delta_at(Fraction(0)) <= delta:
        return Fraction(0)
    low, high = Fraction(0), Fraction(1)
    while delta_at(high) > delta:
        low, high = high, 2 * high
        if high > _LARGEST_EPSILON:
            raise OutOfReach("no epsilon up to 2^100 reaches this delta", shown(delta))
    while high - low > _EPSILON_STEP:
        middle = (low + high) / 2
        low, high = (low, middle) if delta_at(middle) <= delta else (middle, high)
    return high


def _log_factor(above: float) -> float:
    """ln((1-1/α)^α / (α-1)) for α = 1 + above, accurate at both ends."""
    return (1 + above) * -math.log1p(1 / above) - math.log(above)


def _best_order(objective: Callable[[float], float]) -> Fraction:
    """A good α > 1 by golden-section search over ln(α - 1); every α is valid, a bad one is only less tight."""
    low, high = -80.0, 80.0
    golden = (math.sqrt(5) - 1) / 2
    for _ in range(80):
        left, right = high - golden * (high - low), low + golden * (high - low)
        if objective(math.exp(left)) <= objective(math.exp(right)):
            high = right
        else:
            low = left
    return 1 + Fraction(math.exp((low + high) / 2))
