"""What an ε means, as plain data that JSON can hold.

Names and nesting are stable: a change of meaning changes ``version``. Probabilities are floats rounded to the side of
more danger. A factor too large for a float is null; its words are there all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.interpretation.given import float_down, float_up, times

if TYPE_CHECKING:
    from discreet.interpretation.understanding import Understanding

__all__ = ["understanding_data"]


_VERSION = 1


def understanding_data(found: Understanding) -> dict[str, Any]:
    """Everything that the other views show, a chapter each."""
    return {"version": _VERSION} | {name: chapter(found) for name, chapter in _CHAPTERS.items()}


def _given(found: Understanding) -> dict[str, Any]:
    given = found.given
    return {
        "epsilon": float(given.epsilon),
        "delta": float_up(given.delta),
        "group": given.group,
        "prior": float(given.prior),
        "n": given.n,
    }


def _verdict(found: Understanding) -> dict[str, Any]:
    return {"protection": found.verdict.name, "words": found.verdict.words}


def _with_and_without(found: Understanding) -> dict[str, Any]:
    return {
        "largest_ratio": _factor(found.laws.factor),
        "count_without_me": found.laws.without,
        "answers": list(found.laws.answers),
        "chance_without_me": list(found.laws.chance_without),
        "chance_with_me": list(found.laws.chance_with),
    }


def _telling(found: Understanding) -> dict[str, Any]:
    return {
        "best_accuracy": float_up(found.guessing.accuracy),
        "detection": [
            {"false_alarms": float(one.false_alarms), "caught_at_most": float_up(one.caught)}
            for one in found.guessing.detections
        ],
        "least_errors": [[float_down(alarms), float_down(misses)] for alarms, misses in found.guessing.corners],
    }


def _believing(found: Understanding) -> dict[str, Any]:
    return {
        "odds_move_at_most": None if found.believing.factor is None else _factor(found.believing.factor),
        "but_for_answers_with_probability": float_up(found.believing.exception),
        "beliefs": [
            {"before": float(one.before), "after_at_least": float_down(one.low), "after_at_most": float_up(one.high)}
            for one in found.believing.beliefs
        ],
    }


def _costs(found: Understanding) -> dict[str, Any]:
    return {
        "stake": found.costs.stake,
        "events": [
            {
                "without_me": float(one.without_me),
                "with_me_at_least": float_down(one.low),
                "with_me_at_most": float_up(one.high),
            }
            for one in found.costs.events
        ],
    }


def _groups(found: Understanding) -> list[dict[str, Any]]:
    return [
        {
            "people": one.size,
            "epsilon": float_up(one.epsilon),
            "delta": float_up(one.delta),
            "largest_ratio": _factor(one.factor),
            "best_accuracy": float_up(one.accuracy),
        }
        for one in found.groups
    ]


def _many_answers(found: Understanding) -> list[dict[str, Any]]:
    return [
        {"accuracy": float(one.accuracy), "adding_up": one.by_adding, "at_worst": one.at_worst}
        for one in found.repeated.repetitions
    ]


def _errors(found: Understanding) -> dict[str, Any]:
    return {
        "questions": [
            {
                "question": one.question,
                "within_95_percent": one.within,
                "standard_deviation": one.typical,
                "share_of_the_whole": one.share,
            }
            for one in found.usefulness.central
        ],
        "count_without_curator_standard_deviation": found.usefulness.local,
    }


def _delta(found: Understanding) -> dict[str, Any] | None:
    if found.exposure is None:
        return None
    return {
        "records_published_at_worst": float_up(found.exposure.expected),
        "any_record_published_at_worst": float_up(found.exposure.any),
    }


def _factor(factor: Fraction) -> dict[str, Any]:
    return {"value": float_up(factor), "words": times(factor)}


def _insurance(found: Understanding) -> dict[str, Any]:
    one = found.insurance
    return {
        "smokers": one.smokers,
        "ill_if_harmless": float(one.harmless),
        "ill_if_harmful": float(one.harmful),
        "published_count": one.published,
        "cost_of_illness": one.cost,
        "before": float(one.before),
        "after_without_her_record": float_up(one.without_her),
        "after_with_her_record": float_up(one.with_her),
        "apart_at_most": _factor(one.bound),
        "apart_here": _factor(one.apart),
        "knowing_all_others": {
            "without_her_record": float_up(one.informed),
            "with_her_record_at_least": float_down(one.informed_low),
            "with_her_record_at_most": float_up(one.informed_high),
        },
    }


_CHAPTERS: dict[str, Callable[[Understanding], Any]] = {
    "given": _given,
    "verdict": _verdict,
    "with_and_without": _with_and_without,
    "telling": _telling,
    "believing": _believing,
    "insurance": _insurance,
    "costs": _costs,
    "groups": _groups,
    "many_answers": _many_answers,
    "errors": _errors,
    "delta": _delta,
}
"""The chapters under the names that programs know, in the order of the other views."""
