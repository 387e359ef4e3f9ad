"""Attacks and defences: what an owner does, what an outsider then sees, and what the outsider makes of it.

A defence turns a table into a view, which is a published table, answers to questions, or both. An attack says what it
needs and what it claims, and its guesses are scored.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from discreet.attacks.people import Coded, Codes, People
from discreet.attacks.queries import AnyOf, Part, TableQuery
from discreet.noise.experiment import Chance
from discreet.privacy.loss import Loss

__all__ = [
    "Attack",
    "Counts",
    "Defence",
    "Goal",
    "Guesses",
    "Knowledge",
    "Published",
    "View",
]


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


class Goal(Enum):
    """What is guessed about every target."""

    VALUE = "the secret itself"
    BIT = "whether the secret is one of the marked half"
    MEMBERSHIP = "whether the person is in the table"


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What an outsider knows before anything is published. It holds no secret of anybody's."""

    quasi: Mapping[str, Coded]
    """The outside list: the quasi-identifiers of everybody, by the person's number."""
    secret: str
    """The name of the secret column."""
    values: tuple[str, ...]
    """What the secret can be."""
    marked: npt.NDArray[np.bool_]
    """The values that count as "yes"."""
    targets: Codes
    """The numbers of the people under attack."""
    excluded: npt.NDArray[np.bool_]
    """What is known not to be a target's secret: targets down, values across."""
    profiles: People | None = None
    """All columns of every target, where only their presence in the table is in question."""
    outsiders: People | None = None
    """People who are known not to be in the table, all columns of them, where an attack may compare with them."""

    @property
    def everybody(self) -> int:
        """How many people are on the outside list; their numbers are below it."""
        return len(next(iter(self.quasi.values())).codes)

    @property
    def bit(self) -> AnyOf:
        """Whether a person's secret is a marked one, to ask about."""
        return AnyOf(self.secret, self.values, tuple(int(place) for place in np.flatnonzero(self.marked)))


@dataclass(frozen=True, eq=False)
class Guesses:
    """What an attack claims about every target."""

    values: Codes
    """A place among the values, or 0 and 1 for no and yes; -1 where the attack learned nothing and claims nothing."""
    note: str = ""
    """A sentence about how it went."""
    scores: npt.NDArray[np.float64] | None = None
    """How sure it is of "yes" for every target, where it can tell."""


class Attack(ABC):
    """One way to learn about a person."""

    name: str
    """A few words, as the scoreboard shows them."""
    needs: str
    """A sentence: what the outsider must have."""
    claims: str
    """A sentence: what the outsider says about each target."""
    goal: Goal = Goal.VALUE
    """What is guessed."""
    releases: int = 1
    """How many separately defended tables hold the targets."""
    most_targets: int = 200
    """How many people it attacks at most, so that it ends in seconds."""
    most_people: int | None = None
    """How many people the table may have, where the attack needs a small one."""
    has_controls: bool = True
    """Whether an attack on a secret is also tried on people who are not in the table."""
    rules_out: bool = False
    """Whether some values are known to be wrong for each target; guesses without the release know it too, then."""

    @abstractmethod
    def guess(self, views: Sequence[View], known: Knowledge, chance: Chance) -> Guesses:
        """The guesses, from what is seen of every release and what was known before."""

    def does_not_apply(self, view: View) -> str:
        """Why it cannot be run against what is seen; empty where it can."""
        return ""


class Defence(ABC):
    """A way to let outsiders learn something about a crowd."""

    name: str
    """A few words, as the scoreboard shows them."""
    says: str
    """A sentence: what the owner does and hopes for."""
    promise: Loss | None = None
    """What it proves about one person, where it proves anything."""

    @abstractmethod
    def defend(self, people: People, everybody: People, chance: Chance) -> View:
        """What outsiders see of ``people``.

        ``everybody`` is the outside list, of which the people are a part: a published table says for each person on the
        list which class fits. Its secrets are not to be used.
        """
