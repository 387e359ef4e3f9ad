"""Who decides whether the greatest value of a group may be told, by what was told before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from discreet.attacks.greatest_values import Maxima
from discreet.attacks.people import Codes

__all__ = ["MaxAuditor"]


@dataclass
class MaxAuditor:
    """Refuses what would make somebody's value certain.

    The naive one computes the true answer and refuses where *it* would do so. Then the refusal says something about the
    truth. The simulatable one (Kenthapadi, Mishra and Nissim 2005) refuses where *some* answer that is possible would
    do so: anybody can work out beforehand what it will refuse, so its refusals say nothing. The price is what it
    refuses. Where values have a known least one, that is everything: any group might have it, all of them. Auditors in
    papers take values for real numbers, and then a first question about two people is answered.
    """

    people: int
    """How many people there are."""
    values: int
    """How many values there are: 0, 1, and so on."""
    is_simulatable: bool
    """Whether it decides without looking at the true answer."""
    lowest: int | None = 0
    """The least value; None for an auditor who takes values for real numbers without an end."""
    told: Maxima = field(init=False)
    """What was answered so far."""

    def __post_init__(self) -> None:
        self.told = Maxima(self.people)

    def allows(self, group: Codes, truth: int) -> bool:
        """Whether the true answer may be told; if so, it is remembered."""
        if not len(group):
            return True  # that nobody is in it is no secret
        if any(self._discloses(self.told.with_answer(group, answer)) for answer in self._looked_at(truth)):
            return False
        self.told = self.told.with_answer(group, truth)
        return True

    def _looked_at(self, truth: int) -> Sequence[int]:
        """The answers that decide. Real numbers have one more on each side, which stands for all that lie there."""
        if not self.is_simulatable:
            return [truth]
        return range(self.values) if self.lowest is not None else range(-1, self.values + 1)

    def _discloses(self, told: Maxima) -> bool:
        return told.is_possible and bool(told.certain(self.lowest).any())
