"""What an outsider may ask: how many people are in each cell, as SELECT ... COUNT(*) GROUP BY ... would say.

Every question can be counted over rows and written as SQL, so that the same attack runs against a naive defence and
against a real curator.

>>> from discreet.attacks.parts import Is, Value
>>> from discreet.attacks.people import People
>>> import pyarrow as pa
>>> people = People.of(pa.table({"age": [28, 34, 28], "ill": ["no", "yes", "no"]}), ["age"], "ill")
>>> question = Question(by=(Value.of(people, "ill"),), where=((Is(1), 0),))
>>> question.counts(people)
array([2, 0])
>>> question.sql("people")
'SELECT "ill" AS c0, COUNT(*) AS n FROM people WHERE ("person" = 1) = FALSE GROUP BY c0'
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.attacks.parts import Part
from discreet.attacks.people import Codes, People

__all__ = ["Question"]


@dataclass(frozen=True)
class Question:
    """How many people there are in each cell, of those who meet the conditions."""

    by: tuple[Part, ...] = ()
    """What divides them; the first part varies slowest. Without parts there is one cell."""
    where: tuple[tuple[Part, int], ...] = ()
    """Parts, and the cell in which a person must be."""
    wording: int = 0
    """Other wordings ask for the same counts in other words."""

    @property
    def cells(self) -> int:
        """How many counts the answer has."""
        return math.prod(part.size for part in self.by)

    def codes(self, people: People) -> Codes:
        """For every person the cell, -1 for those who do not meet the conditions."""
        cell = np.zeros(people.size, np.int64)
        for part in self.by:
            cell = cell * part.size + part.codes(people)
        for part, wanted in self.where:
            cell[part.codes(people) != wanted] = -1
        return cell

    def counts(self, people: People) -> Codes:
        """The exact counts."""
        cell = self.codes(people)
        return np.bincount(cell[cell >= 0], minlength=self.cells)

    def supposed(self, people: People) -> tuple[Codes, Codes]:
        """The cell in which each person would be with each kind of secret, -1 for none, and the kind of every secret.

        Secrets that no part tells apart are of one kind. People down, kinds across.
        """
        kind_of = np.zeros(len(people.secret.values), np.int64)
        example = np.zeros(1, np.int64)
        for part in (*self.by, *(part for part, _ in self.where)):
            if part.depends_on(people.secret_name):
                told_apart = kind_of * part.size + part.codes(people.one_for_each_secret())
                _, example, kind_of = np.unique(told_apart, return_index=True, return_inverse=True)
        return np.stack([self.codes(people.supposing(int(secret))) for secret in example], axis=1), kind_of

    def concerned(self, people: People) -> Codes:
        """For every cell how many people it is about: those who would be in it with one secret or another."""
        cells = np.sort(self.supposed(people)[0], axis=1)
        is_new = np.diff(cells, axis=1, prepend=-1) != 0  # a person counts once for each cell, and never for -1
        return np.bincount(cells[is_new], minlength=self.cells)

    def cell(self, codes: Sequence[int]) -> int:
        """The number of the cell with these codes, one for each part."""
        found = 0
        for part, code in zip(self.by, codes, strict=True):
            found = found * part.size + code
        return found

    def sql(self, table: str) -> str:
        """The question in SQL; the columns ``c0``, ``c1``, … say the cell and ``n`` the count."""
        names = [f"c{place}" for place in range(len(self.by))]
        shown = [f"{part.sql()} AS {name}" for part, name in zip(self.by, names, strict=True)]
        tests = [f"{part.sql()} = {part.literal(wanted)}" for part, wanted in self.where]
        tests += [f'"person" > -{self.wording}'] if self.wording else []
        where = f" WHERE {' AND '.join(tests)}" if tests else ""
        group = f" GROUP BY {', '.join(names)}" if names else ""
        return f"SELECT {', '.join([*shown, 'COUNT(*) AS n'])} FROM {table}{where}{group}"  # noqa: S608  values are quoted
