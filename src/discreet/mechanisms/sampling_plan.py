"""How many times to sample a sensitivity, and which order statistic to take, for a wanted γ.

Three proofs that the k-th smallest of m sampled moves bounds a fresh one but for γ: ``dkw`` by the inequality of
Dvoretzky, Kiefer and Wolfowitz (the paper's), ``exact`` by exchangeability (the fewest samples), ``conditional`` by the
binomial law (for an estimate that is used again and again). Proof sheet: ``sensitivity_sampler.md``.

>>> SamplingPlan.of("dkw", gamma="0.1")
SamplingPlan(samples=285, order=285, gamma=0.1, rho=0.00974, method='dkw')
>>> SamplingPlan.of("exact", gamma="0.1").samples, SamplingPlan.of("conditional", gamma="0.1").samples
(9, 49)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from scipy.special import lambertw
from scipy.stats import binom

from discreet.errors import InvalidType, InvalidValue, OutOfReach
from discreet.exact.ball import Ball, ball, round_up, upper, working_precision
from discreet.exact.rational import Number, integer
from discreet.mechanisms.turning_point import turning_point
from discreet.noise.law import open_probability

__all__ = ["SamplingPlan"]

_MOST_SAMPLES = 2**40
_GAMMA_STEP = Fraction(1, 2**30)
_FLOAT_SLACK = 1e-9


@dataclass(frozen=True, repr=False)
class SamplingPlan:
    """m samples, of which the k-th smallest is taken."""

    samples: int
    """m, the number of sampled pairs of neighbours."""
    order: int
    """k, which of the sorted moves is the estimate; never above m."""
    gamma: Fraction
    """The probability that a random pair of neighbours moves further than the estimate."""
    rho: Fraction | None
    """The part of γ that is spent on an unlucky sample; None where the proof is joint."""
    method: str
    """``dkw``, ``exact`` or ``conditional``."""

    def __post_init__(self) -> None:
        if not 1 <= self.order <= self.samples:
            rule = f"{self.samples} samples must be enough for gamma = {float(self.gamma):g}"
            raise OutOfReach(rule, f"<order {self.order}>", "take more samples or a larger gamma")

    def __repr__(self) -> str:
        rho = None if self.rho is None else f"{float(self.rho):.3g}"
        parts = f"samples={self.samples}, order={self.order}, gamma={float(self.gamma):.4g}, rho={rho}"
        return f"SamplingPlan({parts}, method={self.method!r})"

    @classmethod
    def manual(cls, samples: int, order: int) -> SamplingPlan:
        """The ``order``-th smallest of so many ``samples``, with the γ = 1 - k/(m+1) that exchangeability proves."""
        m = integer(samples, "samples", least=1, most=_MOST_SAMPLES)
        k = integer(order, "order", least=1, most=m)
        return cls(m, k, 1 - Fraction(k, m + 1), None, "exact")

    @classmethod
    def of(cls, method: str, gamma: Number | None = None, samples: int | None = None) -> SamplingPlan:
        """The plan for γ with the fewest samples, for m with the least γ, or for both with the least order."""
        plans = {"dkw": _dkw, "exact": _exact, "conditional": _conditional}
        if method not in plans:
            raise InvalidValue(f"method must be one of {', '.join(plans)}", method)
        if gamma is None and samples is None:
            raise InvalidType("a plan needs gamma=, samples=, or both", "<neither>")
        wanted = None if gamma is None else open_probability(gamma, "gamma")
        count = None if samples is None else integer(samples, "samples", least=1, most=_MOST_SAMPLES)
        return plans[method](wanted, count)


def _dkw(gamma: Fraction | None, samples: int | None) -> SamplingPlan:
    """Rubinstein and Aldà's theorem; every ρ below min(γ, ½) is valid, and Lambert's W gives the best one."""
    if samples is None and gamma is not None:
        rho = Fraction(math.exp(_lower_branch(-float(gamma) / (2 * math.sqrt(math.e))) + 0.5))
        with working_precision():
            samples = math.ceil(upper(-ball(rho).log() / (2 * ball(gamma - rho) ** 2)))
    else:
        rho = Fraction(math.exp(_lower_branch(-1 / (4 * (samples or 1))) / 2))
    m = samples or 1
    with working_precision():
        least_gamma = round_up(upper(ball(rho) + _dkw_band(rho, m)))
        gamma = least_gamma if gamma is None else gamma
        order = math.ceil(upper(m * (1 - ball(gamma) + ball(rho) + _dkw_band(rho, m))))
    if gamma >= 1:
        raise OutOfReach("so few samples bound nothing", m, "take more samples")
    # Rounding up γ to state it leaves k at m.
    return SamplingPlan(m, min(order, m) if gamma >= least_gamma else m + 1, gamma, rho, "dkw")


def _dkw_band(rho: Fraction, samples: int) -> Ball:
    return (-ball(rho).log() / (2 * samples)).sqrt()


def _lower_branch(x: float) -> float:
    return float(lambertw(x, -1).real)


def _exact(gamma: Fraction | None, samples: int | None) -> SamplingPlan:
    """A fresh move is equally likely to take each of m + 1 ranks, so it exceeds the k-th with at most 1 - k/(m+1)."""
    if gamma is None:
        gamma = Fraction(1, (samples or 1) + 1)
    m = math.ceil(1 / gamma) - 1 if samples is None else samples
    return SamplingPlan(m, math.ceil((1 - gamma) * (m + 1)), gamma, None, "exact")


def _conditional(gamma: Fraction | None, samples: int | None) -> SamplingPlan:
    """The k-th of m covers 1 - γ' of the law but for ρ; γ = γ' + ρ with ρ = γ/10."""
    if gamma is None:
        gamma = _conditional_gamma(samples or 1)
    rho = gamma / 10
    if samples is None:
        with working_precision():
            samples = math.ceil(upper(ball(rho).log() / ball(1 - gamma + rho).log()))
    return SamplingPlan(samples, _conditional_order(samples, gamma - rho, rho), gamma, rho, "conditional")


def _conditional_order(samples: int, missed: Fraction, rho: Fraction) -> int:
    """The least k with P(Bin(m, 1-γ') ≥ k) ≤ ρ; m + 1 where there is none."""
    if (1 - float(missed)) ** samples > float(rho) * (1 + _FLOAT_SLACK):
        return samples + 1

    def suffices(order: int) -> bool:
        chance = float(binom.sf(order - 1, samples, 1 - float(missed)))
        return order >= samples or chance <= float(rho) * (1 - _FLOAT_SLACK)

    return turning_point(suffices, max(round(samples * (1 - missed)), 1), 16)


def _conditional_gamma(samples: int) -> Fraction:
    def suffices(steps: int) -> bool:
        gamma = steps * _GAMMA_STEP
        with working_precision():
            return bool(samples * ball(1 - gamma * 9 / 10).log() <= ball(gamma / 10).log())

    steps = turning_point(suffices, 2**29, 2**20)
    if steps * _GAMMA_STEP >= 1:
        raise OutOfReach("so few samples bound nothing", samples, "take more samples")
    return steps * _GAMMA_STEP
