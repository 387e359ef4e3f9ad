"""A strip of periods: each a small bar of what is left of it, or a frame with the word open or due."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from nicegui import ui

from discreet.curator.ledger.units import balance
from discreet.service.operations.periods import PeriodBalance
from discreet.service.operations.tables import size_of

__all__ = ["PERIOD_STYLE", "draw_strip", "part_left", "period_words", "strip"]


PERIOD_STYLE = """
.d-periods{list-style:none;margin:0;padding:2px;display:grid;gap:8px;width:100%;
grid-template-columns:repeat(auto-fill,minmax(5.9rem,1fr))}
.d-period{display:flex;flex-direction:column;gap:3px;min-width:0;padding:6px 8px;border:1px solid var(--d-line);
border-radius:8px;font-size:.82rem;font-variant-numeric:tabular-nums;line-height:1.35}
.d-period b{font-weight:600;white-space:nowrap}
.d-period .d-bar{height:8px}
.d-period span{color:var(--d-muted);white-space:nowrap}
.d-period-open{border-style:dashed;background:transparent}
.d-period-due{border-color:var(--d-warn);background:var(--d-warn-tint)}
"""
"""The rules of the strip, for a page that has one."""
_MOST = 52
"""That are shown; older ones are counted."""


def draw_strip(periods: Sequence[PeriodBalance], about: str) -> None:
    """Draw the last periods of a table; ``about`` is its name."""
    ui.html(strip(periods, about), sanitize=False).classes("w-full")


def strip(periods: Sequence[PeriodBalance], about: str) -> str:
    """The last periods as a list in HTML."""
    earlier = len(periods) - _MOST
    items = "".join(_item(one) for one in periods[-_MOST:])
    listed = f'<ol class="d-periods" aria-label="Periods of {escape(about)}">{items}</ol>'
    return f'<div class="d-muted d-small">and {earlier:,} earlier</div>{listed}' if earlier > 0 else listed


def _item(one: PeriodBalance) -> str:
    bar = ""
    if one.left is not None:
        fill = f"width:{part_left(one):.1%};background:var(--d-series-1)"
        bar = f'<div class="d-bar" role="img" aria-label="{part_left(one):.0%} left"><div style="{fill}"></div></div>'
    look = "d-period" if one.state == "closed" else f"d-period d-period-{one.state}"
    span = f"{one.start:%Y-%m-%d} to {one.end:%Y-%m-%d}"
    return f'<li class="{look}" title="{span}"><b>{escape(one.name)}</b>{bar}<span>{period_words(one)}</span></li>'


def part_left(one: PeriodBalance) -> float:
    """Which part of what was granted for a period is left."""
    if one.cap is None or one.left is None or not size_of(one.cap):
        return 0.0
    return float(size_of(one.left) / size_of(one.cap))


def period_words(one: PeriodBalance) -> str:
    """What is left of a period, or how far it is."""
    return one.state if one.left is None else f"{balance(one.left)} left"
