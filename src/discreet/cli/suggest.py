"""``discreet suggest``: paid questions that help to write a policy."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.output import DEFAULT_FOLDER, Analyst, AsJson, Folder, emit, opened, refusals, say, whisper

if TYPE_CHECKING:
    from discreet.curator.advice.bounds import SuggestedBounds
    from discreet.curator.advice.rows_per_unit import LeftOut, SuggestedRows, Touched

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
    as_json: AsJson = False,
) -> None:
    """Suggest round bounds that hold about 99 % of a column's values, and print what to write into the policy.

    [dim]Example:[/]  discreet suggest bounds visits cost -e 0.2
    """
    with refusals(_CHARGED):
        found = opened(folder).suggest_bounds(table, column, epsilon, analyst=analyst)
        _show(found, as_json)


def rows(
    table: Table,
    epsilon: Price,
    folder: Folder = DEFAULT_FOLDER,
    analyst: Analyst = None,
    as_json: AsJson = False,
) -> None:
    """Suggest how many rows of a person should count, and show what other choices would mean.

    [dim]Example:[/]  discreet suggest rows visits -e 0.1
    """
    with refusals(_CHARGED):
        found = opened(folder).suggest_rows_per_unit(table, epsilon, analyst=analyst)
        _show(found, as_json)


def groups(
    table: Table,
    by: Annotated[list[str], typer.Argument(help="The columns of GROUP BY.")],
    epsilon: Price,
    folder: Folder = DEFAULT_FOLDER,
    analyst: Analyst = None,
    as_json: AsJson = False,
) -> None:
    """Estimate how many groups that nobody listed people are in, and what share groups_per_unit leaves out.

    [dim]Example:[/]  discreet suggest groups visits diagnosis -e 0.1
    """
    with refusals(_CHARGED):
        found = opened(folder).left_out(table, by, epsilon, analyst=analyst)
        _show(found, as_json)


def touched(
    table: Table,
    epsilon: Price,
    folder: Folder = DEFAULT_FOLDER,
    analyst: Analyst = None,
    as_json: AsJson = False,
) -> None:
    """Estimate how many people rows_per_unit touches, and how many values the bounds move.

    [dim]Example:[/]  discreet suggest touched visits -e 0.1
    """
    with refusals(_CHARGED):
        found = opened(folder).touched(table, epsilon, analyst=analyst)
        _show(found, as_json)


def _show(found: SuggestedBounds | SuggestedRows | LeftOut | Touched, as_json: bool) -> None:
    if as_json:
        return emit(
            {"words": str(found).splitlines(), "policy": found.policy, "answer": json.loads(found.answer.to_json())}
        )
    say(str(found))
    return whisper(found.answer.receipt())
