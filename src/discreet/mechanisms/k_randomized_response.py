"""Categorical response: randomized response with k possible answers (k-RR, direct encoding, GRR).

Promise. Each report is the true category with probability e^ε/(e^ε + k - 1) and one given other category with
probability 1/(e^ε + k - 1), independently for each respondent. Replacing one respondent's answer costs pure ε, for
every ε > 0 and every list of k ≥ 2 categories, with no trusted curator. Proof sheet: ``k_randomized_response.md``.

>>> party = CategoricalResponse(epsilon=1, categories=["red", "green", "blue"])
>>> print(party.distribution("green"))
green  0.5761
red    0.2119
blue   0.2119
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidType, InvalidValue
from discreet.exact.grid import Integers
from discreet.exact.rational import Number, integer, probability
from discreet.mechanisms.distribution import Distribution, FiniteLaw, Many, ProductLaw
from discreet.mechanisms.measurement import Measurement
from discreet.mechanisms.randomized_response import MOST_REPORTS, Debias, Honesty
from discreet.mechanisms.selection import named_once
from discreet.noise.law import open_probability
from discreet.noise.source import SYSTEM, Source, Stream
from discreet.noise.uniform import UniformInteger
from discreet.privacy.loss import Pure
from discreet.privacy.loss_distribution import LossDistribution

__all__ = ["CategoricalResponse"]


class CategoricalResponse(Measurement):
    """One category per respondent, kept or replaced by another one."""

    categories: tuple[Hashable, ...]
    """Every possible answer, fixed before any data is seen."""

    def __init__(self, epsilon: Number, categories: Iterable[Hashable]) -> None:
        """Choose the price ``epsilon`` and name the categories."""
        self._name(categories)
        self.honesty = Honesty.priced(epsilon, len(self.categories))

    @classmethod
    def truth(cls, p: Number, categories: Iterable[Hashable]) -> CategoricalResponse:
        """Truth with the rational probability ``p``, strictly between 1/k and 1; costs ln(p (k-1)/(1-p))."""
        response = cls.__new__(cls)
        response._name(categories)
        response.honesty = Honesty.telling(p, len(response.categories))
        return response

    def _name(self, categories: Iterable[Hashable]) -> None:
        self.categories = named_once(categories, "categories", least=2)
        self._position = {category: index for index, category in enumerate(self.categories)}

    def __repr__(self) -> str:
        return f"CategoricalResponse({self.loss!r}, {len(self.categories)} categories)"

    @cached_property
    def loss(self) -> Pure:
        """Pure ε for one report of each respondent, under replace-one."""
        return self.honesty.loss

    def release(self, value: Any, *, source: Source = SYSTEM) -> Any:
        """A reported category for one true category; for a list or an array of them, as many reports."""
        truths = self._positions(value)
        return self._named(self.respond(truths, source.open()), value)

    def respond(self, truths: Integers, stream: Stream) -> Integers:
        """Reported positions for true positions among the categories, each from 0 to k - 1."""
        lies = self.honesty.lies(truths.size, stream)
        # The other answer is drawn for everybody, so that the time tells nothing about who lied.
        others = UniformInteger(len(self.categories) - 1).draw(truths.size, stream)
        others += others >= truths
        return np.where(lies, others, truths)

    def releases(self, value: Any, count: int, *, source: Source = SYSTEM) -> Many:
        """``count`` independent releases, each at the full price: for audits and studies."""
        truths = self._positions(value)
        reports = self.respond(np.tile(truths, count), source.open())
        if not _is_many(value):
            return Many(self.categories, reports)
        return Many.of_rows(reports.reshape(count, len(truths)), lambda row: [self.categories[k] for k in row])

    def distribution(self, value: Any) -> Distribution:
        """The exact law of the report or, for several answers, of the reports side by side."""
        truths = self._positions(value)
        laws = tuple(self._law(int(truth)) for truth in truths)
        return ProductLaw(laws) if _is_many(value) else laws[0]

    def _law(self, truth: int) -> FiniteLaw:
        kept, other, _ = self.honesty.rates()
        masses = tuple(kept if k == truth else other for k in range(len(self.categories)))
        return FiniteLaw(self.categories, masses)

    def loss_distribution(self) -> LossDistribution:
        """The privacy-loss distribution: ±ε where the report is one of the two true answers compared, else 0."""
        kept, other, _ = map(float, self.honesty.rates())
        size = float(self.loss.epsilon) * (1 + 2.0**-50)
        masses = [kept, other * (len(self.categories) - 2), other]
        return LossDistribution(np.asarray([size, 0.0, -size]), np.asarray(masses))

    # What the reports say about the crowd.

    def estimate_counts(self, reports: Sequence[Hashable]) -> dict[Hashable, float]:
        """How many hold each category in truth; unbiased, so single counts may be negative."""
        reported, n = self._reported(reports)
        return {c: self._debias.estimate(count, n) for c, count in reported.items()}

    def estimate_frequencies(self, reports: Sequence[Hashable]) -> dict[Hashable, float]:
        """The share of each category in truth; unbiased, and summing to 1."""
        n = self._at_least_one(reports)
        return {c: count / n for c, count in self.estimate_counts(reports).items()}

    def intervals(
        self, reports: Sequence[Hashable], confidence: Number = 0.95, *, together: bool = False
    ) -> dict[Hashable, tuple[float, float]]:
        """The share of each category among those who answered: each covers the truth with at least this confidence.

        With ``together`` all of them cover at once, by the union bound.
        """
        n = self._at_least_one(reports)
        wanted = open_probability(confidence, "confidence")
        each = 1 - (1 - wanted) / len(self.categories) if together else wanted
        spans = {c: self._debias.interval(count, n, each) for c, count in self._reported(reports)[0].items()}
        return {c: (low / n, high / n) for c, (low, high) in spans.items()}

    def variance(self, n: int, share: Number = 0) -> float:
        """The variance of one estimated frequency: q(1-q)/(n(p-q)²) + f(1-p-q)/(n(p-q)) for a true share f."""
        size = integer(n, "n", least=1, most=MOST_REPORTS)
        return (self._debias.deviation(size, float(probability(share, "share"))) / size) ** 2

    def standard_deviation(self, n: int, share: Number = 0) -> float:
        """The standard deviation of one estimated frequency over ``n`` reports."""
        return float(self.variance(n, share) ** 0.5)

    def error(self, confidence: Number = 0.95, reports: int = 1) -> float:
        """How far one estimated count over ``reports`` may be off, by Hoeffding's bound."""
        n = integer(reports, "reports", least=1, most=MOST_REPORTS)
        return self._debias.error(n, open_probability(confidence, "confidence"))

    @cached_property
    def _debias(self) -> Debias:
        return Debias(*map(float, self.honesty.rates()))

    def _reported(self, reports: Sequence[Hashable]) -> tuple[dict[Hashable, int], int]:
        found = Counter(self._positions(_many(reports)).tolist())
        return {c: found[k] for k, c in enumerate(self.categories)}, found.total()

    def _at_least_one(self, reports: Sequence[Hashable]) -> int:
        count = len(_many(reports))
        if count == 0:
            raise InvalidValue("a share needs at least one report", "<none>")
        return count

    def _positions(self, value: Any) -> Integers:
        listed = _list(value) if _is_many(value) else [value]
        try:
            return np.asarray([self._position[category] for category in listed], dtype=np.int64)
        except (KeyError, TypeError):
            rule = "each answer must be one of the categories"
            raise InvalidValue(rule, "<another answer>", "add a category such as 'other' before collecting") from None

    def _named(self, positions: Integers, value: Any) -> Any:
        names = [self.categories[k] for k in positions.tolist()]
        if isinstance(value, np.ndarray):
            return _array(names, like=self.categories)
        return names if _is_many(value) else names[0]


def _array(names: list[Hashable], like: tuple[Hashable, ...]) -> npt.NDArray[Any]:
    """An array of the categories' own type: one of them can be longer than all true answers."""
    is_uniform = {type(category) for category in like} in ({str}, {int}, {float})
    found = np.empty(len(names), np.asarray(like).dtype if is_uniform else object)
    found[:] = names
    return found


def _is_many(value: Any) -> bool:
    return isinstance(value, (list, np.ndarray))


def _many(reports: Sequence[Hashable]) -> Sequence[Hashable]:
    if isinstance(reports, (str, bytes)) or not isinstance(reports, Iterable):
        raise InvalidType("reports must be a list or an array", reports)
    return reports if _is_many(reports) else list(reports)


def _list(value: Any) -> list[Any]:
    if isinstance(value, np.ndarray) and value.ndim != 1:
        raise InvalidType("several answers must form a flat list or array", f"<shape {value.shape}>")
    return list(value.tolist()) if isinstance(value, np.ndarray) else list(value)
