"""Two tables about the same person: the secret must be in the class of both (Ganta, Kasiviswanathan, Smith 2008)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from discreet.attacks.attack import Attack, Guesses, Knowledge
from discreet.attacks.methods.seen_classes import seen_classes
from discreet.attacks.people import Codes
from discreet.attacks.view import Counts, View
from discreet.errors import InvalidType, InvalidValue
from discreet.noise.experiment import Chance

__all__ = ["Intersection", "combined", "likeliest"]

_HALF_A_PERSON = 0.5  # what an answer of nobody may hide, where answers are noisy


class Intersection(Attack):
    """Hold the classes of several releases against each other."""

    name = "intersection"
    claims = "The secret that the classes of all releases together make likeliest."
    most_targets = 1000

    def __init__(self, releases: int = 2) -> None:
        """Say how many ``releases`` hold the targets."""
        if isinstance(releases, bool) or not isinstance(releases, int):
            raise InvalidType("the number of releases must be a whole number", releases)
        if releases < 1:
            raise InvalidValue("the number of releases must be at least 1", releases)
        self.releases = releases
        self.needs = f"The target's quasi-identifiers, and {releases} tables or curators that hold the target."

    def guess(self, views: Sequence[View], known: Knowledge, chance: Chance) -> Guesses:
        """The secret with the greatest product of its shares in all classes, where any class is seen."""
        scores = combined([_shown(view, known) for view in views])
        pinned = np.isfinite(scores).sum(axis=1) == 1
        return Guesses(likeliest(scores), f"For {pinned.mean():.0%} of the targets one secret alone is in all classes.")


def combined(counts: Sequence[Counts]) -> npt.NDArray[np.float64]:
    """For every target and secret the logarithm of the product of its shares; -∞ where a class does not have it.

    A class holds the target and others drawn among people alike. Among them let secret s have the share q(s). Then the
    chance to see a count h(s) is h(s) / q(s) times larger if s is the target's than on average, so after R releases the
    odds of s are as q(s) times the product of h(s) / q(s). Nobody knows q, and taking all q(s) as equal leaves the
    product of the shares. A release that says nothing about a target leaves them as they are; a target of whom no
    release says anything has -∞ everywhere.
    """
    total = np.zeros_like(counts[0])
    seen = np.zeros(len(total), np.bool_)
    for one in counts:
        sizes = one.sum(axis=1)
        told = sizes > 0  # not where it is NaN
        with np.errstate(divide="ignore"):
            total[told] += np.log(one[told] / sizes[told, None])
        seen |= told
    total[~seen] = -np.inf
    return total


def likeliest(scores: npt.NDArray[np.float64]) -> Codes:
    """For every target the secret with the greatest score, -1 where none is left."""
    return np.where(np.isfinite(scores).any(axis=1), scores.argmax(axis=1), -1)


def _shown(view: View, known: Knowledge) -> Counts:
    """The class of every target. An answer may be off, so what it counts as nobody is not ruled out."""
    counts = seen_classes(view, known)
    return counts if view.published is not None else np.maximum(counts, 0) + _HALF_A_PERSON
