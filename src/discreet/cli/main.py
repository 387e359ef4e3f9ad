"""``discreet``: the command line, one command per file."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet import __version__
from discreet.cli import audit_trail, certificate, ledger, local, members, series, suggest, survey
from discreet.cli.ask import ask, explain
from discreet.cli.attack import attack
from discreet.cli.audit import audit, replay
from discreet.cli.demo import demo, tour
from discreet.cli.ledger import budget
from discreet.cli.local import understand
from discreet.cli.maintenance import backup, restore, upgrade
from discreet.cli.periods import append, close, forget, periods
from discreet.cli.protect import init, protect
from discreet.cli.publish import anonymize, check
from discreet.cli.serve import serve

__all__ = ["app"]


app = typer.Typer(
    name="discreet",
    help="Differential privacy with exact noise and a budget that holds.",
    no_args_is_help=True,
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


for command in (
    *(demo, tour, init, protect, explain, ask, budget, serve),
    *(append, close, periods, forget, series.subscribe),
    *(check, anonymize, attack, audit, replay, understand),
    *(backup, restore, upgrade),
):
    app.command()(command)

standing = typer.Typer(help="Questions that are answered for every period when it closes.")
standing.callback(invoke_without_command=True)(series.list_all)
standing.command("show")(series.show)
standing.command("stop")(series.stop)
app.add_typer(standing, name="series")

storages = typer.Typer(help="Read and check the ledger, and lift suspensions.", no_args_is_help=True)
storages.command("show")(ledger.show)
storages.command("verify")(ledger.verify)
storages.command("rotate-key")(ledger.rotate_key)
storages.command("repair")(ledger.repair)
storages.command("move")(ledger.move)
storages.command("suspensions")(ledger.suspensions)
storages.command("lift")(ledger.lift)
storages.command("head")(audit_trail.head)
storages.command("check-head")(audit_trail.check_head)
app.add_typer(storages, name="ledger")

events = typer.Typer(
    help="The audit trail of a served curator: who signed in, and who changed what.", no_args_is_help=True
)
events.command("show")(audit_trail.show)
events.command("verify")(audit_trail.verify)
events.command("export")(audit_trail.export)
app.add_typer(events, name="trail")

papers = typer.Typer(help="Read and check the certificates of answers.", no_args_is_help=True)
papers.command("show")(certificate.show)
papers.command("verify")(certificate.verify)
papers.command("public-key")(certificate.public_key)
app.add_typer(papers, name="certificate")

advice = typer.Typer(help="Paid questions that help to write a policy.", no_args_is_help=True)
advice.command("bounds")(suggest.bounds)
advice.command("rows")(suggest.rows)
advice.command("groups")(suggest.groups)
advice.command("touched")(suggest.touched)
app.add_typer(advice, name="suggest")

joining = typer.Typer(help="Members of a served curator, and their tokens.", no_args_is_help=True)
joining.command("add")(members.add)
joining.command("list")(members.list_members)
joining.command("remove")(members.remove)
joining.command("token")(members.token)
joining.command("revoke")(members.revoke)
joining.command("recover")(members.recover)
app.add_typer(joining, name="member")

asking = typer.Typer(help="Surveys whose answers are made noisy before they are sent.", no_args_is_help=True)
asking.command("new")(survey.new)
asking.command("invite")(survey.invite)
asking.command("serve")(survey.serve)
asking.command("results")(survey.results)
app.add_typer(asking, name="survey")

planning = typer.Typer(
    help="Plan a survey in the local model, before anybody is asked; no curator is needed.", no_args_is_help=True
)
planning.command("best")(local.best)
planning.command("compare")(local.compare)
planning.command("shuffle")(local.shuffle)
app.add_typer(planning, name="local")
