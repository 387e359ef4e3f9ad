"""Understand ε: choose one, and see what it means for Alice and for the answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from discreet.console import look
from discreet.console.charts import Chart
from discreet.console.understand_charts import beliefs_chart, errors_chart, groups_chart, laws_chart, trade_off_chart
from discreet.console.understand_dials import Dial, counted, logarithmic, percentages
from discreet.console.understand_figures import Figures, figures
from discreet.console.understand_words import beliefs_words, errors_words, groups_words, laws_words, trade_off_words
from discreet.console.visit import Visit
from discreet.errors import DiscreetError

__all__ = ["build"]

_LEAD = (
    "ε limits how much any answer may depend on any one person: the smaller, the safer, and the noisier. Move it, and "
    "see what that means for Alice. Nothing here reads data or costs anything."
)
_PARTS: tuple[tuple[str, Callable[[Figures], dict[str, Any]], Callable[[Figures], str]], ...] = (
    ("With and without Alice", laws_chart, laws_words),
    ("Can anybody tell?", trade_off_chart, trade_off_words),
    ("Is Alice in the data?", beliefs_chart, beliefs_words),
    ("Alice and her family", groups_chart, groups_words),
    ("How good are the answers?", errors_chart, errors_words),
)


async def build(visit: Visit) -> None:
    """The page; it is the same for everybody."""
    look.page_title("Understand ε", _LEAD)
    ui.add_css(_STYLE)
    _Page().build()


class _Page:
    """The dials and what they move."""

    def build(self) -> None:
        """Draw everything."""
        with ui.element("div").classes("d-understand"):
            with ui.element("div").classes("d-understand-dials"), look.section("Choose"):
                self._build_dials()
            with ui.element("div").classes("d-understand-charts"):
                self._build_charts(figures(*self._chosen()))

    def _build_dials(self) -> None:
        scales = (logarithmic(0.01, 10), logarithmic(1e-12, 1e-2, zero=True), percentages(1, 99))
        changed = self._changed
        self._epsilon = Dial("ε", "The loss of one answer.", scales[0], "1", changed)
        self._delta = Dial("δ", "A probability that the promise leaves out; 0 is none.", scales[1], "0", changed)
        self._prior = Dial("Prior", "How likely somebody thinks it that Alice is there.", scales[2], "0.1", changed)
        self._group = Dial("Group", "How many people belong together.", counted(1, 50), "4", changed)
        sizes = logarithmic(10, 10_000_000, is_whole=True)
        self._people = Dial("People", "How many are in the table.", sizes, "1000", changed)
        self._refusal = ui.label().classes("d-bad d-small").props('role="alert"')

    def _chosen(self) -> tuple[str, str, int, str, int]:
        return (
            self._epsilon.text,
            self._delta.text,
            _whole(self._group.text),
            self._prior.text,
            _whole(self._people.text),
        )

    def _build_charts(self, found: Figures) -> None:
        with look.section("In a word") as box:
            box.classes("d-understand-wide")
            self._verdict = ui.label().classes("d-verdict")
            self._why = ui.label().props('aria-live="polite"')
        self._charts: list[Chart] = []
        for title, chart, words in _PARTS:
            with look.section(title) as box:
                box.classes("d-understand-wide" if chart is errors_chart else "")
                self._charts.append(Chart(chart(found), words(found)))
        self._show(found)

    def _changed(self) -> None:
        """Show what is chosen now; it takes a few milliseconds, and what was chosen before is known."""
        try:
            found = figures(*self._chosen())
        except DiscreetError as refusal:
            self._refusal.set_text(str(refusal))
            return
        self._refusal.set_text("")
        self._show(found)

    def _show(self, found: Figures) -> None:
        self._verdict.set_text(f"Protection: {found.verdict.name}")
        self._why.set_text(found.verdict.words)
        for drawn, (_, chart, words) in zip(self._charts, _PARTS, strict=True):
            drawn.redraw(chart(found), words(found))


_LONGEST = 1000
"""Digits of a number that is read; Python itself fails at some thousands."""


def _whole(text: str) -> Any:
    """A whole number where it is one; what is not is left to be refused in words."""
    plain = text.replace(",", "").replace(" ", "")
    return int(plain) if plain.isdecimal() and len(plain) <= _LONGEST else text


_STYLE = """
.d-understand{display:grid;grid-template-columns:minmax(15rem,18rem) minmax(0,1fr);gap:20px;align-items:start;
width:100%}
.d-understand-dials{position:sticky;top:76px}
.d-understand-charts{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:20px}
.d-understand-wide{grid-column:1/-1}
.d-verdict{font-size:1.35rem;font-weight:600}
.d-dial{display:flex;flex-direction:column;gap:2px}
.d-dial-head{display:flex;justify-content:space-between;align-items:center;gap:10px}
.d-dial-head .q-field{width:8.5rem}
.d-chart-words{max-width:68ch}
@media (max-width:1100px){.d-understand-charts{grid-template-columns:minmax(0,1fr)}}
@media (max-width:800px){.d-understand{grid-template-columns:minmax(0,1fr)}
.d-understand-dials{position:static}}
"""
