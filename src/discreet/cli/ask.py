"""``discreet explain`` and ``discreet ask``: the price before, the answer after."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table as Grid

from discreet.cli.output import amount, console, opened, refusals
from discreet.curator.answer import Answer
from discreet.curator.curator import Explanation
from discreet.errors import InvalidValue

__all__ = ["ask", "explain", "show_answer", "show_explanation"]

Folder = Annotated[Path, typer.Option("--curator", "-c", help="The curator's folder.")]
Sql = Annotated[str, typer.Argument(help="A question in SQL.")]


def explain(
    sql: Sql,
    epsilon: Annotated[str, typer.Option("--epsilon", "-e", help="The price you have in mind.")] = "0.5",
    folder: Folder = Path("hospital"),
    analyst: Annotated[str | None, typer.Option(help="Who asks.")] = None,
) -> None:
    """Say what a question would cost and how good the answer would be. Reads no data and costs nothing.

    [dim]Example:[/]  discreet explain "SELECT ward, COUNT(*) FROM visits GROUP BY ward" -e 0.5 -c hospital
    """
    with refusals():
        show_explanation(opened(folder).explain(sql, epsilon, analyst=analyst))


def ask(
    sql: Sql,
    epsilon: Annotated[str | None, typer.Option("--epsilon", "-e", help="The price; say this or --within.")] = None,
    within: Annotated[float | None, typer.Option(help="The wanted error, as in ± 20; the price follows.")] = None,
    folder: Folder = Path("hospital"),
    analyst: Annotated[str | None, typer.Option(help="Who asks.")] = None,
    confidence: Annotated[float, typer.Option(help="How often an error bar holds, between 0 and 1.")] = 0.95,
    certificate: Annotated[
        Path | None, typer.Option(help="Write the signed certificate here, for discreet certificate.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Ask a question and spend its price; a question that was asked before is free.

    [dim]Example:[/]  discreet ask "SELECT ward, AVG(age) FROM visits GROUP BY ward" -e 0.5 -c hospital
    """
    with refusals():
        if (epsilon is None) == (within is None):
            given = "neither" if epsilon is None else "both"
            raise InvalidValue("a question has a price or a wanted error", f"<{given}>", "pass -e 0.5 or --within 20")
        curator = opened(folder)
        answer = curator.ask(sql, epsilon, within=within, analyst=analyst, confidence=confidence)
        if certificate is not None:
            certificate.write_text(json.dumps(answer.certificate, ensure_ascii=False) + "\n", encoding="utf-8")
        if as_json:
            console.print_json(answer.to_json())
        else:
            show_answer(answer)


def show_explanation(found: Explanation) -> None:
    """Print what a question would cost and how good its answer would be."""
    console.print(f"price    {found.price}" if found.price is not None else "free: public tables alone", soft_wrap=True)
    console.print(f"afforded {'yes' if found.affordable else '[yellow]no[/]'}")
    console.print(f"groups   {found.groups}")
    for error in found.errors:
        console.print(
            f"error    {escape(error.column)}: "
            + ("depends on the answer" if error.within is None else f"± {error.within:,.4g}")
        )
    for note in found.notes:
        console.print(f"[dim]{escape(note)}[/]", soft_wrap=True)


def show_answer(answer: Answer) -> None:
    """Print an answer with its error bars, notes and price."""
    grid = Grid(box=None, pad_edge=False)
    for name in answer.table.column_names:
        grid.add_column(escape(name), justify="right")
    for row in range(answer.table.num_rows):
        grid.add_row(*(escape(answer.cell(name, row)) for name in answer.table.column_names))
    console.print(grid)
    for note in answer.notes:
        console.print(f"[dim]{escape(note)}[/]", soft_wrap=True)
    if answer.price is not None:
        console.print(
            f"[dim]{'cost' if answer.charged else 'asked before, free now; it cost'} {amount(answer.price)}[/]"
        )
