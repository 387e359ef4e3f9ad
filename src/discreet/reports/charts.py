"""Small charts as SVG inside a page: bars grow with the width of the page, and all words stay text of the page.

A table of shares, each cell the warmer the worse it is; the words and a bar in the cell say the same.

A share as a bar, with the ends of its interval as a whisker and another share as a line across.

>>> interval_bar(0.9, (0.8, 0.95), 0.5).count("<rect")
4
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from discreet.errors import InvalidValue

__all__ = ["HeatCell", "columns_chart", "heat_table", "interval_bar", "meter", "paired_meters"]


_TALL = 100


def meter(value: float, kind: str = "after", start: float = 0.0) -> str:
    """A bar for a share from 0 to 1, or for a range from ``start`` to ``value``."""
    left, right = (100 * min(max(end, 0.0), 1.0) for end in (start, value))
    place = f' x="{left:.2f}%"' if left else ""
    return (
        '<svg class="meter" aria-hidden="true"><rect class="track" width="100%" height="100%" rx="3"/>'
        f'<rect class="{escape(kind)}"{place} width="{max(right - left, 0.0):.2f}%" height="100%" rx="3"/></svg>'
    )


def paired_meters(before: float, after: float) -> str:
    """Two bars, one above the other."""
    return f'<span class="pair">{meter(before, "before")}{meter(after, "after")}</span>'


def columns_chart(labels: Sequence[str], series: Sequence[tuple[str, Sequence[float]]], title: str = "") -> str:
    """Upright bars, one group for each label; every series is a kind (``before``, ``after``) with its values.

    The drawing is stretched to the width of the page, so it holds no words; each bar tells its value when pointed at.
    ``title`` is what a screen reader says of it.
    """
    most = max((value for _, values in series for value in values), default=0.0) or 1.0
    wide = len(series) + 1
    bars = [
        _bar(place * wide + number + 0.5, _TALL * value / most, kind, f"{labels[place]}, {kind}: {value:,.4g}")
        for number, (kind, values) in enumerate(series)
        for place, value in enumerate(values)
    ]
    ends = f"<span>{escape(labels[0])}</span><span>{escape(labels[-1])}</span>" if len(labels) > 1 else ""
    name = f' aria-label="{escape(title)}"' if title else ""
    return (
        f'<div class="columns"><svg viewBox="0 0 {len(labels) * wide} {_TALL}" preserveAspectRatio="none"'
        f' role="img"{name}>'
        f'{"".join(bars)}</svg><div class="ends">{ends}</div></div>'
    )


def _bar(left: float, height: float, kind: str, words: str) -> str:
    shown = max(height, 0.0)
    return (
        f'<rect class="{escape(kind)}" x="{left:.2f}" y="{_TALL - shown:.2f}" width="0.9" height="{shown:.2f}">'
        f"<title>{escape(words)}</title></rect>"
    )


_WARMEST = 0.5
"""How much of the colour the worst cell takes: more would swallow its words."""


@dataclass(frozen=True)
class HeatCell:
    """One share."""

    value: float | None
    """How bad it is, from 0 to 1; None where there is nothing to measure."""
    text: str
    """What the cell says."""
    tip: str = ""
    """More words, for whoever points at the cell."""

    def __post_init__(self) -> None:
        if self.value is not None and not 0 <= self.value <= 1:
            raise InvalidValue("a share must lie from 0 to 1", self.value, "None where there is nothing to measure")


def heat_table(
    rows: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[HeatCell]], corner: str = ""
) -> str:
    """A table with a name for each row and column; ``cells`` holds a sequence for each row."""
    if len(cells) != len(rows) or any(len(line) != len(columns) for line in cells):
        rule = "there must be a cell for each row and column"
        raise InvalidValue(rule, [len(line) for line in cells], f"{len(rows)} rows of {len(columns)}")
    names = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th>{"".join(map(_cell, line))}</tr>'
        for name, line in zip(rows, cells, strict=True)
    )
    return (
        f'<div class="scroll"><table class="heat"><thead><tr><th scope="col">{escape(corner)}</th>{names}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _cell(cell: HeatCell) -> str:
    tip = f' title="{escape(cell.tip)}"' if cell.tip else ""
    if cell.value is None:
        return f'<td class="unknown"{tip}>{escape(cell.text)}</td>'
    heat = _WARMEST * cell.value
    return f'<td style="--heat:{heat:.3f}"{tip}>{escape(cell.text)}{meter(cell.value, "danger")}</td>'


def interval_bar(value: float, interval: tuple[float, float], level: float, kind: str = "after") -> str:
    """A bar up to ``value``, a whisker over ``interval`` and a line at ``level``: all of them shares from 0 to 1."""
    end, low, high, line = (100 * min(max(share, 0.0), 1.0) for share in (value, *interval, level))
    return (
        '<svg class="meter" aria-hidden="true"><rect class="track" width="100%" height="100%" rx="3"/>'
        f'<rect class="{escape(kind)}" width="{end:.2f}%" height="100%" rx="3"/>'
        f'<rect class="whisker" x="{low:.2f}%" y="40%" width="{max(high - low, 0):.2f}%" height="20%"/>'
        f'<rect class="level" x="{line:.2f}%" width="2" height="100%"/></svg>'
    )
