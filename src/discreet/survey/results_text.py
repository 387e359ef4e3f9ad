"""Results for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from discreet.privacy.shown import shown as price
from discreet.survey.results import Finding, Results, Row

__all__ = ["needs", "renderable", "shown", "span", "summary"]


def renderable(results: Results, *, raw: bool = False) -> RenderableType:
    """A table for each question; ``raw`` estimates are right on average and may lie outside of what is possible."""
    return Group(Text(results.survey.title, "bold"), Text(summary(results)), *_parts(results, raw))


def _parts(results: Results, raw: bool) -> Iterator[RenderableType]:
    for finding in results.findings:
        yield Text(f"\n{finding.question.ask}", "bold")
        if finding.rows:
            yield _table(finding, finding.rows if raw else finding.shown)
        yield Text(needs(finding, results), "dim")


def _table(finding: Finding, rows: tuple[Row, ...]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("answer" if finding.question.type != "number" else "")
    for name in ("estimate", "from", "to"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(Text(row.label), *(shown(finding, value) for value in (row.value, row.low, row.high)))
    return table


def shown(finding: Finding, value: float) -> str:
    """A share in percent, or a mean."""
    return f"{value:.4g}" if finding.question.type == "number" else f"{100 * value:.1f} %"


def summary(results: Results) -> str:
    """Who answered, and how sure the intervals are."""
    if not results.answered:
        return f"Nobody of {results.invited:,} invited has answered yet."
    held = "all intervals hold at once" if results.wish.together else "each interval holds"
    return (
        f"{results.answered:,} of {results.invited:,} invited have answered; {held} with confidence"
        f" {float(results.wish.confidence):g}, for those who answered."
    )


def needs(finding: Finding, results: Results) -> str:
    """What the question cost each person, and how many more answers are needed."""
    loss = price(finding.question.randomizer.loss.epsilon, 3)
    more = max(finding.needed - results.answered, 0)
    within = f"{100 * float(results.wish.within):.3g}"
    error = f"± {within} % of the range" if finding.question.type == "number" else f"± {within} points"
    enough = f"about {more:,} more answers, whatever they are, make it" if more else "there are enough for"
    return f"ε {loss} for each person by {finding.question.randomizer.kind}; {enough} {error}."


def span(row: Row, finding: Finding) -> str:
    """Both ends in words."""
    return f"{shown(finding, row.low)} to {shown(finding, row.high)}"
