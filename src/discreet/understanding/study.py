"""The chapter about Alice: what a study tells about her without her."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from discreet.understanding.chapter import Bar, Cell, Chapter
from discreet.understanding.rounding import share, times

if TYPE_CHECKING:
    from discreet.understanding.insurance import Insurance
    from discreet.understanding.understanding import Understanding

__all__ = ["about_insurance"]

_TEACHES = Fraction(1, 100)
"""A belief that moved by less than one in a hundred has not moved, as people see it."""


def about_insurance(found: Understanding) -> Chapter:
    """What is learned about Alice with and without Alice."""
    one = found.insurance
    story = (
        f"Alice smokes. Her insurer wonders whether smoking harms: if it does, {share(one.harmful, up=True)} of "
        f"smokers fall ill, otherwise {share(one.harmless, up=True)}; both seem equally likely. A study of "
        f"{one.smokers} smokers publishes its count of the ill with noise of this ε: {one.published}. How likely does "
        f"the insurer now think that Alice falls ill, and what is a fair premium if the illness costs {one.cost:,}?"
    )
    bound = (
        f"For every insurer and every answer, beliefs with and without her record are within {times(one.bound)} times "
        f"(e^2ε) of each other; here, within {times(one.apart)}."
    )
    informed = (
        "The last two rows are an insurer who knows every other record. What is left to learn is Alice's own record, "
        "and that is what ε limits."
    )
    notes = [_lesson(one), informed, bound]
    if found.given.delta:
        notes.append("That bound is for δ = 0, which this count keeps. With δ above 0 it can fail for rare answers.")
    return Chapter(
        "insurance",
        "Smoking and cancer: what is learned about Alice without Alice",
        (story,),
        ("what the insurer thinks", "Alice falls ill", "", "premium"),
        tuple(_rows(one)),
        tuple(notes),
    )


def _rows(one: Insurance) -> list[tuple[Cell, ...]]:
    return [
        _row("before the study", one.before, one.cost),
        _row("after it, without her record", one.without_her, one.cost),
        _row("after it, with her record", one.with_her, one.cost),
        _row("knowing all others: without hers", one.informed, one.cost),
        (
            "knowing all others: with hers",
            f"{share(one.informed_low, up=False)} to {share(one.informed_high, up=True)}",
            Bar(one.informed_high, one.informed_low),
            _premium(one.informed_high, one.cost),
        ),
    ]


def _row(name: str, belief: Fraction, cost: int) -> tuple[Cell, ...]:
    return name, share(belief, up=True), Bar(belief), _premium(belief, cost)


def _premium(belief: Fraction, cost: int) -> str:
    return f"{ceil(belief * cost):,}"


def _lesson(one: Insurance) -> str:
    if abs(one.without_her - one.before) < _TEACHES:
        return f"At this ε the noise hides what smoking does: {one.smokers} people are too few to learn it from."
    return (
        "The premium rises although Alice's record was not used: the study teaches what smoking does, which is what "
        "studies are for. No promise about her record could prevent that."
    )
