"""Many audits in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from discreet.audit.report_text import COLOURS
from discreet.audit.report_words import claim_figure, exact_figure, observed_figure

if TYPE_CHECKING:
    from discreet.audit.survey import Line, Survey

__all__ = ["survey_text", "survey_words"]


def survey_text(survey: Survey) -> RenderableType:
    """One line for each audit, and what they come to."""
    grid = Grid(box=None, pad_edge=False, header_style="dim")
    for name in ("mechanism", "claimed", "exact", "observed", "verdict"):
        grid.add_column(name, no_wrap=name == "mechanism")
    for line in survey.lines:
        grid.add_row(*_cells(line))
    return Group(Text(survey.title, style="bold"), Padding(grid, (1, 0)), Text(survey_words(survey)))


def survey_words(survey: Survey) -> str:
    """What the audits come to."""
    sound = [line for line in survey.lines if line.case.keeps_its_claim]
    broken = [line for line in survey.lines if not line.case.keeps_its_claim]
    said = []
    if sound:
        said.append(f"{_kept(sound)} of {len(sound)} mechanisms show nothing against their claim.")
    if broken:
        said.append(f"{_kept(broken)} of {len(broken)} broken mechanisms were found out.")
    return " ".join(said)


def _kept(lines: list[Line]) -> int:
    return sum(line.is_as_expected for line in lines)


def _cells(line: Line) -> list[str]:
    report = line.report
    mark = "" if line.is_as_expected else "  [bold red]not as it should be[/]"
    verdict = f"[{COLOURS[report.verdict]}]{report.verdict}[/]{mark}"
    figures = claim_figure(report.claim), exact_figure(report), observed_figure(report)
    return [escape(line.case.name), *map(escape, figures), verdict]
