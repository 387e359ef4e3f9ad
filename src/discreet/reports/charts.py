"""Charts as SVG inside a page: bars, and lines and points over two axes. All words stay text of the page.

Series differ in colour, in dashes and in the shape of their marks, so a chart can be read without seeing colours, and
colours follow light and dark. A scale turns numbers into places: the range of an axis, its ticks and their labels.

>>> interval_bar(IntervalBar(0.9, (0.8, 0.95), 0.5)).count("<rect")
4
>>> axis = ChartScale.of([0, 7.3], extent=(0, 100))
>>> [(label, round(place)) for place, label in axis.ticks()]
[('0', 0), ('2', 27), ('4', 55), ('6', 82)]
>>> [label for _, label in ChartScale.of([1, 1000], extent=(0, 90), log=True).ticks()]
['1', '10', '100', '1,000']
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape

from discreet.errors import InvalidValue
from discreet.reports.document import (
    ColumnChart,
    HeatCell,
    HeatTable,
    IntervalBar,
    LineChart,
    Meter,
    PairedMeters,
    Series,
)

__all__ = [
    "ChartScale",
    "column_chart",
    "heat_table",
    "interval_bar",
    "line_chart",
    "meter",
    "paired_meters",
]


_LARGEST = 1e100
_SMALLEST_LOGGED = 1e-100
_FLAT = 1e-9
"""A range narrower than this share of its numbers is drawn as one value: its ticks would all read the same."""
_INTERVALS = 6
_MOST_DECADES = 6
_FEW_DECADES = 2
_FEWEST_TICKS = 2
_STEPS = (1, 2, 5, 10)
_PLAIN_BELOW = 1e6
_PLAIN_FROM = 1e-4


@dataclass(frozen=True)
class ChartScale:
    """An axis: numbers from ``least`` to ``most`` spread over the extent; with ``log``, their logarithms are."""

    least: float
    """The number at the start of the extent."""
    most: float
    """The number at the end of the extent."""
    extent: tuple[float, float]
    """Where the axis starts and ends on the drawing."""
    log: bool = False
    """Whether equal ratios are equally far apart."""

    @staticmethod
    def of(values: Sequence[float], extent: tuple[float, float], *, log: bool = False) -> ChartScale:
        """An axis that holds all values; one that would have no length is made longer to both sides."""
        for value in values:
            _check(value, log)
        low, high = min(values, default=1.0), max(values, default=1.0)
        if log:
            return (
                ChartScale(low, high, extent, log)
                if high > low * (1 + _FLAT)
                else ChartScale(low / 2, high * 2, extent, log)
            )
        if high - low > _FLAT * max(abs(low), abs(high)):
            return ChartScale(low, high, extent)
        more = abs(low) / 2 or 1.0
        return ChartScale(low - more, high + more, extent)

    def place(self, value: float) -> float:
        """Where a number lies on the drawing."""
        start, end = self.extent
        if self.log:
            part = math.log(value / self.least) / math.log(self.most / self.least)
        else:
            part = (value - self.least) / (self.most - self.least)
        return start + part * (end - start)

    def ticks(self) -> list[tuple[float, str]]:
        """Round numbers on the axis, as places and words."""
        return [(self.place(value), words) for value, words in (self._log_ticks() if self.log else self._ticks())]

    def _ticks(self) -> list[tuple[float, str]]:
        step = _round_step((self.most - self.least) / _INTERVALS)
        first, last = math.ceil(self.least / step - _FLAT), math.floor(self.most / step + _FLAT)
        digits = max(0, -math.floor(math.log10(step) + _FLAT))
        return [(number * step, _words(number * step, digits)) for number in range(first, last + 1)]

    def _log_ticks(self) -> list[tuple[float, str]]:
        first, last = math.floor(math.log10(self.least)), math.ceil(math.log10(self.most))
        apart = max(1, math.ceil((last - first) / _MOST_DECADES))
        within = (1, 2, 5) if last - first <= _FEW_DECADES else (1,)
        found = [part * 10.0**power for power in range(first, last + 1, apart) for part in within]
        inside = [value for value in found if self.least * (1 - _FLAT) <= value <= self.most * (1 + _FLAT)]
        if len(inside) < _FEWEST_TICKS:  # a narrow range, such as 6 to 9, has no such number
            return self._ticks()
        return [(value, _words(value, max(0, -math.floor(math.log10(value) + _FLAT)))) for value in inside]


def _check(value: float, log: bool) -> None:
    if not abs(value) <= _LARGEST:
        raise InvalidValue(f"values of a chart must be finite and at most {_LARGEST:g}", value, "leave it out")
    if log and value < _SMALLEST_LOGGED:
        raise InvalidValue("values on a logarithmic axis must be positive", value, "leave it out, or use log_x=False")


def _round_step(least: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that is not below ``least``."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in _STEPS if step * power >= least * (1 - _FLAT))


def _words(value: float, digits: int) -> str:
    if value == 0:
        return "0"
    if not _PLAIN_FROM <= abs(value) < _PLAIN_BELOW:
        return f"{value:.4g}"
    return f"{value:,.{digits}f}"


_WIDTH, _HEIGHT = 400, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 380, 28, 204
_STYLES = 6


@dataclass(frozen=True)
class _Axes:
    x: ChartScale
    y: ChartScale

    def at(self, point: tuple[float, float]) -> str:
        return f"{self.x.place(point[0]):.2f},{self.y.place(point[1]):.2f}"


def line_chart(chart: LineChart) -> str:
    """A figure with its caption, the drawing and a legend."""
    caption, series = f"<figcaption>{escape(chart.title)}</figcaption>", chart.series
    if not any(one.points for one in series):
        return f'<figure class="plot">{caption}<p class="quiet">There is nothing to draw.</p></figure>'
    axes = _axes(chart)
    drawn = "".join(_series(number, one, axes) for number, one in enumerate(series))
    level = "" if chart.reference is None else _level(chart.reference, axes)
    lines = ", ".join(one.name for one in series)
    said = f"{chart.title}. Across: {chart.x_label}. Upwards: {chart.y_label}. Lines: {lines}."
    return (
        f'<figure class="plot">{caption}<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(said)}">'
        f"<title>{escape(chart.title)}</title>{_grid(axes, chart.x_label, chart.y_label)}{level}{drawn}</svg>"
        f"{_legend(chart)}</figure>"
    )


def _axes(chart: LineChart) -> _Axes:
    across = [x for one in chart.series for x, _ in one.points]
    up = [y for one in chart.series for _, y in one.points]
    ends = [end for one in chart.series for pair in one.band or () for end in pair]
    levels = [*([] if chart.reference is None else [chart.reference]), *chart.y_holds]
    return _Axes(
        ChartScale.of(across, (_LEFT, _RIGHT), log=chart.log_x),
        ChartScale.of([*up, *ends, *levels], (_BOTTOM, _TOP)),
    )


def _grid(axes: _Axes, x_label: str, y_label: str) -> str:
    rules = [
        f'<path class="rule" d="M{_LEFT} {place:.2f}H{_RIGHT}"/>'
        f'<text x="{_LEFT - 6}" y="{place + 4:.2f}" text-anchor="end">{escape(words)}</text>'
        for place, words in axes.y.ticks()
    ]
    stubs = [
        f'<path class="axis" d="M{place:.2f} {_BOTTOM}v4"/>'
        f'<text x="{place:.2f}" y="{_BOTTOM + 17}" text-anchor="middle">{escape(words)}</text>'
        for place, words in axes.x.ticks()
    ]
    return (
        f'{"".join(rules)}{"".join(stubs)}<path class="axis" d="M{_LEFT} {_TOP}V{_BOTTOM}H{_RIGHT}"/>'
        f'<text x="4" y="14">{escape(y_label)}</text>'
        f'<text x="{(_LEFT + _RIGHT) / 2:.0f}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(x_label)}</text>'
    )


def _level(reference: float, axes: _Axes) -> str:
    return f'<path class="reference" d="M{_LEFT} {axes.y.place(reference):.2f}H{_RIGHT}"/>'


def _series(number: int, one: Series, axes: _Axes) -> str:
    if not one.points:
        return ""
    kind = f"s{number % _STYLES}"
    band = ""
    if one.band is not None:
        upper = [axes.at((x, high)) for (x, _), (_, high) in zip(one.points, one.band, strict=True)]
        lower = [axes.at((x, low)) for (x, _), (low, _) in zip(one.points, one.band, strict=True)]
        band = f'<polygon class="band {kind}" points="{" ".join([*upper, *reversed(lower)])}"/>'
    line = ""
    if len(one.points) > 1:
        line = f'<path class="{kind}" d="M{"L".join(axes.at(point) for point in one.points)}"/>'
    marks = [_titled_mark(number, point, one.name, axes) for point in one.points] if _marked(one) else []
    return f"{band}{line}{''.join(marks)}"


def _marked(one: Series) -> bool:
    """One point has no line, so it is always marked."""
    return one.marks or len(one.points) == 1


def _titled_mark(number: int, point: tuple[float, float], name: str, axes: _Axes) -> str:
    words = escape(f"{name}: {point[0]:,.6g}, {point[1]:,.4g}")
    return f"<g><title>{words}</title>{_mark(number, axes.x.place(point[0]), axes.y.place(point[1]))}</g>"


def _mark(number: int, x: float, y: float) -> str:
    kind = f'class="mark s{number % _STYLES}"'
    match number % 4:
        case 0:
            return f'<circle {kind} cx="{x:.2f}" cy="{y:.2f}" r="3"/>'
        case 1:
            return f'<rect {kind} x="{x - 3:.2f}" y="{y - 3:.2f}" width="6" height="6"/>'
        case 2:
            corners = f"{x:.2f},{y - 4:.2f} {x + 4:.2f},{y + 3:.2f} {x - 4:.2f},{y + 3:.2f}"
        case _:
            corners = f"{x:.2f},{y - 4:.2f} {x + 4:.2f},{y:.2f} {x:.2f},{y + 4:.2f} {x - 4:.2f},{y:.2f}"
    return f'<polygon {kind} points="{corners}"/>'


def _legend(chart: LineChart) -> str:
    names = [_name(_sample(number, one), one.name) for number, one in enumerate(chart.series)]
    if chart.reference is not None and chart.reference_label:
        names.append(_name('<path class="reference" d="M0 6H32"/>', chart.reference_label))
    return f'<ul class="names">{"".join(names)}</ul>'


def _sample(number: int, one: Series) -> str:
    line = f'<path class="s{number % _STYLES}" d="M0 6H32"/>' if len(one.points) > 1 else ""
    return f"{line}{_mark(number, 16, 6) if _marked(one) else ''}"


def _name(sample: str, words: str) -> str:
    return f'<li><svg class="sample" viewBox="0 0 32 12" aria-hidden="true">{sample}</svg>{escape(words)}</li>'


_TALL = 100
_WARMEST = 0.5
"""How much of the colour the worst cell takes: more would swallow its words."""
_TRACK = '<svg class="meter" aria-hidden="true"><rect class="track" width="100%" height="100%" rx="3"/>'


def meter(bar: Meter) -> str:
    """A bar for a share, or for a range."""
    left, right = _percent(bar.start, bar.value)
    place = f' x="{left:.2f}%"' if left else ""
    width = f'width="{max(right - left, 0.0):.2f}%"'
    return f'{_TRACK}<rect class="{escape(bar.fill)}"{place} {width} height="100%" rx="3"/></svg>'


def _percent(*shares: float | Fraction) -> list[float]:
    return [100 * min(max(float(share), 0.0), 1.0) for share in shares]


def paired_meters(pair: PairedMeters) -> str:
    """Two bars, one above the other."""
    return f'<span class="pair">{meter(Meter(pair.before, fill="before"))}{meter(Meter(pair.after))}</span>'


def interval_bar(bar: IntervalBar) -> str:
    """A bar, a whisker over its interval and a line across."""
    end, low, high, line = _percent(bar.value, *bar.interval, bar.level)
    return (
        f'{_TRACK}<rect class="{escape(bar.fill)}" width="{end:.2f}%" height="100%" rx="3"/>'
        f'<rect class="whisker" x="{low:.2f}%" y="40%" width="{max(high - low, 0):.2f}%" height="20%"/>'
        f'<rect class="level" x="{line:.2f}%" width="2" height="100%"/></svg>'
    )


def column_chart(chart: ColumnChart) -> str:
    """Upright bars in pairs. The drawing is stretched to the width of the page, so it holds no words.

    Each bar tells its value when pointed at; a screen reader says the title.
    """
    beside = f" <small>{escape(chart.beside)}</small>" if chart.beside else ""
    pairs = {"before": chart.before, "after": chart.after}
    most = max((*chart.before, *chart.after), default=0.0) or 1.0
    bars = [
        _column(3 * place + number + 0.5, _TALL * value / most, kind, f"{chart.labels[place]}, {kind}: {value:,.4g}")
        for number, (kind, values) in enumerate(pairs.items())
        for place, value in enumerate(values)
    ]
    return (
        f"<figure><figcaption>{escape(chart.title)}{beside}</figcaption>"
        f'<div class="columns"><svg viewBox="0 0 {3 * len(chart.labels)} {_TALL}" preserveAspectRatio="none"'
        f' role="img" aria-label="{escape(chart.title)}, before and after">{"".join(bars)}</svg>'
        f'<div class="ends">{_ends(chart.labels)}</div></div></figure>'
    )


def _ends(labels: Sequence[str]) -> str:
    return f"<span>{escape(labels[0])}</span><span>{escape(labels[-1])}</span>" if len(labels) > 1 else ""


def _column(left: float, height: float, kind: str, words: str) -> str:
    shown = max(height, 0.0)
    return (
        f'<rect class="{kind}" x="{left:.2f}" y="{_TALL - shown:.2f}" width="0.9" height="{shown:.2f}">'
        f"<title>{escape(words)}</title></rect>"
    )


def heat_table(table: HeatTable) -> str:
    """A table with a name for each row and column."""
    names = "".join(f'<th scope="col">{escape(name)}</th>' for name in table.columns)
    body = "".join(
        f'<tr><th scope="row">{escape(_unbroken(name))}</th>{"".join(map(_heat_cell, line))}</tr>'
        for name, line in zip(table.rows, table.cells, strict=True)
    )
    corner = f'<th scope="col">{escape(table.corner)}</th>'
    return (
        f'<div class="scroll"><table class="heat"><thead><tr>{corner}{names}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _unbroken(name: str) -> str:
    """No line ends within an equation or at a hyphen."""
    return name.replace(" = ", "\u00a0=\u00a0").replace("-", "\u2011")


def _heat_cell(cell: HeatCell) -> str:
    tip = f' title="{escape(cell.tip)}"' if cell.tip else ""
    if cell.value is None:
        return f'<td class="unknown"{tip}>{escape(cell.text)}</td>'
    bar = meter(Meter(cell.value, fill="danger"))
    return f'<td style="--heat:{_WARMEST * cell.value:.3f}"{tip}>{escape(cell.text)}{bar}</td>'
