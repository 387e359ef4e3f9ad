"""What an owner does before the outsider sees anything."""

from __future__ import annotations

from abc import ABC, abstractmethod

from discreet.attacks.people import People
from discreet.attacks.view import View
from discreet.noise.experiment import Chance
from discreet.privacy.loss import Loss

__all__ = ["Defence"]


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
