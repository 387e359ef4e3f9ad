"""A report as one page: no network, no scripts, light and dark, readable on a phone.

Many audits as one page: no network, no scripts, light and dark, readable on a phone.
"""

from __future__ import annotations

from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING

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
from discreet.audit.report_terminal import survey_words
from discreet.privacy.hypothesis_tests import ErrorRegion
from discreet.reports.line_chart import Series, line_chart
from discreet.reports.page import footer, mark, page, paragraph, quiet, section, table, warning
from discreet.reports.page import headline as page_headline

if TYPE_CHECKING:
    from discreet.audit.report import AuditReport
    from discreet.audit.suite import AuditSuite, SuiteLine

__all__ = ["report_html", "survey_html"]


_STEPS = 60
_LEAST_SPAN = 1e-280


def report_html(report: AuditReport) -> str:
    """The page."""
    is_good = report.verdict is Verdict.CONSISTENT
    parts = [
        page_headline(headline(report)) if is_good else warning(headline(report)),
        _facts(report),
        *([_charts(report)] if report.proofs or report.exact is not None else []),
        _events(report),
        *([section("Noticed", *map(paragraph, report.notes))] if report.notes else []),
        quiet(confidence_words(report)),
        footer("Made by Discreet."),
    ]
    return page(f"Audit of {report.name}", parts)


def _facts(report: AuditReport) -> str:
    best, reach = report.best, report.reach
    rows = [
        ["verdict", mark(report.verdict is Verdict.CONSISTENT, str(report.verdict), str(report.verdict))],
        ["inputs", escape(f"{report.first} and {report.second}")],
        ["claimed", escape(str(report.claim))],
        *([] if best is None else [["observed", escape(observed_words(best))], ["seen in", escape(event_words(best))]]),
        *([] if report.exact is None else [["exact", escape(exact_words(report))]]),
        ["draws", f"{report.draws:,}"],
        *([] if reach is None else [["so many draws prove", f"at most ε = {number(reach.epsilon)}"]]),
    ]
    return section("Claimed against observed", table([], rows))


def _charts(report: AuditReport) -> str:
    return section("Pictures", *([_laws(report)] if report.seen else []), _trade_off(report))


def _laws(report: AuditReport) -> str:
    places = _places(report)
    first = [(x, one.first) for x, one in zip(places, report.seen, strict=True)]
    second = [(x, one.second) for x, one in zip(places, report.seen, strict=True)]
    few = len(report.seen) <= 2
    return line_chart(
        [Series("first input", first, marks=few), Series("second input", second, marks=few)],
        title="How often each answer came",
        x_label="answer" if _are_numbers(report) else "answers, one after the other",
        y_label="share of the draws",
        y_holds=(0.0,),
    )


def _places(report: AuditReport) -> list[float]:
    if _are_numbers(report):
        return [float(one.outcome) for one in report.seen]
    return [float(k) for k in range(len(report.seen))]


def _are_numbers(report: AuditReport) -> bool:
    """Whether outcomes are numbers that an axis can hold."""
    try:
        found = [float(one.outcome) for one in report.seen]
    except ValueError:
        return False
    span = max(found) - min(found)
    return span == 0 or (span > _LEAST_SPAN and max(map(abs, found)) < 1 / _LEAST_SPAN)


def _trade_off(report: AuditReport) -> str:
    region = ErrorRegion(report.claim)
    across = sorted({*(Fraction(k, _STEPS) for k in range(_STEPS + 1)), region.least_error_sum() / 2})
    allowed = [(float(x), float(region.least_false_negative(x))) for x in across]
    series = [Series("the claim allows no test below", allowed)]
    if report.exact is not None:
        series.append(Series("the true laws", report.exact.corners))
    bounds = sorted(proof.errors for proof in report.proofs)
    points = [Series("proved for a test", [point], marks=True) for point in bounds[:1]]
    if len(bounds) > 1:
        points = [Series("proved for a test", _worst_first(bounds), marks=True)]
    return line_chart(
        [*series, *points],
        title="The two errors of a test that tells the inputs apart",
        x_label="false positives",
        y_label="false negatives",
        y_holds=(0.0, 1.0),
    )


def _worst_first(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points that no other one beats in both errors, from left to right."""
    kept: list[tuple[float, float]] = []
    for point in points:
        if not kept or point[1] < kept[-1][1]:
            kept.append(point)
    return kept


def _events(report: AuditReport) -> str:
    if not report.proofs:
        return ""
    rows = [
        [
            escape(proof.event.family),
            escape(proof.event.words),
            number(proof.first.rate),
            number(proof.second.rate),
            escape(observed_words(proof)),
            mark(not proof.refutes, "allowed", "refutes the claim"),
        ]
        for proof in report.proofs
    ]
    return section("Every event that was tested", table(["family", "event", "first", "second", "proves", ""], rows))


_HEADER = ["mechanism", "claimed", "exact", "observed", "verdict", "seen in"]


def survey_html(survey: AuditSuite) -> str:
    """The page."""
    words = survey_words(survey)
    parts = [
        page_headline(words) if survey.is_as_expected else warning(words),
        section("Claimed against observed", table(_HEADER, [_cells(line) for line in survey.lines])),
        section("What they are", table(["mechanism", ""], [_about(line) for line in survey.lines])),
        footer("Made by Discreet."),
    ]
    return page(survey.title, parts)


def _cells(line: SuiteLine) -> list[str]:
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


def _about(line: SuiteLine) -> list[str]:
    return [escape(line.case.name), escape(line.case.about)]
