"""A report in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table as Grid
from rich.text import Text

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

if TYPE_CHECKING:
    from discreet.anonymize.report.report import ReleaseComparison, TableReport

__all__ = ["report_text"]


_WIDTH = 100

_MOST_SETS = 6
_MOST_VALUES = 4
_BLOCKS = 24


def report_text(report: TableReport) -> RenderableType:
    """Everything a person should read before publishing."""
    parts = [
        Panel(Text(NOT_PRIVACY), border_style="yellow", expand=False, width=_WIDTH),
        Text(FOR_THE_OWNER, style="dim"),
        Text(headline(report)),
        *([Text(report.how)] if report.how else []),
        *_models(report),
        *_violating(report),
        *_risks(report),
        *(_losses(report.comparison) if report.comparison is not None else []),
        *_dangers(report),
        *_price(report),
    ]
    return Group(*parts)


def _title(words: str) -> RenderableType:
    return Padding(Text(words, style="bold"), (1, 0, 0, 0))


def _models(report: TableReport) -> list[RenderableType]:
    asked = Grid(box=None, pad_edge=False, show_header=False)
    for verdict in report.checked.verdicts:
        mark = "[green]yes[/]" if verdict.holds else "[red]no[/]"
        asked.add_row(mark, escape(verdict.model.name), escape(verdict_words(verdict)))
    strictest = Grid("what holds", "column", "strictest", box=None, pad_edge=False, header_style="dim")
    for one in report.checked.measures:
        strictest.add_row(escape(one.model), escape(one.column or ""), escape(strictest_words(one)))
    return [
        *([_title("Models"), asked] if report.checked.verdicts else []),
        _title("The strictest that holds"),
        strictest,
    ]


def _violating(report: TableReport) -> list[RenderableType]:
    found = report.checked.violating()
    if not found:
        return []
    quasi, sensitive = report.checked.roles.quasi, report.checked.roles.sensitive
    grid = Grid("rows", *map(escape, (*quasi, *sensitive)), box=None, pad_edge=False, header_style="dim")
    for one in found:
        secrets = [_values(one.sensitive[name]) for name in sensitive]
        grid.add_row(str(one.rows), *map(escape, (*(one.values[name] for name in quasi), *secrets)))
    return [_title(f"Classes that break a model (the {len(found)} smallest)"), grid]


def _values(counts: dict[str, int]) -> str:
    listed = [f"{value} {count}" for value, count in list(counts.items())[:_MOST_VALUES]]
    return ", ".join([*listed, "…"] if len(counts) > _MOST_VALUES else listed)


def _risks(report: TableReport) -> list[RenderableType]:
    before = report.comparison.risks if report.comparison is not None else None
    grid = Grid(
        *(["risk", "here"] if before is None else ["risk", "before", "after"]),
        box=None,
        pad_edge=False,
        header_style="dim",
    )
    columns = [report.risks] if before is None else [before, report.risks]
    for name, values in _risk_rows(columns):
        grid.add_row(name, *values)
    parts: list[RenderableType] = [_title("Who can be found"), grid]
    if report.population is not None:
        people, unique = report.population.population, figure(report.population.estimate)
        parts.append(
            Text(f"Of {people:,} people about {unique} are unique ({share(report.population.share)}, an estimate).")
        )
    return [*parts, *_columns(report)]


def _risk_rows(found: list[Risks]) -> list[tuple[str, list[str]]]:
    threshold = share(found[-1].threshold)
    return [
        ("prosecutor, highest", [share(one.prosecutor.highest) for one in found]),
        ("prosecutor, average", [share(one.prosecutor.average) for one in found]),
        (f"rows above {threshold}", [share(one.prosecutor.at_risk) for one in found]),
        ("journalist, highest", [share(one.journalist.highest) for one in found]),
        ("marketer", [share(one.marketer) for one in found]),
        ("unique rows", [f"{one.unique_rows:,} ({share(one.uniqueness)})" for one in found]),
    ]


def _columns(report: TableReport) -> list[RenderableType]:
    grid = Grid("columns", "distinction", "separation", "unique", box=None, pad_edge=False, header_style="dim")
    for one in report.distinctions[:_MOST_SETS]:
        cells = [share(one.distinction), share(one.separation), share(one.uniqueness)]
        grid.add_row(escape(", ".join(one.columns)), *cells)
    return [_title("What tells rows apart"), grid, Text(separating_words(report))]


def _losses(found: ReleaseComparison) -> list[RenderableType]:
    grid = Grid(box=None, pad_edge=False, show_header=False)
    for name, value in loss_figures(found):
        grid.add_row(escape(name), escape(value))
    columns = Grid("column", "loss", "", "NCP", "histogram moved", box=None, pad_edge=False, header_style="dim")
    moved = {one.column: one.distance for one in found.histograms}
    for one in found.losses:
        bar = "█" * round(_BLOCKS * one.normalised)
        columns.add_row(
            escape(one.column), share(one.normalised), bar, share(one.certainty_penalty), share(moved[one.column])
        )
    return [_title("What was lost"), grid, _title("Loss per column"), columns]


def _dangers(report: TableReport) -> list[RenderableType]:
    grid = Grid(box=None, pad_edge=False, show_header=False)
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True, justify="right")
    grid.add_column()
    for one in report.dangers:
        grid.add_row(escape(one.name), "" if one.share is None else share(one.share), escape(one.words))
    return [_title("What an attacker can still do"), grid]


def _price(report: TableReport) -> list[RenderableType]:
    commands = [Text(f"  {line}", style="dim") for line in report.price.commands]
    return [_title("The private alternative"), Text(report.price.sql), Text(price_words(report)), *commands]
