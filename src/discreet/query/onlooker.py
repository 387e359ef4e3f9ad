"""Who may watch a measurement: sees the exact integers at the moment when noise hides them.

No door that answers people has an onlooker. It is there for audits, which run the door on tables of their own, or of an
owner who asks for it, and compare what was hidden with what the plan declared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from discreet.exact.grid import Integers
from discreet.query.choice import Choice, TopChoice
from discreet.query.forms import Noise
from discreet.query.groups import Groups

__all__ = ["Chosen", "Hidden", "Onlooker"]


@dataclass(frozen=True)
class Hidden:
    """One integer per group, and the noise that was added to it."""

    part: int
    """The position of the part in the plan."""
    place: int
    """Which of the part's integers."""
    groups: Groups
    """Where they belong."""
    law: Noise
    """What the noise was drawn from."""
    exact: Integers
    """Without noise. Never to be released."""
    noise: Integers
    """What was added."""


@dataclass(frozen=True)
class Chosen:
    """The weights among which a choice was made."""

    choice: Choice | TopChoice
    """How it was made."""
    place: int
    """The position of the choice in the plan."""
    groups: Groups
    """Where they belong; all that could be chosen, where groups themselves were."""
    weights: list[tuple[Integers, Integers]]
    """Per group the points that have weight, and their weights; one entry for all groups where groups were chosen."""
    picked: Integers
    """What was chosen."""


Onlooker = Callable[[Hidden | Chosen], None]
"""Told of everything that noise hides."""
