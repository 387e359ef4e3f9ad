"""Fourth step of a publication: candidates side by side, what each loses against how likely people are found."""

from __future__ import annotations

from typing import Any

from nicegui import events, ui

from discreet.console.publish.attempts import ReleaseCandidate, ReleaseCandidates
from discreet.console.publish.state import PublicationState
from discreet.console.theme import notice, quiet, section
from discreet.console.widgets import stay_on
from discreet.reports.format import figure, share

__all__ = ["CandidatesStep", "loss_against_risk"]


_HEADS = ("", "candidate", "lost", "easiest to find", "on average", "rows left out", "classes", "counts off by")
_NUMBERS_FROM = 2


class CandidatesStep:
    """A table and a chart to choose from."""

    def __init__(self, state: PublicationState) -> None:
        self._state = state
        self._was_pressed = False
        for what in ("table", "found"):
            state.when(what, self.draw.refresh)
        state.when("plan", self._outdated.refresh)

    @ui.refreshable_method
    def draw(self) -> None:
        """The step, once something was tried."""
        found = self._state.found
        if found is None:
            return
        words = "Lower is better in every column. What is lost is the share of detail; risks are those of a prosecutor."
        with section("4. Candidates", words):
            self._outdated()
            if found.candidates:
                self._table(found)
                self._chart(found)
            for title, why in found.refusals.items():
                with ui.row().classes("items-start gap-2 no-wrap"):
                    ui.icon("block").classes("text-lg").props('aria-hidden="true"')
                    quiet(f"{title}: {why}")

    @ui.refreshable_method
    def _outdated(self) -> None:
        if self._state.is_outdated:
            notice("The plan changed since these were made. Find candidates again to see what it gives.", "warn")

    def _table(self, found: ReleaseCandidates) -> None:
        with ui.element("div").classes("d-table-box"), ui.element("table").classes("d-table tight candidates"):
            with ui.element("thead"), ui.element("tr"):
                for number, head in enumerate(_HEADS):
                    with ui.element("th").classes("d-number" if number >= _NUMBERS_FROM else ""):
                        ui.label(head)
            with ui.element("tbody"):
                for one in found.candidates:
                    self._row(one)

    def _row(self, one: ReleaseCandidate) -> None:
        is_chosen = one is self._state.chosen
        with ui.element("tr").classes("chosen" if is_chosen else ""):
            with ui.element("td"):
                sign = "radio_button_checked" if is_chosen else "radio_button_unchecked"
                pressed = "true" if is_chosen else "false"
                button = ui.button(icon=sign, on_click=lambda: self._choose(one)).props("flat round dense")
                button.props(f'aria-label="Choose {one.title}" aria-pressed={pressed}')
                if is_chosen and self._was_pressed:
                    self._was_pressed = False
                    stay_on(button)
            with ui.element("td"):
                ui.label(one.title).classes("text-weight-medium")
            for cell in _cells(one):
                with ui.element("td").classes("d-number"):
                    ui.label(cell)

    def _choose(self, one: ReleaseCandidate) -> None:
        """Choose a candidate; the button that was pressed is drawn anew, and whoever uses the keyboard stays on it."""
        self._was_pressed = True
        self._state.choose(one)

    def _chart(self, found: ReleaseCandidates) -> None:
        def clicked(event: events.EChartPointClickEventArguments) -> None:
            for one in found.candidates:
                if one.title == event.name:
                    self._state.choose(one)

        options = loss_against_risk(found.candidates, self._state.chosen)
        chart = ui.echart(options, on_point_click=clicked, renderer="svg").classes("w-full h-72 loss-chart")
        chart.props('role=img aria-label="Loss of every candidate against its average risk; the table has the figures"')


def _cells(one: ReleaseCandidate) -> list[str]:
    return [
        share(one.loss),
        share(one.highest_risk),
        share(one.average_risk),
        f"{one.left_out:,}",
        f"{one.report.checked.classes.count:,}",
        f"± {figure(one.count_error)}",
    ]


def loss_against_risk(candidates: tuple[ReleaseCandidate, ...], chosen: ReleaseCandidate | None) -> dict[str, Any]:
    """The chart: a point for each candidate, the chosen one larger."""
    points = [
        {
            "name": one.title,
            "value": [round(100 * one.average_risk, 3), round(100 * one.loss, 3)],
            "symbolSize": 20 if one is chosen else 12,
            "itemStyle": {"color": "var(--d-series-2)" if one is chosen else "var(--d-series-1)"},
        }
        for one in candidates
    ]
    axis = {
        "type": "value",
        "min": 0,
        "nameLocation": "middle",
        "splitLine": {"lineStyle": {"color": "var(--d-line)"}},
        "axisLabel": {"color": "var(--d-muted)"},
        "nameTextStyle": {"color": "var(--d-muted)"},
    }
    return {
        "grid": {"left": 56, "right": 24, "top": 16, "bottom": 48},
        "xAxis": {**axis, "name": "average risk of a row, %", "nameGap": 30},
        "yAxis": {**axis, "name": "lost, %", "nameGap": 36},
        "tooltip": {"formatter": "{b}"},
        "series": [
            {
                "type": "scatter",
                "data": points,
                "label": {
                    "show": len(candidates) <= len(_HEADS),
                    "formatter": "{b}",
                    "position": "right",
                    "color": "var(--d-text)",
                },
                "labelLayout": {"hideOverlap": True},
            }
        ],
    }
