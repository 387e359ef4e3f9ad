"""``discreet subscribe`` and ``discreet series``: questions that are answered for every period when it closes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table as Grid

from discreet.cli.output import (
    DEFAULT_FOLDER,
    Analyst,
    AsJson,
    Folder,
    Sql,
    SqlFile,
    console,
    emit,
    opened,
    refusals,
    say,
    show_explanation,
    sql_of,
    whisper,
)
from discreet.errors import InvalidValue

if TYPE_CHECKING:
    from discreet.curator.series.series import StandingSeries

__all__ = ["list_all", "show", "stop", "subscribe"]


Id = Annotated[str, typer.Argument(help="The id of a series, or how it begins.")]


def subscribe(
    sql: Sql = None,
    epsilon: Annotated[
        str | None, typer.Option("--epsilon", "-e", help="The price: once where units are people, else per period.")
    ] = None,
    part: Annotated[str | None, typer.Option(help="A part of the budget instead, such as 1/2.")] = None,
    periods: Annotated[int, typer.Option(help="For how many periods.")] = 0,
    rows_per_unit: Annotated[
        int | None, typer.Option(help="How many rows of a person count in all; those of the policy if left out.")
    ] = None,
    since: Annotated[str | None, typer.Option(help="The first period; the next to close if left out.")] = None,
    reader: Annotated[list[str] | None, typer.Option(help="An analyst who may read it; say it for each.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say what it would cost, and charge nothing.")] = False,
    file: SqlFile = None,
    folder: Folder = DEFAULT_FOLDER,
    analyst: Analyst = None,
    as_json: AsJson = False,
) -> None:
    """Begin a series: a question that is answered for every period of a table that grows, when it closes.

    [dim]Example:[/]  discreet subscribe -f week.sql --part 1/2 --periods 52 --rows-per-unit 6 --explain
    [dim]Example:[/]  discreet subscribe -f week.sql --part 1/2 --periods 52 --rows-per-unit 6 --reader ann
    """
    with refusals("a price that was charged by then stays charged; the same series again costs no more"):
        if periods < 1:
            raise InvalidValue("a series has a number of periods", "<none>", "pass --periods 52")
        question, curator = sql_of(sql, file), opened(folder)
        terms: dict[str, Any] = {"epsilon": epsilon, "part": part, "periods": periods, "since": since}
        terms |= {"rows_per_unit": rows_per_unit, "analyst": analyst}
        if explain:
            found = curator.explain_series(question, **terms)
            return emit(found.to_dict()) if as_json else show_explanation(found)
        series = curator.subscribe(question, **terms, readers=reader or ())
        if as_json:
            return emit(series.to_dict())
        say(str(series))
        return whisper(f"discreet series show {series.id} prints what was released; nothing more is paid for it.")


def list_all(
    context: typer.Context, folder: Folder = DEFAULT_FOLDER, analyst: Analyst = None, as_json: AsJson = False
) -> None:
    """List the series, show one, or stop one.

    [dim]Example:[/]  discreet series
    """
    if context.invoked_subcommand is not None:
        return None
    with refusals():
        found = opened(folder).series(analyst)
        if as_json:
            return emit([one.to_dict() for one in found])
        for one in found:
            say(str(one))
        return None if found else whisper("no series yet: discreet subscribe begins one")


def show(id: Id, folder: Folder = DEFAULT_FOLDER, analyst: Analyst = None, as_json: AsJson = False) -> None:  # noqa: A002
    """Print all figures of a series that were released, with their error bars. It costs nothing.

    [dim]Example:[/]  discreet series show 92a33f99
    [dim]Example:[/]  discreet series show 92a33f99 --json
    """
    with refusals():
        (series,) = opened(folder).series(analyst, id=id)
        if as_json:
            rows = series.to_arrow(intervals=True).to_pylist()
            return emit(series.to_dict() | {"rows": rows, "at_limit": series.at_limit.to_pylist()})
        return _print(series)


def _print(series: StandingSeries) -> None:
    from discreet.curator.answers.cell import cell_text

    say(str(series))
    table, error = series.table, series.error
    grid = Grid(box=None, pad_edge=False)
    for name in table.column_names:
        grid.add_column(escape(name), justify="right")
    for place, row in enumerate(table.to_pylist()):
        bars = {name: ends[place] for name, ends in error.items()}
        grid.add_row(*(escape(cell_text(value, bars.get(name))) for name, value in row.items()))
    console.print(grid)
    for one in series.at_limit.to_pylist():
        ends = one["people_low"], one["people_high"]
        whisper(f"{one['period']}: {cell_text(one['people'], ends)} people reached the limit")
    for name, words in series.periods.items():
        if words != "released":
            say(f"{name}: {words}")
    for note in series.notes:
        whisper(note)


def stop(id: Id, folder: Folder = DEFAULT_FOLDER, analyst: Analyst = None, as_json: AsJson = False) -> None:  # noqa: A002
    """End a series before its last period. Nothing is refunded, and what was released stays.

    [dim]Example:[/]  discreet series stop 92a33f99
    """
    with refusals():
        (series,) = opened(folder).series(analyst, id=id)
        series.stop()
        return emit(series.to_dict()) if as_json else say(str(series))
