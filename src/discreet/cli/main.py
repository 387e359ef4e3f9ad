"""``discreet``: the command line, one command per file."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet import __version__
from discreet.cli.demo import demo

__all__ = ["app"]

app = typer.Typer(
    name="discreet",
    help="Differential privacy with exact noise and a budget that holds.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"discreet {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which version this is.")
    ] = False,
) -> None:
    """Differential privacy with exact noise and a budget that holds."""


app.command()(demo)
