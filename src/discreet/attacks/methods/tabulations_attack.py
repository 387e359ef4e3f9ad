"""Put together tables of two columns each until they show single people, as was done to a census.

No table tells the secret of anybody: each counts two columns at a time. But the outsider knows who has which
quasi-identifiers, so what is unknown is how many people of each combination have each secret, and every table is a
linear demand on these numbers. The numbers with the least total error fit exact tables exactly, and noisy ones best.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.attacks.attack import Attack, Guesses, Knowledge
from discreet.attacks.methods.cross_tables import crossed
from discreet.attacks.methods.integer_program import IntegerProgram
from discreet.attacks.parts import Value
from discreet.attacks.people import Codes
from discreet.attacks.question import Question
from discreet.attacks.view import Counts, View
from discreet.noise.experiment import Chance

__all__ = ["TwoWayTables"]

_MOST_SECONDS = 20.0
_LEAST_PRESENCE = 0.5


class TwoWayTables(Attack):
    """Tables of every two columns, and a linear program that finds the people behind them."""

    name = "two-way tables"
    needs = "The quasi-identifiers of everybody who may be in the table; each question counts two columns."
    claims = "A person has the secret that the people behind all tables have."
    most_people = 200

    def guess(self, views: Sequence[View], known: Knowledge, chance: Chance) -> Guesses:
        """Find the people who fit all tables best, and claim their secrets."""
        combined = _Combined.of(known)
        quasi = [Value(name, coded.values) for name, coded in known.quasi.items()]
        pairs = crossed([*quasi, Value(known.secret, known.values)], 2)
        answers = views[0].counts([Question(by=pair) for pair in pairs])
        if all(np.isnan(answer).all() for answer in answers):
            return Guesses(np.full(len(known.targets), -1), "No table was answered.")
        held = combined.fitted(pairs, answers)[combined.of_person[known.targets]]
        is_there = held.sum(axis=1) > _LEAST_PRESENCE
        return Guesses(np.where(is_there, held.argmax(axis=1), -1).astype(np.int64))


@dataclass(frozen=True, eq=False)
class _Combined:
    """The combinations of quasi-identifiers that somebody has."""

    columns: dict[str, Codes]
    """For every quasi-identifier the value in each combination."""
    people: Codes
    """How many people have each."""
    of_person: Codes
    """Which one every person has."""
    secret: str
    """The name of the secret column."""
    secrets: int
    """How many values it has."""

    @classmethod
    def of(cls, known: Knowledge) -> _Combined:
        """Those of the outside list."""
        codes = np.stack([coded.codes for coded in known.quasi.values()], axis=1)
        rows, of_person, people = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
        columns = {name: rows[:, place] for place, name in enumerate(known.quasi)}
        return cls(columns, people, of_person.reshape(-1), known.secret, len(known.values))

    def fitted(self, pairs: Sequence[tuple[Value, ...]], answers: Sequence[Counts]) -> npt.NDArray[np.float64]:
        """For every combination how many people in the table have each secret."""
        program = IntegerProgram()
        held = program.variables(len(self.people) * self.secrets, math.inf, whole=False)
        held = held.reshape(len(self.people), self.secrets)
        for places, most in zip(held, self.people, strict=True):
            program.between(0, float(most), places)
        for pair, answer in zip(pairs, answers, strict=True):
            self._demand(program, held, pair, answer)
        found = program.least_cost(_MOST_SECONDS)
        return np.zeros(held.shape) if found is None else found[held]

    def _demand(self, program: IntegerProgram, held: Codes, pair: tuple[Value, ...], answer: Counts) -> None:
        """Every cell of a table has the people that it counts, but for an error that is paid for."""
        cells = self._cells(pair)
        order = np.argsort(cells, axis=None, kind="stable")
        starts = np.flatnonzero(np.diff(cells.reshape(-1)[order], prepend=-1))
        for places in np.split(order, starts[1:]):
            count = answer[cells.reshape(-1)[places[0]]]
            if np.isfinite(count):
                over, under = program.variables(2, math.inf, cost=1.0, whole=False)
                factors = [*np.ones(len(places)), -1.0, 1.0]
                program.between(count, count, [*held.reshape(-1)[places], over, under], factors)

    def _cells(self, pair: tuple[Value, ...]) -> Codes:
        """For every combination and secret the cell of the table that counts it."""
        first, second = (self._codes(part) for part in pair)
        cells = first * pair[1].size + second
        return np.broadcast_to(cells, (len(self.people), self.secrets))

    def _codes(self, part: Value) -> Codes:
        if part.column == self.secret:
            return np.arange(self.secrets)[None, :]
        return self.columns[part.column][:, None]
