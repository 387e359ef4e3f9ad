"""A share as a bar, with the ends of its interval as a whisker and another share as a line across.

>>> interval_bar(0.9, (0.8, 0.95), 0.5).count("<rect")
4
"""

from __future__ import annotations

from html import escape

__all__ = ["interval_bar"]


def interval_bar(value: float, interval: tuple[float, float], level: float, kind: str = "after") -> str:
    """A bar up to ``value``, a whisker over ``interval`` and a line at ``level``: all of them shares from 0 to 1."""
    end, low, high, line = (100 * min(max(share, 0.0), 1.0) for share in (value, *interval, level))
    return (
        '<svg class="meter" aria-hidden="true"><rect class="track" width="100%" height="100%" rx="3"/>'
        f'<rect class="{escape(kind)}" width="{end:.2f}%" height="100%" rx="3"/>'
        f'<rect class="whisker" x="{low:.2f}%" y="40%" width="{max(high - low, 0):.2f}%" height="20%"/>'
        f'<rect class="level" x="{line:.2f}%" width="2" height="100%"/></svg>'
    )
