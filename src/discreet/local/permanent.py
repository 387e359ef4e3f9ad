"""Permanent randomized response: a person who is asked again and again settles on a lie once, and repeats it.

Fresh noise in every round averages away: after T rounds the loss is T times that of one. Here a device draws a
permanent answer once, by generalised randomized response with ε = `permanent`, and in every round reports that answer
through a second lie with ε = `fresh`, or as it is.

Promise. For two answers that stay the same over all rounds, any number of reports together costs pure `permanent`, and
T of them cost `loss_after(T)`, which is less; one report costs `loss`. An answer that changes needs a new memory, which
costs again, and when it is made must not depend on the answer. Proof sheet: ``permanent.md``.

>>> daily = PermanentResponse(2, 1, ["no", "yes"])
>>> daily.loss, daily.loss_after(365), daily.total
(Pure(ε=0.73533, replace-one), Pure(ε=2, replace-one), Pure(ε=2, replace-one))
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.exact.ball import Ball, ball, round_up, upper, working_precision
from discreet.exact.grid import Integers
from discreet.exact.rational import Number, integer, positive, rational
from discreet.local.categories import Categories
from discreet.local.frequency import FrequencyOracle
from discreet.local.layout import Field, smallest_unsigned
from discreet.local.reports import Reports
from discreet.local.terms import Terms
from discreet.local.upload import Columns
from discreet.mechanisms.categorical_response import CategoricalResponse
from discreet.mechanisms.distribution import FiniteLaw
from discreet.mechanisms.honesty import Honesty
from discreet.noise.source import SYSTEM, Source, Stream
from discreet.privacy.loss import Pure
from discreet.privacy.neighbours import Neighbours

__all__ = ["Memory", "PermanentResponse"]

_MOST_ROUNDS = 10**9


@dataclass(frozen=True, eq=False)
class Memory:
    """What devices keep: the answer each settled on. Whoever learns it learns what any number of reports would tell."""

    response: PermanentResponse
    """How it was drawn."""
    settled: Integers
    """For each person the position of the answer that all her reports are about."""

    def report(self, *, source: Source = SYSTEM) -> Reports:
        """The reports of one round."""
        return Reports(self.response.terms, self.response.second_lie(self.settled, source.open()))


class PermanentResponse(FrequencyOracle):
    """A category after two lies, of which the first is kept."""

    kind = "permanent"

    def __init__(self, permanent: Number, fresh: Number | None, categories: Iterable[Hashable]) -> None:
        """Choose the price of all reports together and that of the second lie; without ``fresh`` there is none."""
        self.permanent = positive(permanent, "permanent")
        self.fresh = None if fresh is None else positive(fresh, "fresh")
        super().__init__(self.permanent, categories)
        self._first = CategoricalResponse(self.permanent, self.categories.names)
        self._second = None if self.fresh is None else CategoricalResponse(self.fresh, self.categories.names)
        self.epsilon = self.loss_after(1).epsilon

    @classmethod
    def _from_terms(cls, terms: Terms, categories: Iterable[Hashable]) -> PermanentResponse:
        given = dict(terms.parameters)
        fresh = rational(given["fresh"], "fresh") if "fresh" in given else None
        return cls(rational(terms.parameter("permanent"), "permanent"), fresh, categories)

    @property
    def total(self) -> Pure:
        """What any number of reports about one answer cost together."""
        return Pure(self.permanent, Neighbours.REPLACE_ONE)

    def loss_after(self, rounds: int) -> Pure:
        """What ``rounds`` reports about one answer cost together, exactly but for rounding up."""
        count = integer(rounds, "rounds", least=1, most=_MOST_ROUNDS)
        if self.fresh is None:
            return self.total
        with working_precision(320):
            _, other, gap = self._honesties()[0].rates()
            apart = (-count * ball(self.fresh)).exp()  # how much likelier T reports are under another settled answer
            everybody = other * (1 + (len(self.categories) - 1) * apart)
            found = round_up(upper(((everybody + gap) / (everybody + gap * apart)).log()))
        return Pure(min(found, self.permanent), Neighbours.REPLACE_ONE)

    def remember(self, values: Any, *, source: Source = SYSTEM) -> Memory:
        """Settle on an answer for each value, once; whoever is asked again repeats it."""
        return Memory(self, self._first.respond(self._codes(values), source.open()))

    def recall(self, settled: Any) -> Memory:
        """The memory with these settled answers, as ``memory.settled`` had them when the devices wrote them down."""
        positions = Categories.named(range(len(self.categories))).positions(settled)
        return Memory(self, positions)

    def second_lie(self, settled: Integers, stream: Stream) -> Columns:
        """The reports of one round about settled answers."""
        found = settled if self._second is None else self._second.respond(settled, stream)
        return {"position": found.astype(self._layout[0].dtype)}

    @property
    def _layout(self) -> tuple[Field, ...]:
        return (Field("position", smallest_unsigned(len(self.categories))),)

    @property
    def _parameters(self) -> dict[str, str | int]:
        fresh = {} if self.fresh is None else {"fresh": str(self.fresh)}
        return {"permanent": str(self.permanent), **fresh}

    def _honesties(self) -> list[Honesty]:
        return [self._first.honesty, *([] if self._second is None else [self._second.honesty])]

    def rates(self) -> tuple[Ball, Ball, Ball]:
        """Two lies in a row: p₁p₂ + (k-1)q₁q₂, p₁q₂ + q₁p₂ + (k-2)q₁q₂ and (p₁-q₁)(p₂-q₂)."""
        first, *second = (honesty.rates() for honesty in self._honesties())
        if not second:
            return first
        (p, q, gap), (told, other, wide) = first, second[0]
        others = len(self.categories)
        return p * told + (others - 1) * q * other, p * other + q * told + (others - 2) * q * other, gap * wide

    def _draw(self, codes: Integers, stream: Stream) -> Columns:
        return self.second_lie(self._first.respond(codes, stream), stream)

    def law(self, value: Hashable) -> FiniteLaw:
        """Each position with its probability, of one report with a memory of its own."""
        place = self._code(value)
        own, other, _ = self.rates()
        size = len(self.categories)
        return FiniteLaw(tuple(range(size)), tuple(own if k == place else other for k in range(size)))

    def supports(self, columns: Columns) -> Integers:
        """How many reports name each category."""
        return np.bincount(columns["position"], minlength=len(self.categories))

    def _are_possible(self, columns: Columns) -> bool:
        return int(columns["position"].max(initial=0)) < len(self.categories)
