"""Results as a part of a page: a table with bars for each question."""

from __future__ import annotations

from html import escape

from discreet.local.terms import Bounds
from discreet.pages.interval_bar import interval_bar
from discreet.pages.page import headline, quiet, section, table
from discreet.survey.results import Finding, Results, Row
from discreet.survey.results_text import needs, shown, span, summary

__all__ = ["html_part"]


def html_part(results: Results) -> str:
    """Everything below the title."""
    return headline(summary(results)) + "".join(_section(one, results) for one in results.findings)


def _section(finding: Finding, results: Results) -> str:
    names = ("" if finding.question.type == "number" else "answer", "", "estimate", "interval")
    parts = [table(names, (_cells(row, finding) for row in finding.shown)), _raw(finding)] if finding.rows else []
    return section(finding.question.ask, *parts, quiet(needs(finding, results)))


def _raw(finding: Finding) -> str:
    """The unbiased estimates, behind a click: add or average these, and read the others."""
    rows = ((escape(row.label), escape(shown(finding, row.value)), escape(span(row, finding))) for row in finding.rows)
    listed = table(("", "raw estimate", "raw interval"), rows)
    words = quiet("Right on average, so that they may be added up, and at times outside of what is possible.")
    place = escape(f"raw-{finding.question.name}")
    return f'<details id="{place}"><summary>Raw estimates</summary>{words}{listed}</details>'


def _cells(row: Row, finding: Finding) -> tuple[str, ...]:
    value, low, high = (_share(end, finding) for end in (row.value, row.low, row.high))
    bar = interval_bar(value, (low, high), value)
    return escape(row.label), bar, escape(shown(finding, row.value)), escape(span(row, finding))


def _share(value: float, finding: Finding) -> float:
    """Where a value lies between the ends of its bar."""
    domain = finding.question.terms.domain
    if not isinstance(domain, Bounds):
        return value
    return (value - float(domain.lower)) / float(domain.upper - domain.lower)
