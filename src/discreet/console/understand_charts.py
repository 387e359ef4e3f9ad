"""The charts about ε, as options for ECharts."""

from __future__ import annotations

from typing import Any

from discreet.console.charts import Axis, Bars, Line, bar_chart, colour_of, line_chart
from discreet.console.understand_figures import Figures

__all__ = ["beliefs_chart", "errors_chart", "groups_chart", "laws_chart", "trade_off_chart"]

_WHOLE = 100
_NAMES = ("a count", "a mean", "a histogram")


def laws_chart(found: Figures) -> dict[str, Any]:
    """How likely each answer is, with and without Alice."""
    laws = found.laws
    both = (("without Alice", laws.chance_without, 1, "solid"), ("with Alice", laws.chance_with, 2, "dashed"))
    lines = [
        Line(
            name,
            [(answer, _percent(chance)) for answer, chance in zip(laws.answers, chances, strict=True)],
            colour,
            dash,
            area=True,
            marks=len(laws.answers) < 20,
        )
        for name, chances, colour, dash in both
    ]
    ends = laws.answers[0], laws.answers[-1]
    return line_chart(lines, Axis("the noisy count", *ends), Axis("chance", 0, unit="%"))


def trade_off_chart(found: Figures) -> dict[str, Any]:
    """The least misses for every rate of false alarms."""
    corners = [(_percent(alarms), _percent(misses)) for alarms, misses in found.guessing.corners]
    limit = [(0.0, 100.0), *corners] if found.given.delta else corners
    lines = [
        Line("nobody does better", limit, 1, area=True, marks=True),
        Line("a coin", [(0, 100), (100, 0)], 6, "dotted"),
    ]
    return line_chart(lines, Axis("false alarms", 0, 100, unit="%"), Axis("misses", 0, 100, unit="%"))


def beliefs_chart(found: Figures) -> dict[str, Any]:
    """Where a belief can end up, for every belief before."""
    curve = found.believing.curve
    lines = [
        Line("at most", [(_percent(one.before), _percent(one.high)) for one in curve], 2),
        Line("nothing learned", [(0, 0), (100, 100)], 6, "dotted"),
        Line("at least", [(_percent(one.before), _percent(one.low)) for one in curve], 1, "dashed"),
    ]
    at = _percent(found.belief.before)
    dots = [(at, _percent(found.belief.low)), (at, _percent(found.belief.high))]
    before, after = Axis("belief before", 0, 100, unit="%"), Axis("belief after", 0, 100, unit="%")
    return line_chart(lines, before, after, at=at, dots=dots)


def groups_chart(found: Figures) -> dict[str, Any]:
    """The best guess about groups of several sizes."""
    names = ["1 person" if one.size == 1 else f"{one.size:,} people" for one in found.groups]
    own = next(place for place, one in enumerate(found.groups) if one is found.group)
    bars = Bars("best guess", [_percent(one.accuracy) for one in found.groups], 6, {own: colour_of(1)})
    return bar_chart(names, [bars], Axis("best guess is right", 0, 100, unit="%"), reference=50)


def errors_chart(found: Figures) -> dict[str, Any]:
    """Errors as a share of the whole, for tables of many sizes."""
    dashes = ("solid", "dashed", "dotted")
    lines = [
        Line(
            name,
            [(people, max(min(_percent(errors[place].share), 100.0), 1e-6)) for people, errors in found.by_people],
            place + 1,
            dashes[place],
            marks=True,
        )
        for place, name in enumerate(_NAMES)
    ]
    sizes = found.by_people
    at = min(max(found.given.n, sizes[0][0]), sizes[-1][0])
    people = Axis("people in the table", sizes[0][0], sizes[-1][0], is_log=True)
    return line_chart(lines, people, Axis("error, of the whole", is_log=True, unit="%"), at=at)


def _percent(share: Any) -> float:
    return _WHOLE * float(share)
