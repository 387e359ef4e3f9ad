"""Where everybody who looks like the target has the same secret, nobody needs to find the target's row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.attacks.attack import Attack, Guesses, Knowledge
from discreet.attacks.methods.seen_classes import seen_classes
from discreet.attacks.view import View
from discreet.errors import InvalidValue
from discreet.noise.experiment import Chance

__all__ = ["Homogeneity"]

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
