"""What an outsider may ask: how many people are in each cell, as SELECT ... COUNT(*) GROUP BY ... would say.

Every question can be counted over rows and written as SQL, so that the same attack runs against a naive defence and
against a real curator.

>>> from discreet.attacks.queries import Is, Value
>>> from discreet.attacks.people import People
>>> import pyarrow as pa
>>> people = People.of(pa.table({"age": [28, 34, 28], "ill": ["no", "yes", "no"]}), ["age"], "ill")
>>> question = TableQuery(by=(Value.of(people, "ill"),), where=((Is(1), 0),))
>>> question.counts(people)
array([2, 0])
>>> question.sql("people")
'SELECT "ill" AS c0, COUNT(*) AS n FROM people WHERE ("person" = 1) = FALSE GROUP BY c0'

Cells are the values of a column, a list of people, or a random half.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.attacks.people import Codes, People

__all__ = ["AnyOf", "Is", "Listed", "Part", "Person", "Side", "TableQuery", "Value"]


_PRIME = 2**31 - 1


class Part(ABC):
    """Something that divides people into cells."""

    size: int
    """How many cells there are."""

    @abstractmethod
    def codes(self, people: People) -> Codes:
        """For every person the number of the cell."""

    def depends_on(self, column: str) -> bool:
        """Whether people who differ in this column may be in different cells for it."""
        return False

    @abstractmethod
    def sql(self) -> str:
        """An expression that differs from cell to cell."""

    @abstractmethod
    def literal(self, code: int) -> str:
        """What the expression is in one cell, as SQL."""


class _YesOrNo(Part):
    """Two cells: 0 for no, 1 for yes."""

    size = 2

    def literal(self, code: int) -> str:
        """As a value of the expression."""
        return "TRUE" if code else "FALSE"


@dataclass(frozen=True)
class Value(Part):
    """One cell for every value of a column."""

    column: str
    """Its name."""
    values: tuple[str, ...]
    """What it can be."""

    @classmethod
    def of(cls, people: People, column: str) -> Value:
        """The values of one column."""
        return cls(column, people.columns[column].values)

    @property
    def size(self) -> int:  # type: ignore[override]
        """How many values there are."""
        return len(self.values)

    def codes(self, people: People) -> Codes:
        """For every person the number of the cell."""
        return people.columns[self.column].codes

    def depends_on(self, column: str) -> bool:
        """Its own column."""
        return column == self.column

    def sql(self) -> str:
        """As an expression."""
        return _name(self.column)

    def literal(self, code: int) -> str:
        """As a value of the expression."""
        return _text(self.values[code])


@dataclass(frozen=True)
class AnyOf(_YesOrNo):
    """Whether a column has one of some values."""

    column: str
    """Its name."""
    values: tuple[str, ...]
    """What it can be."""
    chosen: tuple[int, ...]
    """The places of the values that count as yes."""

    @classmethod
    def secret(cls, people: People) -> AnyOf:
        """Whether a person's secret is a marked one."""
        chosen = tuple(int(place) for place in np.flatnonzero(people.marked))
        return cls(people.secret_name, people.secret.values, chosen)

    def codes(self, people: People) -> Codes:
        """For every person the number of the cell."""
        return np.asarray(np.isin(people.columns[self.column].codes, self.chosen), np.int64)

    def depends_on(self, column: str) -> bool:
        """Its own column."""
        return column == self.column

    def sql(self) -> str:
        """As an expression."""
        return f"({_name(self.column)} IN ({', '.join(_text(self.values[place]) for place in self.chosen)}))"


@dataclass(frozen=True)
class Is(_YesOrNo):
    """Whether it is this person."""

    person: int
    """The person's number."""

    def codes(self, people: People) -> Codes:
        """For every person the number of the cell."""
        return np.asarray(people.numbers == self.person, np.int64)

    def sql(self) -> str:
        """As an expression."""
        return f'("person" = {self.person})'


@dataclass(frozen=True)
class Listed(_YesOrNo):
    """Whether it is one of these people."""

    persons: tuple[int, ...]
    """Their numbers."""

    def codes(self, people: People) -> Codes:
        """For every person the number of the cell."""
        return np.asarray(np.isin(people.numbers, self.persons), np.int64)

    def sql(self) -> str:
        """As an expression."""
        return f'("person" IN ({", ".join(map(str, self.persons))}))'


@dataclass(frozen=True)
class Person(Part):
    """One cell for every person: the question that no statistic should answer."""

    size: int
    """One more than the greatest number of a person."""

    def codes(self, people: People) -> Codes:
        """For every person the number of the cell."""
        return people.numbers

    def sql(self) -> str:
        """As an expression."""
        return '"person"'

    def literal(self, code: int) -> str:
        """As a value of the expression."""
        return str(code)


@dataclass(frozen=True)
class Side(Part):
    """A half of the people that looks random but is written as arithmetic, so that SQL can name it."""

    multiplier: int
    """A number below 2^31 - 1."""
    offset: int
    """Another one."""
    size = 2

    def codes(self, people: People) -> Codes:
        """For every person the number of the cell."""
        return self.codes_of(people.numbers)

    def codes_of(self, numbers: Codes) -> Codes:
        """The same for people of whom only the numbers are known."""
        return (numbers * self.multiplier + self.offset) % _PRIME % 2

    def sql(self) -> str:
        """As an expression."""
        return f'(("person" * {self.multiplier} + {self.offset}) % {_PRIME} % 2)'

    def literal(self, code: int) -> str:
        """As a value of the expression."""
        return str(code)


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


@dataclass(frozen=True)
class TableQuery:
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
                joint_kind = kind_of * part.size + part.codes(people.one_for_each_secret())
                _, example, kind_of = np.unique(joint_kind, return_index=True, return_inverse=True)
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
