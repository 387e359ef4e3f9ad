"""What an ε means for one person: everything that can be computed about it, in one object with three views.

>>> found = understand(1)
>>> found.verdict.name, float(round(found.guessing.accuracy, 4))
('moderate', 0.7311)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.exact.rational import Number
from discreet.interpretation.answers import Insurance, Repeated, TwoLaws, Usefulness
from discreet.interpretation.chapters import understanding_document
from discreet.interpretation.data import understanding_data
from discreet.interpretation.given import Given
from discreet.interpretation.person import Believing, Costs, Exposure, Group, Guessing, groups
from discreet.interpretation.verdict import PromiseVerdict, verdict
from discreet.reports.document import Document
from discreet.reports.report import Report

__all__ = ["Understanding", "understand"]


@dataclass(frozen=True)
class Understanding(Report):
    """What a promise means. Probabilities are rationals, exact or rounded towards more danger."""

    given: Given
    """What was asked about."""
    verdict: PromiseVerdict
    """One word, and why."""
    laws: TwoLaws
    """A noisy count with and without my record."""
    guessing: Guessing
    """How well anybody can tell whether my record was used."""
    believing: Believing
    """What anybody can believe about me afterwards."""
    insurance: Insurance
    """What is learned about Alice with and without Alice."""
    costs: Costs
    """What taking part may cost."""
    groups: tuple[Group, ...]
    """The promise to several people together."""
    repeated: Repeated
    """Many answers of the same loss."""
    usefulness: Usefulness
    """How good the answers are."""
    exposure: Exposure | None
    """What δ allows; None where it is 0."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return understanding_data(self)

    def document(self) -> Document:
        """The verdict, and a chapter for each thing to understand."""
        return understanding_document(self)


def understand(epsilon: Number, delta: Number = 0, group: int = 1, prior: Number = 0.5, n: int = 1000) -> Understanding:
    """What ``epsilon`` and ``delta`` mean for one person and for a ``group``, in a table of ``n`` people.

    ``prior`` is what somebody thinks about a person before the answer. Nothing here reads data or costs anything.
    """
    given = Given.of(epsilon, delta, group, prior, n)
    laws, guessing = TwoLaws.of(given), Guessing.of(given)
    exposure = Exposure.of(given) if given.delta else None
    return Understanding(
        given=given,
        verdict=verdict(given, guessing, laws, exposure),
        laws=laws,
        guessing=guessing,
        believing=Believing.of(given),
        insurance=Insurance.of(given),
        costs=Costs.of(given),
        groups=groups(given),
        repeated=Repeated.of(given),
        usefulness=Usefulness.of(given),
        exposure=exposure,
    )
