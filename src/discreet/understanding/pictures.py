"""The charts of the chapters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.pages.line_chart import Series, line_chart

if TYPE_CHECKING:
    from discreet.understanding.understanding import Understanding

__all__ = ["picture_of"]


def picture_of(found: Understanding, chapter: str) -> str:
    """The chart of a chapter; empty where it has none."""
    match chapter:
        case "laws":
            return _laws(found)
        case "guessing":
            return _guessing(found)
        case "believing":
            return _believing(found)
        case "repeated":
            return _repeated(found)
        case "usefulness":
            return _usefulness(found)
    return ""


def _laws(found: Understanding) -> str:
    laws = found.laws
    series = [
        Series(name, [(answer, 100 * chance) for answer, chance in zip(laws.answers, chances, strict=True)])
        for name, chances in (("without my record", laws.chance_without), ("with my record", laws.chance_with))
    ]
    return line_chart(
        series, title="How likely each answer is", x_label="the answer", y_label="chance in %", y_holds=(0,)
    )


def _guessing(found: Understanding) -> str:
    corners = [(100 * float(alarms), 100 * float(misses)) for alarms, misses in found.guessing.corners]
    return line_chart(
        [Series("nobody does better than this", corners, marks=True), Series("a coin", [(0, 100), (100, 0)])],
        title="The two errors of an attacker",
        x_label="unused records called used, in %",
        y_label="used records missed, in %",
        y_holds=(0, 100),
    )


def _believing(found: Understanding) -> str:
    curve = found.believing.curve
    ends = {
        "at most after the answer": [(100 * float(one.before), 100 * float(one.high)) for one in curve],
        "at least after the answer": [(100 * float(one.before), 100 * float(one.low)) for one in curve],
        "nothing learned": [(0.0, 0.0), (100.0, 100.0)],
    }
    return line_chart(
        [Series(name, points) for name, points in ends.items()],
        title="What can be believed about me",
        x_label="before the answer, in %",
        y_label="after the answer, in %",
        y_holds=(0, 100),
    )


def _repeated(found: Understanding) -> str:
    curve = found.repeated.curve
    return line_chart(
        [
            Series("what adding ε up allows", [(count, 100 * float(allowed)) for count, allowed, _ in curve]),
            Series("the worst mechanism", [(count, 100 * worst) for count, _, worst in curve]),
        ],
        title="How often the best guess is right",
        x_label="answers about me",
        y_label="right, in %",
        log_x=True,
        reference=50,
        reference_label="a coin",
        y_holds=(50, 100),
    )


def _usefulness(found: Understanding) -> str:
    sizes = found.usefulness.by_people
    return line_chart(
        [
            Series("with a curator", [(people, 100 * min(central, 1.0)) for people, central, _ in sizes], marks=True),
            Series("without one", [(people, 100 * min(local, 1.0)) for people, _, local in sizes], marks=True),
        ],
        title="How far a count is typically off",
        x_label="people in the table",
        y_label="in % of the people, at most 100",
        log_x=True,
        y_holds=(0,),
    )
