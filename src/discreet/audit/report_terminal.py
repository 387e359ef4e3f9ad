"""A report in the terminal.

Many audits in the terminal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from discreet.audit.claim import Verdict
from discreet.audit.report_content import (
    claim_figure,
    confidence_words,
    event_words,
    exact_figure,
    exact_words,
    headline,
    number,
    observed_figure,
    observed_words,
)

if TYPE_CHECKING:
    from discreet.audit.report import AuditReport
    from discreet.audit.suite import AuditSuite, SuiteLine

__all__ = ["COLOURS", "report_text", "survey_text", "survey_words"]


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


def survey_text(survey: AuditSuite) -> RenderableType:
    """One line for each audit, and what they come to."""
    grid = Grid(box=None, pad_edge=False, header_style="dim")
    for name in ("mechanism", "claimed", "exact", "observed", "verdict"):
        grid.add_column(name, no_wrap=name == "mechanism")
    for line in survey.lines:
        grid.add_row(*_cells(line))
    return Group(Text(survey.title, style="bold"), Padding(grid, (1, 0)), Text(survey_words(survey)))


def survey_words(survey: AuditSuite) -> str:
    """What the audits come to."""
    sound = [line for line in survey.lines if line.case.keeps_its_claim]
    broken = [line for line in survey.lines if not line.case.keeps_its_claim]
    said = []
    if sound:
        said.append(f"{_kept(sound)} of {len(sound)} mechanisms show nothing against their claim.")
    if broken:
        said.append(f"{_kept(broken)} of {len(broken)} broken mechanisms were found out.")
    return " ".join(said)


def _kept(lines: list[SuiteLine]) -> int:
    return sum(line.is_as_expected for line in lines)


def _cells(line: SuiteLine) -> list[str]:
    report = line.report
    mark = "" if line.is_as_expected else "  [bold red]not as it should be[/]"
    verdict = f"[{COLOURS[report.verdict]}]{report.verdict}[/]{mark}"
    figures = claim_figure(report.claim), exact_figure(report), observed_figure(report)
    return [escape(line.case.name), *map(escape, figures), verdict]
