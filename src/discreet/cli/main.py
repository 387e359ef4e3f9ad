"""``discreet``: the command line, one command per file."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet import __version__
from discreet.cli.ask import ask, explain
from discreet.cli.demo import demo
from discreet.cli.ledger import budget, certificate, show, verify_ledger
from discreet.cli.protect import init, protect
from discreet.cli.tour import tour

__all__ = ["app"]

app = typer.Typer(
    name="discreet",
    help="Differential privacy with exact noise and a budget that holds.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # they print local variables, which may hold rows
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


for command in (demo, tour, init, protect, explain, ask, budget, certificate):
    app.command()(command)

ledger = typer.Typer(help="Read and check the ledger.", no_args_is_help=True)
ledger.command("show")(show)
ledger.command("verify")(verify_ledger)
app.add_typer(ledger, name="ledger")
