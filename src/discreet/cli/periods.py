"""``discreet append``, ``close``, ``periods`` and ``forget``: the life of a table that grows, for its owner."""

from __future__ import annotations

import shlex
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table as Grid

from discreet.cli.output import DEFAULT_FOLDER, AsJson, Folder, console, emit, opened, refusals, say, whisper
from discreet.errors import InvalidValue

if TYPE_CHECKING:
    from discreet.catalog.period import Period
    from discreet.catalog.policy.read import UnreadColumn
    from discreet.curator.periods import PeriodState
    from discreet.engines.duckdb.growing import Appended

__all__ = ["append", "close", "forget", "periods"]


GrowingTable = Annotated[str, typer.Argument(help="A table whose policy says time.")]
_DAY = timedelta(days=1)


def append(
    table: GrowingTable,
    file: Annotated[
        str, typer.Argument(help="CSV, Parquet or Excel: a file, a folder or a pattern; or a DuckDB file.")
    ],
    name: Annotated[
        str | None,
        typer.Option("--id", help="What this append is called; the same rows under it again change nothing."),
    ] = None,
    folder: Folder = DEFAULT_FOLDER,
    source_table: Annotated[
        str | None, typer.Option("--table", help="Which table of a DuckDB file to take in.")
    ] = None,
    delimiter: Annotated[str | None, typer.Option(help="What separates the fields of a CSV file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Append rows to a table that grows. Each goes to its period; what no open period takes is set aside and counted.

    Nobody can ask about the rows before their period is closed. A job that names its append with --id can be repeated
    after a crash: no row is taken in twice.

    [dim]Example:[/]  discreet append visits new.parquet --id 2026-02-16
    [dim]Example:[/]  discreet append visits 'monday/*.csv' --id 2026-02-16 --json
    """
    with refusals("run it again with the same --id: what was taken in is not taken in twice"):
        from discreet.catalog.policy.read import unread_words
        from discreet.cli.ingest import progress_bar, size_of, source_of

        source, curator = source_of(file, source_table, delimiter), opened(folder)
        unread: dict[str, UnreadColumn] = {}
        with progress_bar(is_quiet=as_json) as bar:
            task = bar.add_task(f"taking in {size_of(source)}", total=1.0)
            done = curator.append(
                table, source, id=name, progress=lambda share: bar.update(task, completed=share), unread=unread.update
            )
        if as_json:
            return emit(_appended(done, unread))
        for words in unread_words(curator.catalog.table(table), unread):
            say(words)
        say(done.words())
        if name is None:
            whisper(f"It is called {done.id}. With --id, a job that is repeated takes nothing in twice.")
        return None


def _appended(done: Appended, unread: dict[str, UnreadColumn]) -> dict[str, object]:
    return {**done.to_dict(), "unread": {column: one.count for column, one in unread.items()}}


def close(
    table: Annotated[
        str | None, typer.Argument(help="A table whose policy says time; with --due, all of them.")
    ] = None,
    through: Annotated[str | None, typer.Option(help="The last period to close, such as 2026-W07.")] = None,
    due: Annotated[bool, typer.Option("--due", help="Close what the calendar closes by now, in every table.")] = False,
    folder: Folder = DEFAULT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Close periods, in order: they take no more rows, and can be asked about. Empty periods are closed like others.

    With --due, every period is closed whose end, with the days of grace of its policy, has come. Where no period is
    due nothing happens, so that it can run every hour.

    [dim]Example:[/]  discreet close visits --through 2026-W07
    [dim]Example:[/]  discreet close --due
    """
    with refusals("run it again: what is half closed is finished first"):
        if due is (through is not None) or due is (table is not None):
            rule, remedy = "what is closed is one table or what is due", "write visits --through 2026-W07, or --due"
            raise InvalidValue(rule, f"<{'both' if due else 'a half'}>", remedy)
        curator = opened(folder)
        if table is not None and through is not None:
            found = {curator.catalog.table(table).name: curator.close(table, through=through)}
        else:
            found = dict(curator.close_due())
        if as_json:
            return emit({name: [one.name for one in closed] for name, closed in found.items()})
        for name, closed in found.items():
            say(f"{name}: {_closed(closed)}")
        if not found:
            say("no period is due")
        return None


def _closed(closed: list[Period]) -> str:
    names = [one.name for one in closed]
    if not names:
        return "that was closed already"
    return f"closed {names[0]}" if len(names) == 1 else f"closed {names[0]} to {names[-1]}, {len(names)} periods"


def periods(table: GrowingTable, folder: Folder = DEFAULT_FOLDER, as_json: AsJson = False) -> None:
    """List the periods of a table that grows: which are closed, due or open, and what is left of their budgets.

    Nothing of it depends on a row.

    [dim]Example:[/]  discreet periods visits
    """
    with refusals():
        found = opened(folder).periods(table)
        if as_json:
            return emit([one.to_dict() for one in found])
        _show(found)
        if any(one.state == "due" for one in found):
            there = [] if folder == DEFAULT_FOLDER else ["-c", str(folder)]
            whisper(f"Close what is due: {shlex.join(['discreet', 'close', '--due', *there])}")
        return None


def _show(found: list[PeriodState]) -> None:
    from discreet.curator.ledger.units import amount, balance

    grid = Grid(box=None, pad_edge=False)
    for heading in ("period", "first day", "last day", "state", "spent", "left"):
        grid.add_column(heading, justify="right" if heading in ("spent", "left") else "left")
    for one in found:
        days = (f"{one.start:%Y-%m-%d}", f"{one.end - _DAY:%Y-%m-%d}")
        amounts = ("", "") if one.spent is None or one.left is None else (amount(one.spent), balance(one.left))
        grid.add_row(*map(escape, (one.name, *days, one.state, *amounts)))
    console.print(grid)


def forget(
    table: GrowingTable,
    unit: Annotated[str, typer.Option(help="Who is forgotten: the value of the column that names the person.")],
    folder: Folder = DEFAULT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Have all rows of a person removed from a table that grows, at the next close.

    It says the same whether there are such rows or none. What was released stays, and nothing is refunded. Whoever
    comes back counts as somebody else.

    [dim]Example:[/]  discreet forget visits --unit 4711
    """
    with refusals():
        curator = opened(folder)
        curator.forget(table, unit)
        name = curator.catalog.table(table).name
        if as_json:
            return emit({"table": name, "forgotten": "at the next close"})
        return say(f"Rows of this person are removed from {name} at the next close, if there are any.")
