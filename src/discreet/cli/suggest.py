"""``discreet suggest``: paid questions that help to write a policy."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.options import DEFAULT_FOLDER, Analyst, Folder
from discreet.cli.output import opened, refusals, say, whisper

__all__ = ["bounds", "groups", "rows", "touched"]

Table = Annotated[str, typer.Argument(help="A protected table.")]
Price = Annotated[str, typer.Option("--epsilon", "-e", help="The price of the question.")]
_CHARGED = "a price that was charged by then stays charged; ask again, and the same question costs no more"


def bounds(
    table: Table,
    column: Annotated[str, typer.Argument(help="A column of numbers, dates or timestamps.")],
    epsilon: Price,
    folder: Folder = DEFAULT_FOLDER,
    analyst: Analyst = None,
) -> None:
    """Suggest round bounds that hold about 99 % of a column's values, and print what to write into the policy.

    [dim]Example:[/]  discreet suggest bounds visits cost -e 0.2
    """
    with refusals(_CHARGED):
        found = opened(folder).suggest_bounds(table, column, epsilon, analyst=analyst)
        say(str(found))
        whisper(found.answer.receipt())


def rows(table: Table, epsilon: Price, folder: Folder = DEFAULT_FOLDER, analyst: Analyst = None) -> None:
    """Suggest how many rows of a person should count, and show what other choices would mean.

    [dim]Example:[/]  discreet suggest rows visits -e 0.1
    """
    with refusals(_CHARGED):
        found = opened(folder).suggest_rows_per_unit(table, epsilon, analyst=analyst)
        say(str(found))
        whisper(found.answer.receipt())


def groups(
    table: Table,
    by: Annotated[list[str], typer.Argument(help="The columns of GROUP BY.")],
    epsilon: Price,
    folder: Folder = DEFAULT_FOLDER,
    analyst: Analyst = None,
) -> None:
    """Estimate how many groups that nobody listed people are in, and what share groups_per_unit leaves out.

    [dim]Example:[/]  discreet suggest groups visits diagnosis -e 0.1
    """
    with refusals(_CHARGED):
        found = opened(folder).left_out(table, by, epsilon, analyst=analyst)
        say(str(found))
        whisper(found.answer.receipt())


def touched(table: Table, epsilon: Price, folder: Folder = DEFAULT_FOLDER, analyst: Analyst = None) -> None:
    """Estimate how many people rows_per_unit touches, and how many values the bounds move.

    [dim]Example:[/]  discreet suggest touched visits -e 0.1
    """
    with refusals(_CHARGED):
        found = opened(folder).touched(table, epsilon, analyst=analyst)
        say(str(found))
        whisper(found.answer.receipt())
