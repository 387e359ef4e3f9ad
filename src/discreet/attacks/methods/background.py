"""What is known not to be true of the target makes the rest of the class say more."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.attacks.attack import Attack, Guesses, Knowledge
from discreet.attacks.methods.seen_classes import seen_classes
from discreet.attacks.view import View
from discreet.errors import InvalidValue
from discreet.noise.experiment import Chance

__all__ = ["BackgroundKnowledge"]


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
