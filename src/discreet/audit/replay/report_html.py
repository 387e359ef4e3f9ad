"""A replay as one page: no network, no scripts, light and dark, readable on a phone."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from discreet.audit.replay.report_terminal import line_cells
from discreet.reports.page import footer, headline, mark, page, paragraph, quiet, section, table, warning

if TYPE_CHECKING:
    from discreet.audit.replay.replay import ReplayLine, ReplayReport

__all__ = ["replay_html"]


_HOW = (
    "The same questions were asked of curators whose tables differ by one person. All they show but noisy values must "
    "be the same. What noise hides may differ by no more than was declared: that is computed, and not estimated."
)


def replay_html(report: ReplayReport) -> str:
    """The page."""
    parts = [
        headline(report.headline) if report.is_sound else warning(report.headline),
        paragraph(_HOW),
        section("Claimed against observed", table(["claimed", "observed", "question"], map(_cells, report.lines))),
    ]
    if report.findings:
        rows = [[*map(escape, (one.words, one.question, one.neighbour, one.detail))] for one in report.findings]
        parts.append(section("What tells neighbours apart", table(["what", "question", "neighbour", "seen"], rows)))
    tried = [[escape(words), ""] for words in report.neighbours]
    tried += [[escape(words), mark(False, "", "not tried")] for words in report.skipped]
    parts += [section("Neighbours", table([], tried)), footer("Made by Discreet.")]
    return page(f"A replay of {report.table}", parts)


def _cells(line: ReplayLine) -> list[str]:
    claimed, observed, about = line_cells(line)
    return [escape(claimed), escape(observed), f"<code>{escape(line.question)}</code>{quiet(about) if about else ''}"]
