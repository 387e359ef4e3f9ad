"""A report as one page: no network, no scripts, light and dark, readable on a phone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from discreet.anonymize.charts import columns_chart, meter, paired_meters
from discreet.anonymize.class_sizes import size_shares
from discreet.anonymize.danger import FOR_THE_OWNER, NOT_PRIVACY
from discreet.anonymize.figures import figure, share
from discreet.anonymize.report_style import STYLE
from discreet.anonymize.report_words import (
    headline,
    loss_figures,
    price_words,
    separating_words,
    strictest_words,
    verdict_words,
)
from discreet.anonymize.risk import Risks

if TYPE_CHECKING:
    from discreet.anonymize.report import Comparison, TableReport

__all__ = ["report_html"]

_MOST_SETS = 10
_MOST_VALUES = 4
_LEGEND = '<p class="legend"><span class="before key"></span>before <span class="after key"></span>after</p>'


def report_html(report: TableReport) -> str:
    """The page."""
    found = report.comparison
    parts = [
        f"<h1>{escape(report.name)}</h1>",
        f'<p class="warning">{escape(NOT_PRIVACY)}</p>',
        f'<p class="quiet">{escape(FOR_THE_OWNER)}</p>',
        f'<p class="headline">{escape(headline(report))}</p>',
        f'<p class="quiet">{escape(report.how)}</p>' if report.how else "",
        _models(report),
        _violating(report),
        _sizes(report),
        _risks(report),
        _columns(report),
        *([] if found is None else [_losses(found), _histograms(found)]),
        _dangers(report),
        _price(report),
        "<footer>Made by Discreet. Questions and figures are the same whenever the report is made again.</footer>",
    ]
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(report.name)}: what publishing it tells</title><style>{STYLE}</style>"
    )
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body><main>{"".join(parts)}</main></body></html>\n'


def _section(title: str, *parts: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{''.join(parts)}</section>"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are HTML already; it scrolls by itself where it is too wide."""
    head = f"<thead><tr>{''.join(f'<th>{name}</th>' for name in header)}</tr></thead>" if header else ""
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="scroll"><table>{head}<tbody>{body}</tbody></table></div>'


def _models(report: TableReport) -> str:
    asked = [[_mark(one.holds), escape(one.model.name), escape(verdict_words(one))] for one in report.checked.verdicts]
    strictest = [
        [escape(one.model), escape(one.column or ""), escape(strictest_words(one))] for one in report.checked.measures
    ]
    held = f"<details{'' if asked else ' open'}><summary>The strictest that holds</summary>"
    return _section(
        "Models",
        _table([], asked) if asked else "",
        held,
        _table(["model", "column", "strictest"], strictest),
        "</details>",
    )


def _mark(holds: bool) -> str:
    return '<span class="good">yes</span>' if holds else '<span class="bad">no</span>'


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
    return _section(title, _table(["rows", *map(escape, (*quasi, *sensitive))], rows))


def _values(counts: dict[str, int]) -> str:
    listed = [f"{escape(value)} {count}" for value, count in list(counts.items())[:_MOST_VALUES]]
    return ", ".join([*listed, "…"] if len(counts) > _MOST_VALUES else listed)


def _sizes(report: TableReport) -> str:
    after = size_shares(report.checked.classes.sizes)
    words = (
        '<p class="quiet">The share of rows in classes of each size. The fewer rows in small classes, the better.</p>'
    )
    if report.comparison is None:
        rows = [[escape(name), meter(value), share(value)] for name, value in after.items()]
        return _section("Class sizes", words, _table(["size", "", "rows"], rows))
    before = size_shares(report.comparison.sizes)
    rows = [
        [escape(name), paired_meters(before[name], value), f"{share(before[name])}<br>{share(value)}"]
        for name, value in after.items()
    ]
    return _section("Class sizes", words, _LEGEND, _table(["size", "", "rows"], rows))


def _risks(report: TableReport) -> str:
    before = report.comparison.risks if report.comparison is not None else None
    rows = [_risk_row(name, None if before is None else one(before), one(report.risks)) for name, one in _RISKS]
    limit = share(report.risks.threshold)
    words = (
        f'<p class="quiet">A prosecutor knows that a person is in the table, a journalist does not, a marketer wants '
        f"many people at once. Rows with a risk above {limit} are at risk. Averages are over rows.</p>"
    )
    people = ""
    if report.population is not None:
        found = report.population
        people = (
            f"<p>Of {found.population:,} people about {figure(found.estimate)} are unique ({share(found.share)}; "
            "an estimate from a model of the population, not a bound).</p>"
        )
    return _section("Who can be found", words, _LEGEND if before else "", _table(["risk", "", ""], rows), people)


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
    words = f"<p>{escape(separating_words(report))}</p>"
    return _section("What tells rows apart", words, _table(["columns", "distinction", "separation", "unique"], rows))


def _losses(found: Comparison) -> str:
    bars = [
        [escape(one.column), meter(one.normalised), share(one.normalised), share(one.certainty_penalty)]
        for one in found.losses
    ]
    figures = [[escape(name), escape(value)] for name, value in loss_figures(found)]
    return _section("What was lost", _table(["column", "", "loss", "NCP"], bars), _table([], figures))


def _histograms(found: Comparison) -> str:
    words = (
        '<p class="quiet">What a reader of the release expects, each cell spread over the values that it may be.</p>'
    )
    parts = [
        f"<figure><figcaption>{escape(one.column)} <small>moved by {share(one.distance)}</small></figcaption>"
        f"{columns_chart(one.bars, [('before', one.before), ('after', one.after)])}</figure>"
        for one in found.histograms
    ]
    return _section("Before and after", words, _LEGEND, f'<div class="charts">{"".join(parts)}</div>')


def _dangers(report: TableReport) -> str:
    rows = [
        f"<li><h3>{escape(one.name)}{f' <small>{escape(one.column)}</small>' if one.column else ''}</h3>"
        f"{'' if one.share is None else meter(one.share, 'danger')}<p>{escape(one.words)}</p></li>"
        for one in report.dangers
    ]
    return _section("What an attacker can still do", f'<ul class="dangers">{"".join(rows)}</ul>')


def _price(report: TableReport) -> str:
    commands = "\n".join(escape(line) for line in report.price.commands)
    return _section(
        "The private alternative",
        f"<pre>{escape(report.price.sql)}</pre><p>{escape(price_words(report))}</p><pre>{commands}</pre>",
    )
