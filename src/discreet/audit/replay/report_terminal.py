"""A replay in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

if TYPE_CHECKING:
    from discreet.audit.replay.replay import ReplayLine, ReplayReport

__all__ = ["line_cells", "replay_text"]


def replay_text(report: ReplayReport) -> RenderableType:
    """One line for each question, what is wrong, and what it comes to."""
    grid = Grid(box=None, pad_edge=False, header_style="dim")
    grid.add_column("claimed", no_wrap=True)
    grid.add_column("observed", no_wrap=True)
    grid.add_column("question", overflow="fold")
    for line in report.lines:
        claimed, observed, about = line_cells(line)
        grid.add_row(claimed, observed, escape(line.question) + (f"\n[dim]{escape(about)}[/]" if about else ""))
    wrong = [Text(f"- {finding}", style="red") for finding in report.findings]
    skipped = [Text(f"not tried: {words}", style="dim") for words in report.skipped]
    verdict = Text(report.headline, style="bold green" if report.is_sound else "bold red")
    return Group(verdict, Padding(grid, (1, 0)), *wrong, *skipped)


def line_cells(line: ReplayLine) -> tuple[str, str, str]:
    """What was claimed and observed for a question, and what else there is to say about it."""
    if line.refusal is not None:
        return "refused", "", line.refusal
    if line.claimed is None or line.observed is None:
        return "public", "", ""
    if not line.claimed:
        return "free", "", "asked before"
    worst = f"most for {line.neighbour}" if line.neighbour else ""
    return f"{line.unit} {line.claimed:.4g}", f"{line.unit} {line.observed:.4g}", worst
