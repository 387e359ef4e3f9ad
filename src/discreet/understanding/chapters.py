"""All chapters, in the order in which they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.privacy.shown import shown
from discreet.understanding.chapter import Chapter
from discreet.understanding.practice import about_groups, about_repeated, about_usefulness
from discreet.understanding.promise import (
    about_believing,
    about_costs,
    about_delta,
    about_guessing,
    about_two_laws,
)
from discreet.understanding.study import about_insurance

if TYPE_CHECKING:
    from discreet.understanding.given import Given
    from discreet.understanding.understanding import Understanding

__all__ = ["HOW_ROUNDED", "INTRODUCTION", "WORST_CASE", "chapters", "title", "verdict_words"]

INTRODUCTION = (
    "A record is what a table holds about one person. Answers come with noise, and ε limits how much any answer may "
    "depend on any one record: the smaller, the safer, and the noisier."
)
WORST_CASE = (
    "It holds for every attacker, whatever they know. It is about one answer: what counts for me is the sum of the ε "
    "of all answers about me."
)
HOW_ROUNDED = (
    "Chances and factors are exact or rounded towards more danger; premiums and costs are rounded up; chances of "
    "single answers and errors are rounded to the nearest digit."
)


def title(given: Given) -> str:
    """The promise in a line."""
    loss = f"ε = {shown(given.epsilon)}"
    return (
        f"What {loss} and δ = {shown(given.delta)} mean for one person"
        if given.delta
        else f"What {loss} means for one person"
    )


def verdict_words(found: Understanding) -> str:
    """The verdict in a line."""
    return f"Protection: {found.verdict.name}"


def chapters(found: Understanding) -> list[Chapter]:
    """The chapters; one about δ where there is one."""
    return [
        about_two_laws(found),
        about_guessing(found),
        about_believing(found),
        *([] if found.exposure is None else [about_delta(found, found.exposure)]),
        about_insurance(found),
        about_costs(found),
        about_groups(found),
        about_repeated(found),
        about_usefulness(found),
    ]
