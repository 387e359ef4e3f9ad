"""What an ε means for one person: everything that can be computed about it, in one object with three views.

One word sums it up. The words are a choice of ours; the figure behind them is a theorem.

>>> found = understand(1)
>>> found.verdict.name, float(round(found.guessing.accuracy, 4))
('moderate', 0.7311)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.exact.rational import Number
from discreet.interpretation.answers import Insurance, Repeated, TwoLaws, Usefulness
from discreet.interpretation.chapters import understanding_document
from discreet.interpretation.data import understanding_data
from discreet.interpretation.given import Given, share, times
from discreet.interpretation.person import Believing, Costs, Exposure, Group, Guessing, groups
from discreet.privacy.format import shown
from discreet.reports.document import Document
from discreet.reports.report import Report

__all__ = ["SCALE", "PromiseVerdict", "Understanding", "understand", "verdict"]


SCALE = (
    (Fraction(55, 100), "strong"),
    (Fraction(75, 100), "moderate"),
    (Fraction(90, 100), "limited"),
    (Fraction(99, 100), "weak"),
    (Fraction(1), "next to none"),
)
"""Up to which accuracy of the best guess at even odds a promise has each name; a coin reaches one half."""

_LIMITED = 2

_MEANING = {
    "strong": "Nobody learns more than a hint about whether my record was used, whatever they know.",
    "moderate": "It is real protection, and it is not certainty: a determined attacker learns something.",
    "limited": "An attacker who looks at the answers with care may be right most of the time.",
    "weak": "The promise alone leaves an attacker almost sure. It counts on attackers who know less.",
    "next to none": "The promise alone protects nobody. If anything does, it is what attackers do not know or try.",
}


@dataclass(frozen=True)
class PromiseVerdict:
    """How much a promise protects one person."""

    name: str
    """One of the names of the scale."""
    words: str
    """Why, in a few sentences."""


def verdict(given: Given, guessing: Guessing, laws: TwoLaws, exposure: Exposure | None) -> PromiseVerdict:
    """The first name of the scale that the best guess does not exceed, or a worse one where δ is large for n people."""
    least = _least(exposure)
    name = next(name for place, (most, name) in enumerate(SCALE) if guessing.accuracy <= most and place >= least)
    what, delta = ("set of answers", f", plus δ = {shown(given.delta, 3)}") if given.delta else ("answer", "")
    figures = (
        f"Whoever tries to tell whether my record was used is right at most {share(guessing.accuracy, up=True)} of the "
        f"time, where a coin is right 50 %. No {what} is more than {times(laws.factor)} times likelier with my record "
        f"than without it{delta}."
    )
    too_large = f"δ is too large for {given.n:,} people: a mechanism that publishes some of their records may keep it."
    return PromiseVerdict(name, f"{figures} {too_large if least else _MEANING[name]}")


def _least(exposure: Exposure | None) -> int:
    """The best place on the scale that δ leaves: the last one where it allows to publish a record or more."""
    if exposure is None or exposure.is_rare:
        return 0
    return _LIMITED if exposure.expected < 1 else len(SCALE) - 1


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
