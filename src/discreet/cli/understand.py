"""``discreet understand``: what an ε means for one person, in words, figures and charts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.output import AsJson, console, refusals, whisper

__all__ = ["understand"]


def understand(
    epsilon: Annotated[str, typer.Option("--epsilon", "-e", help="The loss of one answer, such as 1 or 0.1.")],
    delta: Annotated[
        str, typer.Option("--delta", "-d", help="The δ: the probability about which ε says nothing.")
    ] = "0",
    group: Annotated[int, typer.Option("--group", "-g", help="How many people belong together.")] = 1,
    prior: Annotated[str, typer.Option(help="What somebody believes about a person before the answer.")] = "0.5",
    n: Annotated[int, typer.Option("--n", "-n", help="How many people are in the table.")] = 1000,
    json: AsJson = False,
    html: Annotated[Path | None, typer.Option("--html", help="Write a standalone page with charts.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")] = False,
) -> None:
    """Say what an ε means for one person: what others can tell and believe, and how good the answers are.

    Nothing is read and nothing is spent.

    [dim]Example:[/]  discreet understand --epsilon 1 --group 4 --n 1000 --html epsilon.html
    """
    with refusals("nothing was written"):
        from discreet.cli.output import refuse_overwriting, write_texts
        from discreet.interpretation.understanding import understand as explain_loss

        refuse_overwriting({"--html": html}, None, force)
        found = explain_loss(epsilon, delta, group, prior, n)
        if html is not None:
            write_texts({html: found.to_html()})
        if json:
            typer.echo(found.to_json())
            return
        console.print(found)
        if html is not None:
            whisper(f"wrote {html}")
