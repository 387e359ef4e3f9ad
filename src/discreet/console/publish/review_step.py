"""Fifth step of a publication: one candidate from all sides, who can be found, what changed, what it still tells."""

from __future__ import annotations

import pyarrow as pa
from nicegui import events, ui

from discreet.anonymize.report.content import headline, price_words, verdict_words
from discreet.anonymize.risk.risk import FOR_THE_OWNER, NOT_PRIVACY, Danger
from discreet.anonymize.roles import Roles
from discreet.console.publish.attempts import ReleaseCandidate, RiskLine, column_changes, gauge_svg, risk_lines, verdict
from discreet.console.publish.state import PublicationState, bar, role_chip, some_rows
from discreet.console.theme import download_button, heading, notice, quiet, row, section
from discreet.reports.format import share

__all__ = ["ChosenStep"]


_SIDE_BY_SIDE = 5
"""Tables of more columns stand below each other: half a page would show half of them."""


class ChosenStep:
    """Everything about the candidate that is chosen."""

    def __init__(self, state: PublicationState) -> None:
        self._state = state
        for what in ("table", "chosen"):
            state.when(what, self.draw.refresh)

    @ui.refreshable_method
    def draw(self) -> None:
        """The step, once there is a candidate."""
        one, table = self._state.chosen, self._state.table
        if one is None or table is None:
            return
        with section(f"5. The release by “{one.title}”", headline(one.report)):
            quiet(one.release.how)
            _models(one)
            self._risks(one)
            _before_and_after(one, table.brought.table)
            _dangers(one)
            _alternative(one)
            _downloads(one, table.brought.name)

    # Who can be found ---------------------------------------------------------------------------------------------

    def _risks(self, one: ReleaseCandidate) -> None:
        heading("Who can be found", 3)
        with row():
            words = ui.label().classes("w-80 max-w-full")
            slider = ui.slider(min=0.01, max=1, step=0.01, value=self._state.limit).classes("w-64 max-w-full")
            slider.props('aria-label="The risk that is allowed"')
            words.bind_text_from(slider, "value", _limit_words)
            slider.on_value_change(lambda event: self._limit(event, one))
        self._gauge(one)

    def _limit(self, event: events.ValueChangeEventArguments[float | None], one: ReleaseCandidate) -> None:
        self._state.limit = event.value or self._state.limit
        self._gauge.refresh(one)

    @ui.refreshable_method
    def _gauge(self, one: ReleaseCandidate) -> None:
        limit, risks = self._state.limit, one.report.risks
        with row():
            ui.html(gauge_svg(risks.prosecutor.highest, limit), sanitize=False).style("flex:1 1 14rem;max-width:20rem")
            with ui.column().classes("gap-2").style("flex:2 1 18rem"):
                for line in risk_lines(risks, limit):
                    _risk_line(line, limit)
        notice(verdict(risks, limit), "good" if risks.prosecutor.highest <= limit else "error")


def _limit_words(limit: float) -> str:
    return f"Allowed: one person in {1 / limit:.3g} is found ({limit:.0%})"


def _risk_line(line: RiskLine, limit: float) -> None:
    with ui.column().classes("w-full gap-0"):
        with row(spread=True):
            ui.label(line.name).classes("text-weight-medium")
            ui.label(f"{share(line.value)}, {'within' if line.is_within else 'above'} the limit")
        bar(line.value, "within" if line.is_within else "above", limit)
        quiet(line.words)


def _models(one: ReleaseCandidate) -> None:
    with row():
        for found in one.report.checked.verdicts:
            with ui.element("span").classes("d-chip"):
                ui.icon("check_circle" if found.holds else "cancel", color="positive" if found.holds else "negative")
                ui.label(f"{found.model.name} {verdict_words(found)}")


# Before and after -------------------------------------------------------------------------------------------------


def _before_and_after(one: ReleaseCandidate, original: pa.Table) -> None:
    roles = one.report.checked.roles
    heading("Before and after", 3)
    quiet("Some rows of both. A release is sorted by what it shows, so no row stands beside its own.")
    with ui.element("div").classes("side-by-side" if original.num_columns <= _SIDE_BY_SIDE else "w-full flex flex-col"):
        _rows("Before", original, roles)
        _rows("After", one.release.table, roles)
    heading("What changed", 3)
    with ui.element("div").classes("d-table-box"), ui.element("table").classes("d-table"), ui.element("tbody"):
        for change in column_changes(one, original.column_names):
            with ui.element("tr"):
                with ui.element("td"):
                    ui.label(change.name).classes("text-weight-medium")
                with ui.element("td"):
                    role_chip(change.role)
                with ui.element("td"):
                    ui.label(change.words)
    ui.label(f"{one.left_out:,} of {original.num_rows:,} rows are left out.")


def _rows(title: str, table: pa.Table, roles: Roles) -> None:
    with ui.column().classes("w-full gap-1").style("min-width:0"):
        ui.label(title).classes("text-weight-medium")
        some_rows(table, roles)


# What it still tells ----------------------------------------------------------------------------------------------


def _dangers(one: ReleaseCandidate) -> None:
    heading("What an attacker can still do", 3)
    notice(NOT_PRIVACY, "warn")
    for danger in one.report.dangers:
        _danger(danger)


def _danger(danger: Danger) -> None:
    with ui.column().classes("w-full gap-0"):
        with row(spread=True):
            about = f": {danger.column}" if danger.column else ""
            ui.label(f"{danger.name.capitalize()}{about}").classes("text-weight-medium")
            ui.label("cannot be counted" if danger.share is None else share(danger.share))
        if danger.share is not None:
            bar(danger.share, "above")
        quiet(danger.words)


def _alternative(one: ReleaseCandidate) -> None:
    heading("The private alternative", 3)
    ui.code(one.report.price.sql, language="sql").classes("w-full question")
    ui.label(price_words(one.report))


def _downloads(one: ReleaseCandidate, name: str) -> None:
    report = one.report
    heading("The report", 3)
    with row():
        download_button("Report, page", f"{name}-report.html", "text/html", lambda: report.to_html().encode())
        download_button("Report, JSON", f"{name}-report.json", "application/json", lambda: report.to_json().encode())
    quiet(FOR_THE_OWNER)
