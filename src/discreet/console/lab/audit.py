"""Audits in the lab: choose a mechanism, draw from it, and read claimed against observed."""

from __future__ import annotations

from functools import partial
from typing import Any

from nicegui import ui

from discreet.console import theme
from discreet.console.charts import Bars, Chart, ChartAxis, ChartLine, bar_chart, line_chart
from discreet.console.lab.worker import (
    BROKEN,
    OURS,
    AuditAskRequest,
    Audited,
    Item,
    RunPanel,
    list_catalogue,
    run_audit,
)
from discreet.console.layout import PageVisit

__all__ = ["AuditTab", "laws_chart", "losses_chart"]


_DRAWS = {20_000: "20,000", 100_000: "100,000", 200_000: "200,000", 400_000: "400,000", 1_000_000: "1,000,000"}
_KINDS: dict[str, theme.Kind] = {"violation": "error", "consistent": "good"}
_WHOLE = 100
_MOST_BARS = 12


class AuditTab:
    """The tab of one reader."""

    def __init__(self, visit: PageVisit) -> None:
        self._visit = visit
        self._items = {f"{item.kind}: {item.name}": item for item in list_catalogue().mechanisms}

    def draw(self) -> None:
        """All of it."""
        with theme.section(
            "1. What to audit", "Some are broken on purpose: an auditor that finds nobody guilty is none."
        ):
            with theme.row():
                self._what = ui.select(list(self._items), value=next(iter(self._items)), label="A mechanism")
                self._what.props('outlined dense use-input input-debounce="0" options-dense')
                self._what.classes("w-96 max-w-full")
                self._draws = ui.select(_DRAWS, value=100_000, label="Draws").props("outlined dense").classes("w-36")
                self._epsilon = ui.input("ε that it claims", value="1").props("outlined dense").classes("w-36")
            self._about = ui.label()
            self._what.on_value_change(self._chosen)
            self._chosen()
        with theme.section(
            "2. Claimed against observed", "Answers are drawn for two neighbouring inputs, and compared."
        ):
            self._panel = RunPanel(self._visit.principal.name, "Run the audit", self._run, lambda _: None)
            self._result = ui.element("div").classes("w-full").style("display:flex;flex-direction:column;gap:14px")

    def _item(self) -> Item:
        return self._items[str(self._what.value)]

    def _chosen(self) -> None:
        item = self._item()
        self._epsilon.set_visibility(item.kind == OURS)
        self._draws.set_value(min(_DRAWS, key=lambda size: abs(size - item.draws)))
        wrong = "What is wrong with it: " if item.kind == BROKEN else ""
        self._about.set_text(f"{wrong}{item.words}" if wrong else item.words[:1].upper() + item.words[1:])

    async def _run(self) -> None:
        item = self._item()
        self._result.clear()
        ask_request = AuditAskRequest(item.kind, item.name, str(self._epsilon.value or ""), int(self._draws.value or 0))
        found = await self._panel.run(partial(run_audit, ask_request))
        if found is not None:
            with self._result:
                _show(item.name, found)


def _show(name: str, found: Audited) -> None:
    theme.notice(found.headline, _KINDS.get(found.verdict, "warn"))
    with theme.figures():
        theme.figure("Claimed", found.claim)
        theme.figure("Proved by the draws", found.observed_words or "nothing")
        if found.exact_words:
            theme.figure("By the exact laws", found.exact_words)
    with ui.element("div").classes("lab-sides"):
        with ui.element("div"):
            theme.heading("What was claimed and what was lost", 3)
            Chart(losses_chart(found), losses_words(found), height="13rem")
        with ui.element("div"):
            theme.heading("The two laws as the draws show them", 3)
            event = f" {found.event[:1].upper()}{found.event[1:]}." if found.event else ""
            words = f"The inputs are {found.inputs[0]} and {found.inputs[1]}.{event}"
            Chart(laws_chart(found), words, height="17rem")
    ui.label(found.confidence).classes("d-muted d-small")
    with theme.row():
        theme.download_button("The report", f"audit-{name}.html", "text/html", found.page.encode)
        theme.download_button("The figures", f"audit-{name}.json", "application/json", found.data.encode)


def losses_chart(found: Audited) -> dict[str, Any]:
    """ε as it was claimed, as the draws prove it, and as the laws have it."""
    named = {"claimed": found.claimed, "proved by draws": found.observed, "exact": found.exact}
    known = {name: value for name, value in named.items() if value is not None}
    is_worse = {
        place: "var(--d-bad)" for place, name in enumerate(known) if name != "claimed" and _exceeds(name, found)
    }
    bars = Bars("ε", list(known.values()), 1, is_worse)
    return bar_chart(list(known), [bars], ChartAxis("ε", 0), reference=found.claimed)


def losses_words(found: Audited) -> str:
    """The same in a sentence."""
    proved = found.observed_words or "nothing against it"
    exact = f", and its exact laws lose {found.exact_words}" if found.exact_words else ""
    return f"It claims {found.claim}; the draws prove {proved}{exact}. What the draws prove is a lower bound."


def _exceeds(name: str, found: Audited) -> bool:
    value = found.exact if name == "exact" else found.observed
    return found.verdict == "violation" and found.claimed is not None and (value or 0) > found.claimed


def laws_chart(found: Audited) -> dict[str, Any]:
    """How often each outcome was seen; as curves where outcomes are numbers, else as bars."""
    numbers = [_number(outcome) for outcome, _, _ in found.laws]
    shares = [_WHOLE * first for _, first, _ in found.laws], [_WHOLE * second for _, _, second in found.laws]
    names = "first input", "second input"
    if len(numbers) > 2 and all(number is not None for number in numbers):
        lines = [
            ChartLine(
                name, list(zip(numbers, shares[side], strict=True)), side + 1, ("solid", "dashed")[side], area=True
            )
            for side, name in enumerate(names)
        ]
        return line_chart(lines, ChartAxis("the answer"), ChartAxis("of the draws", 0, unit="%"))
    bars = [Bars(name, shares[side][:_MOST_BARS], side + 1) for side, name in enumerate(names)]
    outcomes = [_short(outcome) for outcome, _, _ in found.laws[:_MOST_BARS]]
    return bar_chart(outcomes, bars, ChartAxis("of the draws", 0, unit="%"))


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if abs(found) < float("inf") else None


def _short(text: str) -> str:
    return text if len(text) <= 24 else f"{text[:22]}…"
