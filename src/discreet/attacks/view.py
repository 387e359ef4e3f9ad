"""What an outsider sees of one defended table: a published table, answers to questions, or both."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.attacks.people import Codes
from discreet.attacks.queries import Part, TableQuery

__all__ = ["Counts", "Published", "View"]


Counts = npt.NDArray[np.float64]
"""One number for every cell of a question; NaN where the answer was refused."""


@dataclass(frozen=True, eq=False)
class Published:
    """A table of classes. Who knows a person's quasi-identifiers knows the class, or that the person is not in it."""

    histograms: npt.NDArray[np.int64]
    """For every class how many of its rows have each secret: classes down, secrets across.

    Where several classes fit a person, their union comes after them, as a class of its own.
    """
    class_of: Codes
    """For every person of the outside list the class that fits, -1 where none does."""

    @property
    def sizes(self) -> Codes:
        """How many rows every class has."""
        return np.asarray(self.histograms.sum(axis=1))


class View(ABC):
    """The only thing that an attack gets to see of a table."""

    published: Published | None = None
    """The table that was published, where one was."""
    rows: int
    """How many people are in the table; every defence here tells it."""
    refused: int = 0
    """How many answers were refused so far."""
    asked: int = 0
    """How many questions were asked so far."""

    def counts(self, questions: Sequence[TableQuery]) -> list[Counts]:
        """The answers to a batch of questions. A budget that is left is divided among them."""
        self.asked += len(questions)
        answers = self._counts(questions)
        self.refused += sum(int(np.isnan(answer).any()) for answer in answers)
        return answers

    def greatest(self, groups: Sequence[Part]) -> Counts:
        """For each group (cell 1 of a part) the greatest secret in it, as its place among the values; NaN if refused.

        Questions are answered one after the other, in this order.
        """
        self.asked += len(groups)
        found = self._greatest(groups)
        self.refused += int(np.isnan(found).sum())
        return found

    def close(self) -> None:  # noqa: B027  most hold nothing
        """Let go of what stands behind the answers, where it holds files."""

    @abstractmethod
    def _counts(self, questions: Sequence[TableQuery]) -> list[Counts]: ...

    @abstractmethod
    def _greatest(self, groups: Sequence[Part]) -> Counts: ...
