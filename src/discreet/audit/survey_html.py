"""Many audits as one page: no network, no scripts, light and dark, readable on a phone."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from discreet.audit.report_words import claim_figure, event_words, exact_figure, observed_figure
from discreet.audit.survey_text import survey_words
from discreet.pages.page import footer, headline, mark, page, section, table, warning

if TYPE_CHECKING:
    from discreet.audit.survey import Line, Survey

__all__ = ["survey_html"]

_HEADER = ["mechanism", "claimed", "exact", "observed", "verdict", "seen in"]


def survey_html(survey: Survey) -> str:
    """The page."""
    words = survey_words(survey)
    parts = [
        headline(words) if survey.is_as_expected else warning(words),
        section("Claimed against observed", table(_HEADER, [_cells(line) for line in survey.lines])),
        section("What they are", table(["mechanism", ""], [_about(line) for line in survey.lines])),
        footer("Made by Discreet."),
    ]
    return page(survey.title, parts)


def _cells(line: Line) -> list[str]:
    report = line.report
    best = report.best
    return [
        escape(line.case.name),
        escape(claim_figure(report.claim)),
        escape(exact_figure(report)),
        escape(observed_figure(report)),
        mark(line.is_as_expected, str(report.verdict), str(report.verdict)),
        "" if best is None else escape(event_words(best)),
    ]


def _about(line: Line) -> list[str]:
    return [escape(line.case.name), escape(line.case.about)]
