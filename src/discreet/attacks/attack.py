"""What an outsider does with what is seen: what it needs, what it claims, and how the claim is scored.

What an owner does before the outsider sees anything.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from discreet.attacks.people import Coded, Codes, People
from discreet.attacks.queries import AnyOf
from discreet.attacks.view import View
from discreet.noise.experiment import Chance
from discreet.privacy.loss import Loss

__all__ = ["Attack", "Defence", "Goal", "Guesses", "Knowledge"]


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
