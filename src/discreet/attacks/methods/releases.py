"""Attacks that read the class of a target: how many of those who look like the target have each secret.

Find the one row, or the one count, that only the target can be, which is the oldest attack on tables without names.
Where everybody who looks like the target has the same secret, nobody needs to find the row. What is known not to be
true of the target makes the rest of the class say more. And of two tables about the same person, the secret must be in
the class of both (Ganta, Kasiviswanathan, Smith 2008).

In a published table the class is the one that fits. Where questions are answered, the outsider asks for the secrets of
everybody by some columns, in one question: by as many columns as leave the typical person of the outside list among
five who look the same.

>>> import numpy as np
>>> from discreet.attacks.people import Coded
>>> sex, day = Coded(np.arange(20) % 2, ("f", "m")), Coded(np.arange(20), tuple(map(str, range(20))))
>>> coarse_columns({"sex": sex, "birthday": day}, secrets=2)
['sex']
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod

import numpy as np
import numpy.typing as npt

from discreet.anonymize.equivalence_classes import EquivalenceClasses
from discreet.attacks.attack import Attack, Counts, Guesses, Knowledge, View
from discreet.attacks.people import Coded, Codes
from discreet.attacks.queries import TableQuery, Value
from discreet.errors import InvalidType, InvalidValue
from discreet.noise.experiment import Chance

__all__ = [
    "MOST_CELLS",
    "BackgroundKnowledge",
    "Homogeneity",
    "Intersection",
    "Linkage",
    "asked_by",
    "cells",
    "coarse_columns",
    "combined",
    "likeliest",
    "seen_classes",
]


MOST_CELLS = 50_000
"""The largest answer that is asked for in one question."""
_ENOUGH = 5


def seen_classes(view: View, known: Knowledge) -> Counts:
    """For every target, down, the count of every secret in the class; NaN where no class fits or nothing is told."""
    table = view.published
    if table is None:
        return asked_by(view, known, coarse_columns(known.quasi, len(known.values)))
    group = table.class_of[known.targets]
    return np.where(group[:, None] >= 0, table.histograms[group], np.nan)


def asked_by(view: View, known: Knowledge, columns: list[str]) -> Counts:
    """The same from one question, by these columns and the secret."""
    parts = [Value(name, known.quasi[name].values) for name in columns]
    (answer,) = view.counts([TableQuery(by=(*parts, Value(known.secret, known.values)))])
    cell = np.zeros(len(known.targets), np.int64)
    for name, part in zip(columns, parts, strict=True):
        cell = cell * part.size + known.quasi[name].codes[known.targets]
    return np.asarray(answer.reshape(-1, len(known.values))[cell])


def coarse_columns(quasi: Mapping[str, Coded], secrets: int) -> list[str]:
    """The columns without those of most values, until the median person shares theirs with four others."""
    names = sorted(quasi, key=lambda name: len(quasi[name].values))
    while len(names) > 1 and not _is_coarse([quasi[name] for name in names], secrets):
        names.pop()
    return names


def cells(columns: Iterable[Coded], secrets: int) -> int:
    """How many counts the answer has by these columns and the secret."""
    return secrets * prod(len(column.values) for column in columns)


def _is_coarse(columns: Sequence[Coded], secrets: int) -> bool:
    if cells(columns, secrets) > MOST_CELLS:
        return False
    classes = EquivalenceClasses.of([column.codes for column in columns])
    return bool(np.median(classes.sizes[classes.number]) >= _ENOUGH)


class Linkage(Attack):
    """Join the outside list with what is seen, on all quasi-identifiers."""

    name = "linkage"
    needs = "The target's quasi-identifiers, and a list of everybody's to see who else has the same."
    claims = "The secret of the only row that fits the target, where it fits nobody else on the list."

    def guess(self, views: Sequence[View], known: Knowledge, chance: Chance) -> Guesses:
        """The secret of a class of one; counts are rounded, for noise is no person."""
        alone = _alone(known)
        counts = _alike(views[0], known, alone)
        found = alone & (np.rint(counts.sum(axis=1)) == 1)  # not where it is NaN
        note = f"{alone.mean():.0%} of the targets are like nobody else on the list."
        return Guesses(np.where(found, np.nan_to_num(counts).argmax(axis=1), -1), note)


def _alone(known: Knowledge) -> npt.NDArray[np.bool_]:
    """Whether each target is like nobody else on the outside list."""
    classes = EquivalenceClasses.of([column.codes for column in known.quasi.values()])
    return np.asarray(classes.sizes[classes.number[known.targets]] == 1)


def _alike(view: View, known: Knowledge, alone: npt.NDArray[np.bool_]) -> Counts:
    """For every target how many of those with the same quasi-identifiers have each secret; NaN where it is no use."""
    if view.published is not None:
        return seen_classes(view, known)
    if cells(known.quasi.values(), len(known.values)) <= MOST_CELLS:
        return asked_by(view, known, list(known.quasi))
    found = np.full((len(alone), len(known.values)), np.nan)
    if alone.any():
        found[alone] = view.counts([_about(known, int(target)) for target in known.targets[alone]])
    return found


def _about(known: Knowledge, target: int) -> TableQuery:
    """One target's quasi-identifiers, by secret."""
    where = [(Value(name, column.values), int(column.codes[target])) for name, column in known.quasi.items()]
    return TableQuery(by=(Value(known.secret, known.values),), where=tuple(where))


