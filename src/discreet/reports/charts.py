"""Small charts as SVG inside a page: bars grow with the width of the page, and all words stay text of the page.

>>> interval_bar(IntervalBar(0.9, (0.8, 0.95), 0.5)).count("<rect")
4
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from html import escape

from discreet.reports.document import ColumnChart, HeatCell, HeatTable, IntervalBar, Meter, PairedMeters

__all__ = ["column_chart", "heat_table", "interval_bar", "meter", "paired_meters"]


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
