"""Find the one row, or the one count, that only the target can be: the oldest attack on tables without names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from discreet.anonymize.classes import Classes
from discreet.attacks.attack import Attack, Guesses, Knowledge
from discreet.attacks.methods.seen_classes import MOST_CELLS, asked_by, cells, seen_classes
from discreet.attacks.parts import Value
from discreet.attacks.question import Question
from discreet.attacks.view import Counts, View
from discreet.noise.experiment import Chance

__all__ = ["Linkage"]


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
    classes = Classes.of([column.codes for column in known.quasi.values()])
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


def _about(known: Knowledge, target: int) -> Question:
    """One target's quasi-identifiers, by secret."""
    where = [(Value(name, column.values), int(column.codes[target])) for name, column in known.quasi.items()]
    return Question(by=(Value(known.secret, known.values),), where=tuple(where))
