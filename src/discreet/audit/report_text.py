"""A report in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from discreet.audit.report_words import confidence_words, event_words, exact_words, headline, number, observed_words
from discreet.audit.verdict import Verdict

if TYPE_CHECKING:
    from discreet.audit.report import AuditReport

__all__ = ["COLOURS", "report_text"]

COLOURS = {
    Verdict.VIOLATION: "red",
    Verdict.UNSTEADY: "yellow",
    Verdict.TOO_FEW: "yellow",
    Verdict.CONSISTENT: "green",
}


def report_text(report: AuditReport) -> RenderableType:
    """Claimed against observed, the best event of each family, and what else was noticed."""
    return Group(
        Text.assemble((str(report.verdict), f"bold {COLOURS[report.verdict]}"), "  ", headline(report)),
        Padding(_facts(report), (1, 0, 0, 0)),
        *_events(report),
        *[Padding(Text(note, style="yellow"), (1, 0, 0, 0)) for note in report.notes],
        Padding(Text(confidence_words(report), style="dim"), (1, 0, 0, 0)),
    )


def _facts(report: AuditReport) -> Grid:
    grid = Grid(box=None, pad_edge=False, show_header=False)
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    for name, value in _rows(report):
        if value:
            grid.add_row(name, escape(value))
    return grid


def _rows(report: AuditReport) -> list[tuple[str, str]]:
    best, reach = report.best, report.reach
    return [
        ("mechanism", report.name),
        ("inputs", f"{report.first} and {report.second}"),
        ("claimed", str(report.claim)),
        ("observed", "" if best is None else observed_words(best)),
        ("seen in", "" if best is None else event_words(best)),
        ("exact", exact_words(report)),
        ("draws", "" if reach is None else f"{report.draws:,}; they can prove at most ε = {number(reach.epsilon)}"),
    ]


def _events(report: AuditReport) -> list[RenderableType]:
    if not report.proofs:
        return []
    grid = Grid("event", "first", "second", "proves", box=None, pad_edge=False, header_style="dim")
    for proof in report.proofs:
        mark = "[red]✗[/] " if proof.refutes else ""
        shares = number(proof.first.rate), number(proof.second.rate)
        grid.add_row(escape(f"{proof.event.family}: {proof.event.words}"), *shares, mark + observed_words(proof))
    return [Padding(grid, (1, 0, 0, 0))]
