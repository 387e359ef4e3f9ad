"""Which frequency oracle to use: the one with the least variance, and what the others would cost.

>>> best_randomizer(epsilon=1, domain_size=100).kind
'subset'
>>> best_randomizer(epsilon=1, domain_size=100, most_bytes=1).kind
'hadamard'
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import OutOfReach
from discreet.exact.rational import Number, integer, positive
from discreet.local.categories import MOST_CATEGORIES, Categories
from discreet.local.frequency import FrequencyOracle
from discreet.local.grr import GeneralizedResponse
from discreet.local.hadamard import HadamardResponse
from discreet.local.local_hashing import LocalHashing
from discreet.local.subset import SubsetSelection
from discreet.local.unary import OptimalUnary, SymmetricUnary

__all__ = ["Candidate", "Choice", "best_randomizer"]

# In the order that breaks ties: the simpler one first.
_ORACLES: dict[type[FrequencyOracle], tuple[str, str]] = {
    GeneralizedResponse: ("generalised randomized response", "a count each"),
    HadamardResponse: ("Hadamard response", "a count each, a transform"),
    LocalHashing: ("local hashing", "k additions each"),
    OptimalUnary: ("optimal unary encoding", "k/8 counts each"),
    SymmetricUnary: ("symmetric unary encoding", "k/8 counts each"),
    SubsetSelection: ("subset selection", "k/8 counts each"),
}
_SAME = 1e-9  # variances closer than this are equal: they are computed in floats


@dataclass(frozen=True)
class Candidate:
    """One oracle at this ε and number of categories."""

    oracle: type[FrequencyOracle]
    """The class."""
    name: str
    """What it is called."""
    variance: float
    """n times the variance of the estimated share of a rare category."""
    bytes_each: int
    """Bytes of one report."""
    work: str
    """What a server does with them."""

    @property
    def kind(self) -> str:
        """Its name in reports."""
        return self.oracle.kind


@dataclass(frozen=True)
class Choice:
    """The best oracle, the others, and why."""

    epsilon: Fraction
    """The price of a report."""
    domain_size: int
    """How many categories there are."""
    candidates: tuple[Candidate, ...]
    """All of them, the best first, those whose reports are too long last."""
    most_bytes: int | None = None
    """How long a report may be; None for any length."""

    @property
    def best(self) -> Candidate:
        """The one to use."""
        return self.candidates[0]

    @property
    def kind(self) -> str:
        """The kind of the best."""
        return self.best.kind

    def randomizer(self, categories: Iterable[Hashable]) -> FrequencyOracle:
        """The best oracle for these categories, as many as were asked for."""
        named = Categories.named(categories)
        integer(len(named), "the number of categories", least=self.domain_size, most=self.domain_size)
        return self.best.oracle(self.epsilon, named)

    @property
    def why(self) -> str:
        """The reason in words."""
        best = self.best
        first = f"{best.name.capitalize()} has the least variance: {best.variance:.3g}/n for a rare category."
        if self.most_bytes is not None:
            first = first.replace(":", f" among reports of at most {_bytes(self.most_bytes)}:")
        return " ".join([first, *self._rivals(), self._rule()])

    def _rivals(self) -> list[str]:
        """What a smaller report would cost, where there is one."""
        smaller = [one for one in self.candidates[1:] if one.bytes_each < self.best.bytes_each]
        if not smaller:
            return []
        near = smaller[0]
        more = near.variance / self.best.variance
        times = f"{more:.1f} times as much" if more >= 2 else f"{max(100 * (more - 1), 0.1):.1f} % more"
        said = f"{near.name.capitalize()} would need {_bytes(near.bytes_each)} in place of {self.best.bytes_each}"
        return [f"{said} and have {times}."]

    def _rule(self) -> str:
        turn = 3 * math.exp(min(float(self.epsilon), 700.0)) + 2
        so = "so here" if self.domain_size < turn else "so not here"
        rule = f"beats unary encoding where there are fewer than 3e^ε + 2 = {turn:.3g} categories"
        return f"Generalised randomized response {rule}, {so}: there are {self.domain_size}."

    def table(self) -> str:
        """All candidates, for a terminal."""
        width = max(len(one.name) for one in self.candidates)
        lines = [f"{'':<{width}}  n·variance  bytes  server"]
        for one in self.candidates:
            lines += [f"{one.name:<{width}}  {one.variance:10.4g}  {one.bytes_each:5d}  {one.work}"]
        return "\n".join(lines)

    def __str__(self) -> str:
        return f"{self.why}\n\n{self.table()}"


def best_randomizer(epsilon: Number, domain_size: int, *, most_bytes: int | None = None) -> Choice:
    """The oracle with the least variance for a rare category, perhaps among those with reports this short."""
    price = positive(epsilon, "epsilon")
    size = integer(domain_size, "domain_size", least=2, most=MOST_CATEGORIES)
    limit = None if most_bytes is None else integer(most_bytes, "most_bytes", least=1)
    categories = Categories.named(range(size))
    found = [_candidate(oracle, price, categories) for oracle in _ORACLES]
    found.sort(key=lambda one: (one.variance, one.bytes_each))
    least = min((one.variance for one in found if _fits(one, limit)), default=None)
    if least is None:
        shortest = min(one.bytes_each for one in found)
        raise OutOfReach(f"reports must have at least {shortest} bytes", limit, f"most_bytes={shortest}")
    best = min((one for one in found if _fits(one, limit) and one.variance <= least * (1 + _SAME)), key=_simplicity)
    rest = [one for one in found if one is not best]
    return Choice(price, size, (best, *sorted(rest, key=lambda one: not _fits(one, limit))), limit)


def _candidate(oracle: type[FrequencyOracle], epsilon: Fraction, categories: Categories) -> Candidate:
    name, work = _ORACLES[oracle]
    randomizer = oracle(epsilon, categories)
    return Candidate(oracle, name, randomizer.estimator.variance(1), randomizer.terms.bytes_each, work)


def _fits(one: Candidate, limit: int | None) -> bool:
    return limit is None or one.bytes_each <= limit


def _simplicity(one: Candidate) -> tuple[int, int]:
    return one.bytes_each, list(_ORACLES).index(one.oracle)


def _bytes(count: int) -> str:
    return "1 byte" if count == 1 else f"{count} bytes"