_NEARLY_ALL = 0.9


class Homogeneity(Attack):
    """Claim the secret that all of a class share."""

    name = "homogeneity"
    needs = "The target's quasi-identifiers."
    most_targets = 1000

    def __init__(self, share: float = 1.0) -> None:
        """Claim a secret where at least this ``share`` of the class has it."""
        if not 0.5 < share <= 1:
            raise InvalidValue("the share must be above one half and at most 1", share)
        self.share = share
        everybody = "everybody has" if share == 1 else f"{share:.0%} or more have"
        self.claims = f"The secret of a class in which {everybody} the same one."

    def guess(self, views: Sequence[View], known: Knowledge, chance: Chance) -> Guesses:
        """The secret of the class where it is the same; counts are rounded, for noise is no person."""
        counts = np.rint(np.maximum(seen_classes(views[0], known), 0))
        total = np.nansum(counts, axis=1)
        most = np.nan_to_num(counts).max(axis=1)
        shared = (total > 0) & (most >= self.share * total)
        nearly = (total > 0) & (most >= _NEARLY_ALL * total)
        note = (
            f"In the class of {nearly.mean():.0%} of the targets one secret has a share of {_NEARLY_ALL:.0%} or more."
        )
        return Guesses(np.where(shared, np.nan_to_num(counts).argmax(axis=1), -1), note)


class BackgroundKnowledge(Attack):
    """Rule out what the target cannot have, and see what is left of the class."""

    name = "background knowledge"
    needs = "The target's quasi-identifiers, and up to two secrets that the target is known not to have."
    most_targets = 1000
    rules_out = True

    def __init__(self, confidence: float = 0.9) -> None:
        """Claim a secret where at least this share of what is left of the class has it."""
        if not 0.5 < confidence <= 1:
            raise InvalidValue("the confidence must be above one half and at most 1", confidence)
        self.confidence = confidence
        self.claims = f"A secret that {confidence:.0%} or more of the class have, when those ruled out are left aside."

    def guess(self, views: Sequence[View], known: Knowledge, chance: Chance) -> Guesses:
        """The likeliest secret that is left, where it is likely enough."""
        counts = np.rint(np.maximum(np.nan_to_num(seen_classes(views[0], known)), 0))
        left = np.where(known.excluded, 0, counts)
        total, most = left.sum(axis=1), left.max(axis=1)
        sure = (total > 0) & (most >= self.confidence * total)
        return Guesses(np.where(sure, left.argmax(axis=1), -1))


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
        fits_some = sizes > 0  # not where it is NaN
        with np.errstate(divide="ignore"):
            total[fits_some] += np.log(one[fits_some] / sizes[fits_some, None])
        seen |= fits_some
    total[~seen] = -np.inf
    return total


def likeliest(scores: npt.NDArray[np.float64]) -> Codes:
    """For every target the secret with the greatest score, -1 where none is left."""
    return np.where(np.isfinite(scores).any(axis=1), scores.argmax(axis=1), -1)


def _shown(view: View, known: Knowledge) -> Counts:
    """The class of every target. An answer may be off, so what it counts as nobody is not ruled out."""
    counts = seen_classes(view, known)
    return counts if view.published is not None else np.maximum(counts, 0) + _HALF_A_PERSON
