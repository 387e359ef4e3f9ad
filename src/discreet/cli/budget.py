"""``discreet budget``: what was granted, spent and left, also in questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table as Grid

from discreet.catalog.budget import Budget
from discreet.cli.output import DEFAULT_FOLDER, AsJson, Folder, console, emit, opened, refusals, say, whisper
from discreet.errors import InvalidValue

if TYPE_CHECKING:
    from discreet.curator.ledger.remaining import Balances

__all__ = ["budget"]

_PEOPLE = "Whose budget to lower, as they are called here, such as patients.id."


def budget(
    folder: Folder = DEFAULT_FOLDER,
    as_json: AsJson = False,
    lower: Annotated[str | None, typer.Option(metavar="PEOPLE", help=_PEOPLE)] = None,
    epsilon: Annotated[str | None, typer.Option("--to", help="With --lower: the ε that they have in all.")] = None,
    delta: Annotated[str, typer.Option(help="With --lower: the δ, where their budget has one.")] = "0",
    delta_for_keys: Annotated[str, typer.Option(help="With --lower: the part of it for unlisted keys.")] = "0",
) -> None:
    """Show what was granted, spent and left: per people, table, and analyst with a cap. Or lower what people have.

    [dim]Example:[/]  discreet budget
    [dim]Example:[/]  discreet budget --json
    [dim]Example:[/]  discreet budget --lower patients.id --to 2
    """
    with refusals():
        if (lower is None) is not (epsilon is None):
            raise InvalidValue("a lower budget is one of people", "<half of it>", "pass --lower patients.id --to 2")
        if lower is not None and epsilon is not None:
            opened(folder).lower(lower, Budget(epsilon, delta, delta_for_keys))
        found = opened(folder).budget()
        if as_json:
            return emit(found.to_dict())
        if not found:
            return say("no protected table yet: discreet protect")
        _show(found)
        return None


def _show(found: Balances) -> None:
    grid = Grid(box=None, pad_edge=False)
    for heading in found.HEADS:
        grid.add_column(heading, justify="left" if heading in ("account", "in questions") else "right")
    for line in found.lines():
        grid.add_row(*map(escape, line))
    console.print(grid)
    for note in found.notes():
        whisper(note)
