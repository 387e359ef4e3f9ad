"""Charts of the console: curves and bars in our colours, light and dark, each with words that say what it shows.

Charts are drawn as SVG and name colours by the variables of the style sheet, so they follow the page without being
drawn again. Whoever cannot see a chart is told its words instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nicegui import ui

__all__ = ["Bars", "Chart", "ChartAxis", "ChartLine", "bar_chart", "line_chart"]


Options = dict[str, Any]
"""What ECharts is told."""

_FONT = "Roboto, system-ui, -apple-system, 'Segoe UI', sans-serif"
_SMALL = 12
_LONG, _WIDEST = 18, 120
"""Names of more letters than this are broken into lines of so many pixels."""
_TEXT, _MUTED, _LINE, _SURFACE = "var(--d-text)", "var(--d-muted)", "var(--d-line)", "var(--d-surface)"
_THICK, _FINE, _MANY = 2.2, 1.1, 120
"""How wide a curve is drawn, and from how many points on it is finer, so that its turns can be told apart."""
_DASHES: dict[str, Any] = {"solid": "solid", "dashed": [7, 4], "dotted": [2, 4]}


@dataclass(frozen=True)
class ChartAxis:
    """One axis of a chart."""

    name: str
    """What it counts."""
    low: float | None = None
    """Where it starts; None leaves it to the data."""
    high: float | None = None
    """Where it ends."""
    is_log: bool = False
    """Whether equal steps multiply."""
    unit: str = ""
    """What follows every number, such as %."""
    is_time: bool = False
    """Whether it counts moments."""


@dataclass(frozen=True)
class ChartLine:
    """A curve through points."""

    name: str
    """What the legend calls it."""
    points: Sequence[tuple[Any, float]]
    """In the order in which they are joined."""
    colour: int = 1
    """Which colour of the palette, from 1."""
    dash: str = "solid"
    """Solid, dashed or dotted: colours alone tell nothing to some."""
    area: bool = False
    """Whether what lies below is tinted."""
    step: bool = False
    """Whether it goes in steps, each to the end of its place."""
    marks: bool = False
    """Whether the points are drawn as well."""
    thin: bool = False
    """Whether it is drawn thin and pale, as the ends of intervals are where there are many."""


@dataclass(frozen=True)
class Bars:
    """One bar for each name, with what it is compared with."""

    name: str
    """What the legend calls them."""
    values: Sequence[float | None]
    """From 0 on; None draws nothing."""
    colour: int = 1
    """Which colour of the palette, from 1."""
    colours: Mapping[int, str] = field(default_factory=dict)
    """The colours of single bars, where they differ."""
    ranges: Sequence[tuple[float, float] | None] = ()
    """For every bar the ends of its interval, drawn as a whisker."""


def colour_of(place: int) -> str:
    """A colour of the palette."""
    return f"var(--d-series-{place})"


def line_chart(
    lines: Sequence[ChartLine],
    x: ChartAxis,
    y: ChartAxis,
    *,
    at: float | None = None,
    level: float | None = None,
    dots: Sequence[tuple[float, float]] = (),
) -> Options:
    """Curves; ``at`` and ``level`` mark a place on either axis, and ``dots`` are points that the words speak of."""
    series = [_line(one) for one in lines]
    marked = {"xAxis": at, "yAxis": level}
    if places := [{axis: place} for axis, place in marked.items() if place is not None]:
        series[0]["markLine"] = _mark(places)
    if dots:
        style = {"color": _SURFACE, "borderColor": _TEXT, "borderWidth": 2}
        points = [list(dot) for dot in dots]
        series.append(_still({"type": "scatter", "data": points, "symbolSize": 11, "itemStyle": style, "z": 5}))
    return _frame(series, _axis(x), _axis(y) | {"nameGap": 0, "nameLocation": "end", "nameTextStyle": _left()}, lines)


def bar_chart(names: Sequence[str], bars: Sequence[Bars], y: ChartAxis, *, reference: float | None = None) -> Options:
    """Bars side by side from the left, one row for each name; ``reference`` is a line across all."""
    series = [part for one in bars for part in _bars(one)]
    if reference is not None and series:
        series[0]["markLine"] = _mark([{"xAxis": reference}])
    width = {"width": _WIDEST, "overflow": "break", "lineHeight": 15} if max(map(len, names), default=0) > _LONG else {}
    labels = {"type": "category", "data": list(names), "inverse": True, "axisLabel": _label() | width}
    labels |= {"axisTick": {"show": False}, "axisLine": {"lineStyle": {"color": _LINE}}}
    return _frame(series, _axis(y), labels, bars if len(bars) > 1 else ())


class Chart:
    """A chart with a sentence below it, both of which can change."""

    def __init__(self, options: Options, words: str, height: str = "17rem") -> None:
        """Draw it where the page is being built."""
        self._chart = ui.echart(options, renderer="svg").classes("w-full").style(f"height:{height}")
        self._chart.props("role=img")
        self._words = ui.label().classes("d-chart-words")
        self.redraw(options, words)

    def redraw(self, options: Options, words: str) -> None:
        """Show other figures, with the words for them."""
        self._chart.options.clear()
        self._chart.options.update(options)
        self._chart.props["aria-label"] = words
        self._chart.update()
        self._words.set_text(words)


# What ECharts is told ----------------------------------------------------------------------------------------------


def _frame(series: list[Options], x: Options, y: Options, named: Sequence[ChartLine | Bars]) -> Options:
    legend = {
        "show": bool(named),
        "top": 0,
        "left": 0,
        "itemWidth": 22,
        "itemHeight": 8,
        "textStyle": {"color": _MUTED, "fontSize": _SMALL, "fontFamily": _FONT},
        "data": [one.name for one in named],
        "selectedMode": False,
    }
    tip = {"trigger": "axis", "backgroundColor": _SURFACE, "borderColor": _LINE, "confine": True}
    tip |= {"textStyle": {"color": _TEXT, "fontSize": _SMALL, "fontFamily": _FONT}, "axisPointer": {"type": "none"}}
    top = 26 * (1 + len(named) // 3) + 18 if named else 18
    grid = {"left": 8, "right": 36, "top": top, "bottom": 28, "containLabel": True}
    return {
        "useUTC": True,
        "animationDuration": 150,
        "animationDurationUpdate": 150,
        "legend": legend,
        "tooltip": tip,
        "grid": grid,
        "xAxis": x,
        "yAxis": y,
        "series": series,
    }


def _label() -> Options:
    return {"color": _MUTED, "fontSize": _SMALL, "fontFamily": _FONT, "hideOverlap": True}


def _left() -> Options:
    return {"color": _MUTED, "fontSize": _SMALL, "fontFamily": _FONT, "align": "left", "padding": [0, 0, 6, -6]}


def _axis(axis: ChartAxis) -> Options:
    kind = "log" if axis.is_log else "time" if axis.is_time else "value"
    label = _label() | ({"formatter": f"{{value}} {axis.unit}"} if axis.unit else {})
    found = {
        "type": kind,
        "name": axis.name,
        "nameLocation": "middle",
        "nameGap": 26,
        "nameTextStyle": {"color": _MUTED, "fontSize": _SMALL, "fontFamily": _FONT},
        "axisLabel": label,
        "axisLine": {"onZero": False, "lineStyle": {"color": _LINE}},
        "axisTick": {"lineStyle": {"color": _LINE}},
        "splitLine": {"lineStyle": {"color": _LINE, "opacity": 0.7}},
        "min": axis.low,
        "max": axis.high,
    }
    return {name: value for name, value in found.items() if value is not None}


def _line(line: ChartLine) -> Options:
    colour = colour_of(line.colour)
    return _still(
        {
            "type": "line",
            "name": line.name,
            "data": [list(point) for point in line.points],
            "lineStyle": {
                "color": colour,
                "type": _DASHES[line.dash],
                "width": _FINE if line.thin or len(line.points) > _MANY else _THICK,
                "opacity": 0.45 if line.thin else 1,
            },
            "itemStyle": {"color": colour},
            "symbol": "circle" if line.marks else "none",
            "symbolSize": 6,
            "step": "end" if line.step else False,
            "areaStyle": {"color": colour, "opacity": 0.12 if line.area else 0},
        }
    )


def _bars(bars: Bars) -> list[Options]:
    data = [
        {"value": value, "itemStyle": {"color": bars.colours.get(place, colour_of(bars.colour)), "borderRadius": 3}}
        for place, value in enumerate(bars.values)
    ]
    found = [
        _still(
            {
                "type": "bar",
                "name": bars.name,
                "data": data,
                "barMaxWidth": 18,
                "itemStyle": {"color": colour_of(bars.colour)},
            }
        )
    ]
    return [*found, *(_whisker(place, *ends) for place, ends in enumerate(bars.ranges) if ends is not None)]


def _whisker(place: int, low: float, high: float) -> Options:
    style = {"color": _TEXT, "width": 1.6, "opacity": 0.75}
    drawn = {"type": "line", "data": [[low, place], [high, place]], "symbol": "rect", "symbolSize": [1.6, 9]}
    return _still(drawn | {"lineStyle": style, "itemStyle": {"color": _TEXT}, "tooltip": {"show": False}, "z": 4})


def _mark(places: list[dict[str, float]]) -> Options:
    style = {"color": _TEXT, "type": _DASHES["dotted"], "width": 1.4}
    shown = {"silent": True, "symbol": "none", "label": {"show": False}, "lineStyle": style, "animation": False}
    return shown | {"data": places}


def _still(series: Options) -> Options:
    """Nothing happens to it under the pointer: colours that are variables cannot be made lighter."""
    return series | {"emphasis": {"disabled": True}, "silent": False}
