"""What divides people into cells, over rows and in SQL: the values of a column, a list of people, a random half."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from discreet.attacks.people import Codes, People

__all__ = ["AnyOf", "Is", "Listed", "Part", "Person", "Side", "Value"]

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
