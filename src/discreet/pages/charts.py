"""Small charts as SVG inside a page: bars grow with the width of the page, and all words stay text of the page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

__all__ = ["columns_chart", "meter", "paired_meters"]

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
