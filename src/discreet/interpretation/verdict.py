"""One word for a promise, and why. The words are a choice of ours; the figure behind them is a theorem."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.interpretation.answers import TwoLaws
from discreet.interpretation.given import Given, share, times
from discreet.interpretation.person import Exposure, Guessing
from discreet.privacy.format import shown

__all__ = ["SCALE", "PromiseVerdict", "verdict"]


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
