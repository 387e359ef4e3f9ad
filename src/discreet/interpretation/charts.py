"""The charts of the chapters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.reports.document import LineChart, Series

if TYPE_CHECKING:
    from discreet.interpretation.understanding import Understanding

__all__ = ["believing_chart", "guessing_chart", "laws_chart", "repeated_chart", "usefulness_chart"]


def laws_chart(found: Understanding) -> LineChart:
    """The two laws of a noisy count."""
    laws = found.laws
    series = [
        Series(name, [(answer, 100 * chance) for answer, chance in zip(laws.answers, chances, strict=True)])
        for name, chances in (("without my record", laws.chance_without), ("with my record", laws.chance_with))
    ]
    return LineChart(series, "How likely each answer is", "the answer", "chance in %", y_holds=(0,))


def guessing_chart(found: Understanding) -> LineChart:
    """The two errors of the best tests."""
    corners = [(100 * float(alarms), 100 * float(misses)) for alarms, misses in found.guessing.corners]
    return LineChart(
        [Series("nobody does better than this", corners, marks=True), Series("a coin", [(0, 100), (100, 0)])],
        title="The two errors of an attacker",
        x_label="unused records called used, in %",
        y_label="used records missed, in %",
        y_holds=(0, 100),
    )


def believing_chart(found: Understanding) -> LineChart:
    """Beliefs after the answer over beliefs before it."""
    curve = found.believing.curve
    ends = {
        "at most after the answer": [(100 * float(one.before), 100 * float(one.high)) for one in curve],
        "at least after the answer": [(100 * float(one.before), 100 * float(one.low)) for one in curve],
        "nothing learned": [(0.0, 0.0), (100.0, 100.0)],
    }
    return LineChart(
        [Series(name, points) for name, points in ends.items()],
        title="What can be believed about me",
        x_label="before the answer, in %",
        y_label="after the answer, in %",
        y_holds=(0, 100),
    )


def repeated_chart(found: Understanding) -> LineChart:
    """The best guess over the number of answers."""
    curve = found.repeated.curve
    return LineChart(
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


def usefulness_chart(found: Understanding) -> LineChart:
    """The error of a count over the number of people."""
    sizes = found.usefulness.by_people
    return LineChart(
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
