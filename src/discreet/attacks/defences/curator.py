"""Discreet itself: a real curator, a real budget, and the same questions in SQL.

What is hidden is what a person's row says, so neighbouring tables differ in one row (`Neighbours.REPLACE_ONE`): the
number of people is known to everybody here. Every batch of questions is offered all that is left of the budget.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import pyarrow as pa

from discreet.attacks.attack import Counts, Defence, View
from discreet.attacks.people import Coded, People
from discreet.attacks.queries import Part, TableQuery
from discreet.catalog.budget import Budget
from discreet.catalog.column import Column, ColumnType
from discreet.catalog.table import Table
from discreet.curator.curator import Curator
from discreet.errors import BudgetExceeded, InvalidValue, QueryRefused
from discreet.exact.rational import Number, positive
from discreet.noise.experiment import Chance
from discreet.privacy.loss import Pure
from discreet.privacy.neighbours import Neighbours

__all__ = ["CuratorDefence", "CuratorView"]


_TABLE = "people"
_PERSON = "person"
_RANK = "rank of the secret"


class CuratorDefence(Defence):
    """Questions go to a curator, who answers with noise until the budget is spent."""

    def __init__(self, epsilon: Number) -> None:
        """Name the budget for everything that is ever answered."""
        self.promise: Pure = Pure(positive(epsilon, "epsilon"))
        self.name = f"Discreet, ε = {float(self.promise.epsilon):g}"
        self.says = "A curator answers with exact noise, remembers its answers, and stops when the budget is spent."

    def defend(self, people: People, everybody: People, chance: Chance) -> View:
        """A curator who holds the people; its noise comes from the operating system and not from ``chance``."""
        return CuratorView(people, everybody.size, self.promise.epsilon)


class CuratorView(View):
    """The analyst's side of a curator in a folder of its own, which is gone when the view is closed."""

    def __init__(self, people: People, numbers: int, epsilon: Fraction) -> None:
        """Protect the people, who have numbers below ``numbers``."""
        self.rows = people.size
        self._folder = tempfile.TemporaryDirectory(prefix="discreet-attacked-")
        try:
            self._curator = self._opened()
            self._curator.protect(_rows(people), _policy(people, numbers, epsilon))
        except BaseException:
            self._folder.cleanup()
            raise
        self._prices: dict[tuple[str, ...], Fraction] = {}

    def _opened(self) -> Curator:
        return Curator(self._folder.name)

    def close(self) -> None:
        """Let go of the curator and remove its folder."""
        self._curator.engine.close()
        self._curator.ledger.close()
        self._folder.cleanup()

    def _counts(self, questions: Sequence[TableQuery]) -> list[Counts]:
        found = self._asked([question.sql(_TABLE) for question in questions])
        if found is None:
            return [np.full(question.cells, np.nan) for question in questions]
        return [_cells(question, table) for question, table in zip(questions, found, strict=True)]

    def _greatest(self, groups: Sequence[Part]) -> Counts:
        wanted = f'SELECT MAX("{_RANK}") AS n FROM {_TABLE} WHERE'  # noqa: S608  names of this file
        found = self._asked([f"{wanted} {group.sql()} = {group.literal(1)}" for group in groups])
        return np.full(len(groups), np.nan) if found is None else np.array([_only(table) for table in found])

    def _asked(self, queries: list[str]) -> list[pa.Table] | None:
        """The answers for all that is left, or at the old price where the same was asked before; None if refused."""
        batch = tuple(dict.fromkeys(queries))
        price = self._prices.get(batch) or self._left()
        if not batch or not price:
            return None if batch else []
        try:
            answers = self._curator.ask_all(queries, price, raw=True)
        except (BudgetExceeded, QueryRefused):
            return None
        self._prices[batch] = price
        return [answer.table for answer in answers]

    def _left(self) -> Fraction:
        left: Pure = self._curator.budget()[_TABLE]["left"]
        return left.epsilon


def _policy(people: People, numbers: int, epsilon: Fraction) -> Table:
    """What is public: who can be named, and which values there are."""
    for name in people.columns:
        if name.casefold() in (_PERSON, _RANK):
            raise InvalidValue("a column must not be called as one of the curator's own here", name, "rename it")
    whole = ColumnType.INTEGER
    columns = [
        Column(_PERSON, whole, lower=0, upper=numbers - 1, nullable=False),
        Column(_RANK, whole, lower=0, upper=len(people.secret.values) - 1, nullable=False),
        *(_column(name, coded) for name, coded in people.columns.items()),
    ]
    return Table(_TABLE, tuple(columns), neighbours=Neighbours.REPLACE_ONE, budget=Budget(epsilon))


def _column(name: str, coded: Coded) -> Column:
    return Column(name, ColumnType.TEXT, keys=coded.values, nullable=False)


def _rows(people: People) -> pa.Table:
    texts = {name: pa.array(coded.values).take(pa.array(coded.codes)) for name, coded in people.columns.items()}
    return pa.table({_PERSON: people.numbers, _RANK: people.secret.codes, **texts})


def _cells(question: TableQuery, table: pa.Table) -> Counts:
    """The counts in the order of the cells; a cell that is not listed cannot have anybody."""
    cells = np.zeros(table.num_rows, np.int64)
    for place, part in enumerate(question.by):
        codes = _codes(part)
        cells = cells * part.size + [codes[_literal(value)] for value in table[f"c{place}"].to_pylist()]
    found = np.zeros(question.cells)
    found[cells] = table["n"].to_numpy()
    return found


def _codes(part: Part) -> Mapping[str, int]:
    return {part.literal(code): code for code in range(part.size)}


def _literal(value: str | int | bool) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def _only(table: pa.Table) -> float:
    (value,) = table["n"].to_pylist()
    return float("nan") if value is None else float(value)
