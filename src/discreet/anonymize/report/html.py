"""A report as one page: no network, no scripts, light and dark, readable on a phone."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING

from discreet.anonymize.equivalence_classes import size_shares
from discreet.anonymize.report.content import (
    headline,
    loss_figures,
    price_words,
    separating_words,
    strictest_words,
    verdict_words,
)
from discreet.anonymize.report.format import figure, share
from discreet.anonymize.risk.disclosure import FOR_THE_OWNER, NOT_PRIVACY
from discreet.anonymize.risk.risk import Risks
from discreet.reports.charts import columns_chart, meter, paired_meters
from discreet.reports.page import (
    code_block,
    details,
    entries,
    figures,
    footer,
    mark,
    page,
    paragraph,
    quiet,
    section,
    table,
    warning,
)
from discreet.reports.page import figure as picture

if TYPE_CHECKING:
    from discreet.anonymize.report.report import ReleaseComparison, TableReport

__all__ = ["report_html"]


_MOST_SETS = 10
_MOST_VALUES = 4
_LEGEND = '<p class="legend"><span class="before key"></span>before <span class="after key"></span>after</p>'


def report_html(report: TableReport) -> str:
    """The page."""
    found = report.comparison
    parts = [
        warning(NOT_PRIVACY),
        quiet(FOR_THE_OWNER),
        paragraph(headline(report), "headline"),
        quiet(report.how) if report.how else "",
        _models(report),
        _violating(report),
        _sizes(report),
        _risks(report),
        _columns(report),
        *([] if found is None else [_losses(found), _histograms(found)]),
        _dangers(report),
        _price(report),
        footer("Made by Discreet. Questions and figures are the same whenever the report is made again."),
    ]
    return page(f"{report.name}: what publishing it tells", parts, heading=report.name)


def _models(report: TableReport) -> str:
    asked = [[mark(one.holds), escape(one.model.name), escape(verdict_words(one))] for one in report.checked.verdicts]
    strictest = [
        [escape(one.model), escape(one.column or ""), escape(strictest_words(one))] for one in report.checked.measures
    ]
    held = table(["model", "column", "strictest"], strictest)
    return section(
        "Models",
        table([], asked) if asked else "",
        details("The strictest that holds", held, shown=not asked),
    )


def _violating(report: TableReport) -> str:
    found = report.checked.violating()
    if not found:
        return ""
    quasi, sensitive = report.checked.roles.quasi, report.checked.roles.sensitive
    rows = [
        [
            str(one.rows),
            *(escape(one.values[name]) for name in quasi),
            *(_values(one.sensitive[name]) for name in sensitive),
        ]
        for one in found
    ]
    title = f"Classes that break a model: the {len(found)} smallest"
    return section(title, table(["rows", *quasi, *sensitive], rows))


def _values(counts: dict[str, int]) -> str:
    listed = [f"{escape(value)} {count}" for value, count in list(counts.items())[:_MOST_VALUES]]
    return ", ".join([*listed, "…"] if len(counts) > _MOST_VALUES else listed)


def _sizes(report: TableReport) -> str:
    after = size_shares(report.checked.classes.sizes)
    words = quiet("The share of rows in classes of each size. The fewer rows in small classes, the better.")
    if report.comparison is None:
        rows = [[escape(name), meter(value), share(value)] for name, value in after.items()]
        return section("Class sizes", words, table(["size", "", "rows"], rows))
    before = size_shares(report.comparison.sizes)
    rows = [
        [escape(name), paired_meters(before[name], value), f"{share(before[name])}<br>{share(value)}"]
        for name, value in after.items()
    ]
    return section("Class sizes", words, _LEGEND, table(["size", "", "rows"], rows))


def _risks(report: TableReport) -> str:
    before = report.comparison.risks if report.comparison is not None else None
    rows = [_risk_row(name, None if before is None else one(before), one(report.risks)) for name, one in _RISKS]
    limit = share(report.risks.threshold)
    words = quiet(
        "A prosecutor knows that a person is in the table, a journalist does not, a marketer wants many people at "
        f"once. Rows with a risk above {limit} are at risk. Averages are over rows."
    )
    people = ""
    if report.population is not None:
        found = report.population
        people = paragraph(
            f"Of {found.population:,} people about {figure(found.estimate)} are unique ({share(found.share)}; "
            "an estimate from a model of the population, not a bound)."
        )
    return section("Who can be found", words, _LEGEND if before else "", table(["risk", "", ""], rows), people)


_RISKS: tuple[tuple[str, Callable[[Risks], float]], ...] = (
    ("prosecutor, highest", lambda one: one.prosecutor.highest),
    ("prosecutor, average", lambda one: one.prosecutor.average),
    ("rows at risk", lambda one: one.prosecutor.at_risk),
    ("journalist, highest", lambda one: one.journalist.highest),
    ("marketer", lambda one: one.marketer),
    ("unique rows", lambda one: one.uniqueness),
)


def _risk_row(name: str, before: float | None, after: float) -> list[str]:
    if before is None:
        return [name, meter(after), share(after)]
    return [name, paired_meters(before, after), f"{share(before)}<br>{share(after)}"]


def _columns(report: TableReport) -> str:
    rows = [
        [escape(", ".join(one.columns)), share(one.distinction), share(one.separation), share(one.uniqueness)]
        for one in report.distinctions[:_MOST_SETS]
    ]
    words = paragraph(separating_words(report))
    return section("What tells rows apart", words, table(["columns", "distinction", "separation", "unique"], rows))


def _losses(found: ReleaseComparison) -> str:
    bars = [
        [escape(one.column), meter(one.normalised), share(one.normalised), share(one.certainty_penalty)]
        for one in found.losses
    ]
    figures = [[escape(name), escape(value)] for name, value in loss_figures(found)]
    return section("What was lost", table(["column", "", "loss", "NCP"], bars), table([], figures))


def _histograms(found: ReleaseComparison) -> str:
    words = quiet("What a reader of the release expects, each cell spread over the values that it may be.")
    parts = [
        picture(
            one.column,
            columns_chart(one.bars, [("before", one.before), ("after", one.after)], f"{one.column}, before and after"),
            f"moved by {share(one.distance)}",
        )
        for one in found.histograms
    ]
    return section("Before and after", words, _LEGEND, figures(parts))


def _dangers(report: TableReport) -> str:
    rows = [
        f"<h3>{escape(one.name)}{f' <small>{escape(one.column)}</small>' if one.column else ''}</h3>"
        f"{'' if one.share is None else meter(one.share, 'danger')}{paragraph(one.words)}"
        for one in report.dangers
    ]
    return section("What an attacker can still do", entries(rows))


def _price(report: TableReport) -> str:
    price = report.price
    return section(
        "The private alternative",
        code_block(price.sql),
        paragraph(price_words(report)),
        code_block("\n".join(price.commands)),
    )
