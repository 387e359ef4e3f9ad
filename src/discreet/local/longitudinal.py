"""Asking again and again: a permanent answer that is repeated, and a cap on what each person's reports cost.

In permanent randomized response a person settles on a lie once, and repeats it. Fresh noise in every round averages
away: after T rounds the loss is T times that of one. Here a device draws a permanent answer once, by generalised
randomized response with ε = `permanent`, and in every round reports that answer through a second lie with ε = `fresh`,
or as it is.

Promise. For two answers that stay the same over all rounds, any number of reports together costs pure `permanent`, and
T of them cost `loss_after(T)`, which is less; one report costs `loss`. An answer that changes needs a new memory, which
costs again, and when it is made must not depend on the answer. Proof sheet: ``longitudinal.md``.

>>> daily = PermanentResponse(2, 1, ["no", "yes"])
>>> daily.loss, daily.loss_after(365), daily.total
(Pure(ε=0.73533, replace-one), Pure(ε=2, replace-one), Pure(ε=2, replace-one))

Reports of one person add up: their total loss is at most the sum of their prices, whatever the questions were and
however later questions depended on earlier reports. So a server that asks often keeps a `Rounds` and asks nobody past
the cap. Prices are public, so who was asked how often may be written down; what was answered is never here.

>>> rounds = Rounds(cap=2)
>>> rounds.charge(["ann", "bob"], Pure(1)); rounds.charge(["ann"], Pure("1/2"))
>>> rounds["ann"]
Spent(reports=2, total=Pure(ε=1.5))
>>> rounds.affording(["ann", "bob", "eve"], Pure(1))
['bob', 'eve']
>>> rounds.charge(["bob", "ann"], Pure(1))
Traceback (most recent call last):
    ...
discreet.errors.BudgetExceeded: the price must fit what each has left, got Pure(ε=1); 1 of 2 cannot; nothing was charged
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from threading import Lock
from typing import Any

import numpy as np

from discreet.errors import BudgetExceeded, InvalidType, InvalidValue, NoProvedPath
from discreet.exact.ball import Ball, ball, round_up, upper, working_precision
from discreet.exact.grid import Integers
from discreet.exact.rational import Number, integer, positive, rational
from discreet.local.frequency import FrequencyOracle
from discreet.local.reports import Columns, Reports
from discreet.local.terms import Categories, ReportField, Terms, smallest_unsigned
from discreet.mechanisms.distribution import FiniteLaw
from discreet.mechanisms.k_randomized_response import CategoricalResponse
from discreet.mechanisms.randomized_response import Honesty
from discreet.noise.source import SYSTEM, Source, Stream
from discreet.privacy.loss import Loss, Pure
from discreet.privacy.neighbours import Neighbours

__all__ = ["Memory", "PermanentResponse", "Rounds", "Spent"]


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
    def _layout(self) -> tuple[ReportField, ...]:
        return (ReportField("position", smallest_unsigned(len(self.categories))),)

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
        (p, q, gap), (same, other, wide) = first, second[0]
        others = len(self.categories)
        return p * same + (others - 1) * q * other, p * other + q * same + (others - 2) * q * other, gap * wide

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


_VERSION = 1
_NOTHING = (0, 0)


@dataclass(frozen=True)
class Spent:
    """What one person has reported so far."""

    reports: int
    """How many reports."""
    total: Pure
    """What they cost together."""


class Rounds:
    """The reports of every person, and a cap that none of them passes, also when several threads charge at once."""

    def __init__(self, cap: Number | Pure) -> None:
        """``cap`` is the largest total loss of one person."""
        self.cap = cap if isinstance(cap, Pure) else Pure(positive(cap, "cap"))
        self._totals = [Fraction(0)]
        self._numbers = {Fraction(0): 0}  # of the totals: few are different, and adding and comparing them is slow
        self._spent: dict[str, tuple[int, int]] = {}  # for each person how many reports, and which total
        self._settled: dict[str, set[str]] = {}  # for each memory who paid for it
        self._responses: dict[str, str] = {}  # and the fingerprint of the response that it is of
        self._lock = Lock()

    def __getitem__(self, person: str) -> Spent:
        """What a person has reported; nothing, if she is not known."""
        count, number = self._spent.get(person, _NOTHING)
        return Spent(count, Pure(self._totals[number]))

    def __len__(self) -> int:
        return len(self._spent)

    def __iter__(self) -> Iterator[str]:
        """Everybody who reported."""
        return iter(list(self._spent))

    def left(self, person: str) -> Pure:
        """What a person may still spend."""
        return Pure(self.cap.epsilon - self[person].total.epsilon)

    @property
    def worst(self) -> Pure:
        """The largest total of anybody."""
        return Pure(max((self._totals[number] for number in {number for _, number in self._spent.values()}), default=0))

    def affording(
        self, people: Iterable[str], price: Loss | PermanentResponse, *, memory: str | None = None
    ) -> list[str]:
        """Those of ``people`` who may still be asked at this price, in their order."""
        cost, listed = _cost(price, memory), _checked(people)
        with self._lock:
            self._check_response(price, memory)
            after = self._after(listed, cost, memory)
        return [person for person, number in after.items() if number is not None]

    def charge(self, people: Iterable[str], price: Loss | PermanentResponse, *, memory: str | None = None) -> None:
        """Record one report of each of ``people`` at ``price``, or refuse and record nothing.

        Reports about one memory of permanent randomized response cost its total once: with ``memory`` a name, pass the
        `PermanentResponse` as the price. Whoever was charged under this name before reports again for nothing, as long
        as it is the same response. Two responses must not share a name.
        """
        cost, listed = _cost(price, memory), _checked(people)
        with self._lock:
            self._check_response(price, memory)
            after = self._after(listed, cost, memory)
            short = sum(number is None for number in after.values())
            if short:
                said = f"{short} of {len(listed)} cannot; nothing was charged"
                raise BudgetExceeded("the price must fit what each has left", price, said)
            for person, number in after.items():
                self._spent[person] = (self._spent.get(person, _NOTHING)[0] + 1, number or 0)
            if memory is not None and isinstance(price, PermanentResponse):
                self._settled[memory] = self._paid(memory, cost) | set(listed)
                self._responses[memory] = price.terms.fingerprint

    def _paid(self, memory: str | None, cost: Fraction) -> set[str]:
        """Who paid for a memory. Accounts that name no response may hold any price: less than its total is not it."""
        settled = self._settled.get(memory, set()) if memory is not None else set()
        return settled if memory in self._responses else {p for p in settled if self[p].total.epsilon >= cost}

    def _check_response(self, price: Loss | PermanentResponse, memory: str | None) -> None:
        known = None if memory is None else self._responses.get(memory)
        if known is not None and isinstance(price, PermanentResponse) and known != price.terms.fingerprint:
            rule = "a memory belongs to the one response that it was first charged for"
            raise InvalidValue(rule, f"<another one for {memory!r}>", "another response needs another name")

    def _after(self, people: list[str], cost: Fraction, memory: str | None) -> dict[str, int | None]:
        """The number of the total of each person after one more report; None where it would pass the cap."""
        settled = self._paid(memory, cost)
        known: dict[int, int | None] = {}
        found: dict[str, int | None] = {}
        for person in people:
            before = self._spent.get(person, _NOTHING)[1]
            if person in settled:
                found[person] = before
                continue
            if before not in known:
                known[before] = self._number_of(self._totals[before] + cost)
            found[person] = known[before]
        return found

    def _number_of(self, total: Fraction) -> int | None:
        if total > self.cap.epsilon:
            return None
        if total not in self._numbers:
            self._numbers[total] = len(self._totals)
            self._totals.append(total)
        return self._numbers[total]

    # Between two rounds.

    def to_json(self) -> str:
        """Everything here, to be kept until the next round."""
        found = {
            "version": _VERSION,
            "cap": str(self.cap.epsilon),
            "people": {person: [count, str(self._totals[number])] for person, (count, number) in self._spent.items()},
            "memories": {name: sorted(people) for name, people in self._settled.items()},
            "responses": self._responses,
        }
        return json.dumps(found, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Rounds:
        """What `to_json` wrote; anything else is refused."""
        try:
            return cls._from(json.loads(text))
        except (ValueError, KeyError, TypeError, AttributeError):  # none of them says more than this
            raise InvalidValue("rounds must be what to_json wrote", "<another text>") from None

    @classmethod
    def _from(cls, found: Any) -> Rounds:
        if found["version"] != _VERSION:
            raise InvalidValue("another version", found["version"])
        rounds = cls(rational(found["cap"], "cap"))
        for person, (count, total) in found["people"].items():
            number = rounds._number_of(Pure(rational(total, "total")).epsilon)
            if number is None:
                raise InvalidValue("nobody may be past the cap", person)
            rounds._spent[person] = (integer(count, "reports", least=1), number)
        rounds._settled = {name: set(_checked(people)) for name, people in found["memories"].items()}
        rounds._responses = {name: str(fingerprint) for name, fingerprint in found.get("responses", {}).items()}
        return rounds


def _cost(price: Loss | PermanentResponse, memory: str | None) -> Fraction:
    """What the first report costs: the total of all that follow, where a memory is named."""
    if memory is None:
        return _pure(price)
    if not isinstance(price, PermanentResponse):
        rule = "the price of a memory is that of all its reports together"
        raise InvalidType(rule, price, "pass the PermanentResponse itself")
    return price.total.epsilon


def _pure(price: object) -> Fraction:
    if isinstance(price, Pure):
        return price.epsilon
    if isinstance(price, Loss):
        raise NoProvedPath("the price of a report is pure", repr(price), "randomizer.loss is")
    raise InvalidType("the price must be a privacy loss", price, "randomizer.loss, for example")


def _checked(people: Iterable[str]) -> list[str]:
    if isinstance(people, str) or not isinstance(people, Iterable):
        raise InvalidType("people must be a list of names or tokens", "<another thing>")
    listed = list(people)
    if not all(isinstance(person, str) for person in listed):
        raise InvalidType("each person must be a text", "<another thing>", "a name, a number or a token as a text")
    if len(set(listed)) < len(listed):
        rule, remedy = "each person must be there once in a round", "a second report of the same round is a replay"
        raise InvalidValue(rule, "<somebody twice>", remedy)
    return listed
