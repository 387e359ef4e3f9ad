"""The chapters about what is promised: telling, believing, costs, and what δ adds."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from discreet.privacy.shown import shown
from discreet.understanding.chapter import Bar, Chapter
from discreet.understanding.rounding import share, times

if TYPE_CHECKING:
    from discreet.understanding.believing import Believing
    from discreet.understanding.exposure import Exposure
    from discreet.understanding.understanding import Understanding

__all__ = ["about_believing", "about_costs", "about_delta", "about_guessing", "about_two_laws"]

_ROWS = 9
_LIKELY = 0.1
_SMALL = Fraction(1, 1000)
_TWO_STEPS = (
    "If the promise is about my record being there or not (add-remove-one, the default), this is what they believe "
    "about that. What my record says is then one record out and another one in: two steps, so it is promised what two "
    "people are promised together. If the promise is about my record exchanged for another (replace-one), it holds as "
    "it stands."
)


def about_two_laws(found: Understanding) -> Chapter:
    """The two laws of a noisy count."""
    laws, count = found.laws, found.laws.without
    factor = times(laws.factor)
    highest = max(laws.chance_without)
    middle, apart = laws.answers.index(count), max(1, len(laws.answers) // _ROWS)
    rows = tuple(
        (
            f"{answer:,}",
            _chance(without_me),
            Bar(without_me / highest, is_comparison=True),
            _chance(with_me),
            Bar(with_me / highest),
            f"{'÷' if answer <= count else '×'} {factor}",
        )
        for place, (answer, without_me, with_me) in enumerate(
            zip(laws.answers, laws.chance_without, laws.chance_with, strict=True)
        )
        if (place - middle) % apart == 0
    )
    story = (
        f"Somebody asks how many people in the table are ill: {count} without my record, {count + 1} with it. The "
        "answer is that count plus noise, so either table may give any of these answers."
    )
    limit = f"None of them is more than {factor} times (e^ε) likelier or less likely with my record than without it."
    return Chapter(
        "laws",
        "With and without my record",
        (story, limit),
        ("answer", "without me", "", "with me", "", "ratio"),
        rows,
        ("This noise needs no δ.",) if found.given.delta else (),
    )


def _chance(chance: float) -> str:
    return f"{100 * chance:.0f} %" if chance == 0 or chance >= _LIKELY else f"{100 * chance:.2g} %"


def about_guessing(found: Understanding) -> Chapter:
    """The best tests."""
    guessing = found.guessing
    rows = tuple(
        (f"{one.false_alarms * 100} of 100", share(one.caught, up=True), Bar(one.caught)) for one in guessing.detections
    )
    story = (
        "Let an attacker know every other record and compute for as long as they like. They see the answer and say "
        "whether my record was used; both are equally likely beforehand."
    )
    limit = f"A coin is right 50 % of the time. The best attacker is right at most {share(guessing.accuracy, up=True)}."
    return Chapter(
        "guessing",
        "Can anybody tell whether my record was used?",
        (story, limit, "An attacker who will not accuse many people wrongly finds no more than these:"),
        ("accused wrongly", "found, at most", ""),
        rows,
    )


def about_believing(found: Understanding) -> Chapter:
    """Beliefs before and after."""
    believing = found.believing
    rows = tuple(
        (share(one.before, up=True), share(one.low, up=False), share(one.high, up=True), Bar(one.high, one.low))
        for one in believing.beliefs
    )
    story = (
        "Somebody who knows every other record thinks something about me, with the probability on the left. "
        f"{_movement(believing)} This is where they can end up:"
    )
    is_limited = believing.factor is not None
    rare = ("The rare answers that are left out may prove anything about me.",) if believing.exception else ()
    return Chapter(
        "believing",
        "What can they believe about me afterwards?",
        (story,),
        ("before", "at least", "at most", ""),
        rows,
        (*rare, _TWO_STEPS) if is_limited else (),
    )


def _movement(believing: Believing) -> str:
    if believing.factor is None:
        return "With a δ as large as this one, an answer may prove anything about me."
    limit = f"the odds by at most {times(believing.factor)} times, up or down."
    if not believing.exception:
        return f"Whatever the answer is, it moves {limit}"
    return f"But for rare answers, with a probability of at most {_small(believing.exception)}, it moves {limit}"


def about_costs(found: Understanding) -> Chapter:
    """What taking part may cost."""
    stake = found.costs.stake
    rows = tuple(
        (
            share(one.without_me, up=True),
            share(one.low, up=False),
            share(one.high, up=True),
            Bar(one.high),
            f"{ceil(one.without_me * stake):,}",
            f"{ceil(one.high * stake):,}",
        )
        for one in found.costs.events
    )
    story = (
        "The answer may lead to something bad for me: a refused loan, a higher premium. Say that it has a certain "
        f"chance without my record, and costs {stake:,}. With my record the chance, and the cost on average, become:"
    )
    return Chapter(
        "costs",
        "What may taking part cost me?",
        (story,),
        ("chance without me", "with me, at least", "at most", "", "cost without me", "with me, at most"),
        rows,
    )


def about_delta(found: Understanding, exposure: Exposure) -> Chapter:
    """What δ adds."""
    n, delta = found.given.n, shown(found.given.delta, 3)
    story = (
        f"ε says nothing about what happens with probability δ. A mechanism that publishes every record in the clear "
        f"with probability {delta} keeps this promise. In a table of {n:,} people it publishes "
        f"{shown(exposure.expected, 3)} records on average, and at least one with probability {_small(exposure.any)}."
    )
    advice = (
        "That is too much: choose a δ far below 1 divided by the number of people."
        if not exposure.is_rare
        else "A δ far below 1 divided by the number of people, as this one is, keeps that unlikely."
    )
    return Chapter("delta", f"What does δ = {delta} add?", (story, advice), (), ())


def _small(chance: Fraction) -> str:
    """A probability that may be too small for a percentage, rounded up."""
    return share(chance, up=True) if chance >= _SMALL else shown(chance, 2)
