"""Shuffling: reports whose senders nobody knows say less about each of them than the same reports with names.

Promise. Let each of n people send one report of a randomizer that costs pure ε₀, the same for all, and let somebody
mix the reports so that nobody can tell whose is whose. Then what is published is (ε, δ)-private under replace-one, with
the ε that `shuffle` states for this δ: the least that the theorem of Feldman, McMillan and Talwar (2021) proves,
rounded up. Proof sheet: ``shuffling.md``.

>>> shuffle(100_000, 4, 1e-6)
Amplification(n=100000, local=Pure(ε=4, replace-one), central=Approximate(ε=0.16979, δ=1e-06, replace-one))
>>> closed_form(100_000, 4, 1e-6)
Approximate(ε=0.53464, δ=1e-06, replace-one)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.ball import ball, lower, round_up, upper, working_precision
from discreet.exact.grid import Integers
from discreet.exact.rational import Number, integer, positive
from discreet.noise.law import Floats, open_probability
from discreet.privacy.loss import Approximate, Pure
from discreet.privacy.neighbours import Neighbours

__all__ = ["MOST_PEOPLE", "Amplification", "closed_form", "delta_of_shuffle", "largest_local", "shuffle"]


MOST_PEOPLE = 10**10
"""Up to here the binomial tails below were compared with balls."""

_FLOAT_SLACK = 1e-9  # relative; the tails are good to 4e-11, see the sheet
_EDGE_SLACK = 2.0**-48  # what a k that is off by one, where t (c + 1) is nearly whole, can change
_REACH = 12  # deviations of a binomial variable beyond which less than 1e-30 is left
_PIECES = 1024
_HALVINGS = 40
_FURTHEST = 700  # beyond it e^ε₀ is no float, and shuffling helps nobody


@dataclass(frozen=True)
class Amplification:
    """What shuffling makes of a local loss."""

    n: int
    """How many people send a report each."""
    local: Pure
    """What a report costs before it is mixed with the others."""
    central: Approximate
    """What the mixed reports cost."""

    @property
    def factor(self) -> float:
        """How many times smaller ε becomes."""
        return float(self.local.epsilon / self.central.epsilon) if self.central.epsilon else math.inf


def shuffle(n: int, epsilon: Number | Pure, delta: Number) -> Amplification:
    """The least (ε, δ) that is proved for ``n`` mixed reports of ``epsilon`` each; never worse than ``epsilon``."""
    people, local, wanted = _checked(n, epsilon, delta)
    found = local
    if _delta(people, _above(local), 0.0) <= wanted:
        found = Fraction(0)
    else:
        low, high = 0.0, float(local)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if _delta(people, _above(local), middle) <= wanted:
                high, found = middle, min(Fraction(middle), local)
            else:
                low = middle
    relation = Neighbours.REPLACE_ONE
    return Amplification(people, Pure(local, relation), Approximate(found, wanted, relation))


def largest_local(n: int, central: Number, delta: Number) -> Pure:
    """The largest ε that each of ``n`` people may spend so that the mixed reports cost (``central``, ``delta``)."""
    people, target, wanted = _checked(n, central, delta)
    low, high = target, min(2 * target + 2 * math.ceil(math.log(people + 1)), Fraction(_FURTHEST))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _delta(people, _above(middle), float(target)) <= wanted else (low, middle)
    return Pure(Fraction(math.nextafter(float(low), 0.0)) if low > target else target, Neighbours.REPLACE_ONE)


def closed_form(n: int, epsilon: Number | Pure, delta: Number) -> Approximate:
    """ln(1 + (e^ε₀ - 1)/(e^ε₀ + 1) · (8√(e^ε₀ ln(4/δ)/n) + 8e^ε₀/n)), rounded up: for hand calculation and plots.

    The theorem asks for ε₀ ≤ ln(n/(16 ln(2/δ))); what lies outside is refused. `shuffle` is three to five times
    better and needs no condition.
    """
    people, local, wanted = _checked(n, epsilon, delta)
    with working_precision():
        e, failure = ball(local).exp(), ball(wanted)
        if upper(e * 16 * (2 / failure).log()) > people:
            most = lower((people / (16 * (2 / failure).log())).log())
            reach = f"for a local ε of at most {float(most):.4g}" if most > 0 else "for no local ε"
            rule = f"the closed form is proved {reach} at this n and δ"
            raise InvalidValue(rule, float(local), "use shuffle, or wait for more people")
        spread = 8 * (e * (4 / failure).log() / people).sqrt() + 8 * e / people
        found = round_up(upper(((e - 1) / (e + 1) * spread + 1).log()))
    return Approximate(found, wanted, Neighbours.REPLACE_ONE)


def delta_of_shuffle(n: int, epsilon: Number | Pure, central: Number) -> float:
    """The δ that is proved at the central ε ``central``, rounded up: the whole curve of `shuffle`."""
    people, local, _ = _checked(n, epsilon, Fraction(1, 2))
    target = float(positive(central, "central")) if central else 0.0
    return 0.0 if target >= _above(local) else min(_delta(people, _above(local), target), 1.0)


def _above(local: Fraction) -> float:
    """A float that is not below: a greater local ε covers a smaller one."""
    return math.nextafter(float(local), math.inf)


def _delta(n: int, local: float, central: float) -> float:
    """An upper bound of the hockey-stick divergence: the mean over the number of clones C, a binomial variable.

    δ given C = c falls with c, so within each piece the least c stands for all, and nothing below the first piece is
    trusted: there δ counts as 1.
    """
    from scipy.stats import binom  # noqa: PLC0415  an import of a fifth of a second, for those who need it

    starts = _pieces(n - 1, math.exp(-local))
    below = binom.cdf(starts - 1, n - 1, math.exp(-local))
    shares = np.diff(np.append(below, 1.0))
    first, second = _parts_given(starts, local, central)
    bound = first * (1 + _FLOAT_SLACK) - second * (1 - _FLOAT_SLACK)
    return float((shares * np.maximum(bound, 0.0)).sum() * (1 + _FLOAT_SLACK) + below[0])


def _pieces(trials: int, chance: float) -> Integers:
    """The first numbers of pieces of 0..trials that together leave out less than 1e-30 at the lower end."""
    reach = _REACH * math.sqrt(trials * chance * (1 - chance)) + 12 * _REACH
    low, high = max(math.floor(trials * chance - reach), 0), min(math.ceil(trials * chance + reach), trials)
    return np.unique(np.linspace(low, high, min(high - low + 1, _PIECES)).astype(np.int64))


def _parts_given(clones: Integers, local: float, central: float) -> tuple[Floats, Floats]:
    """δ given the number of clones c, as a difference of two positive numbers.

    Of c + 1 reports a look like the one neighbour's. Their ratio exceeds e^ε where a > t (c + 1), and there
    δ = (e^ε₀ - e^ε)/(e^ε₀ + 1) P(B = k - 1) - (e^ε - 1) P(B ≥ k), B ~ Bin(c, 1/2), k the least such a.
    """
    from scipy.stats import binom  # noqa: PLC0415

    missing, grown = -math.expm1(-local), math.expm1(central)  # 1 - e^-ε₀ and e^ε - 1
    edge = (grown + missing) / (missing * (grown + 2))
    least = np.floor(edge * (clones + 1)).astype(np.int64) + 1
    weight = -math.expm1(central - local) / (2 - missing) + _EDGE_SLACK * (grown + 1)
    inside, beyond = binom.pmf(least - 1, clones, 0.5), binom.sf(least - 1, clones, 0.5)
    return weight * np.asarray(inside), grown * np.asarray(beyond)


def _checked(n: int, epsilon: Number | Pure, delta: Number) -> tuple[int, Fraction, Fraction]:
    people = integer(n, "n", least=1, most=MOST_PEOPLE)
    local = epsilon.epsilon if isinstance(epsilon, Pure) else positive(_number(epsilon), "epsilon")
    if not 0 < local <= _FURTHEST:
        raise InvalidValue(f"the local ε must lie between 0 and {_FURTHEST}", float(local))
    return people, local, open_probability(delta, "delta")


def _number(epsilon: Number | Pure) -> Number:
    if isinstance(epsilon, Approximate):
        raise InvalidType("the theorem is about pure local losses", epsilon, "pass the ε of one report")
    return epsilon  # type: ignore[return-value]
