"""How far the noise of many groups carries their sum: much less than every group at its worst.

Claim. Let n groups each have the noise Σ fⱼXⱼ, all X independent. With probability c, at least, the sum over the groups
is off by at most max(√(n·p), r), where L = ln(2 / (1 - c)), and
- for discrete Laplace noise of scale b: p = 8 ln 2 · L · b² Σfⱼ² and r = 2√2 · L · b · max|fⱼ|;
- for discrete Gaussian noise of parameter σ²: p = 2L · σ² Σfⱼ² and r = 0.

Proof. By Chernoff's bound the sum S passes t with probability at most e^(-st) E e^(sS), for every s > 0, and by
symmetry passes it in either direction with at most twice that.

Laplace: E e^(sX) = (cosh(1/b) - 1) / (cosh(1/b) - cosh s) for |s| < 1/b. Since (cosh x - 1) / x² grows with x > 0, this
is at most 1 / (1 - b²s²), and so at most e^(2 ln 2 · b²s²) where b²s² ≤ 1/2, because -ln(1 - x) is convex and meets the
line 2 ln 2 · x at 0 and 1/2. So S passes t with probability at most 2e^(-st + qs²), with q = 2 ln 2 · n · b² Σfⱼ², for
s up to e = 1 / (√2 · b · max|fⱼ|). This is 1 - c for t = L/s + qs. Take s = √(L/q) where that is at most e: then
t = 2√(qL) = √(n·p). Otherwise take s = e, where qs < L/s, so that t is less than 2L/e = r.

Gaussian: E e^(sX) ≤ e^(s²σ²/2) (Canonne, Kamath and Steinke, 2020), and t = √(n·p) by the same steps, with no limit
on s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.noise.laplace import DiscreteLaplace
from discreet.query.answer_table import linear_form
from discreet.query.block import Aggregate
from discreet.query.forms import Form, Noise
from discreet.query.plan import BlockPlan

__all__ = ["Spread", "linear_noise", "spread"]


@dataclass(frozen=True)
class Spread:
    """The reach of a sum over n groups: the larger of √(n · square) and least."""

    square: float
    least: float

    def reach(self, groups: int) -> float:
        """How far the sum over this many groups may be off."""
        return max(math.sqrt(groups * self.square), self.least)


def spread(form: Form, noise: Noise, confidence: float) -> Spread:
    """The spread of a sum over groups, at this confidence."""
    length = math.log(2 / (1 - confidence))
    sizes = [abs(float(factor)) for factor in form.factors]
    squares = sum(size * size for size in sizes)
    if isinstance(noise, DiscreteLaplace):
        scale = float(noise.scale)
        return Spread(8 * math.log(2) * length * scale**2 * squares, math.sqrt(8) * length * scale * max(sizes))
    return Spread(2 * length * float(noise.squared) * squares, 0.0)


def linear_noise(plan: BlockPlan, aggregate: Aggregate) -> tuple[Form, Noise] | None:
    """What an aggregate's noise is made of, where groups are public and it is a sum of noises; else None."""
    found = None if plan.releases_keys else linear_form(plan, aggregate)
    return None if found is None else (found[1], plan.parts[found[0]].noise)
